"use strict";

// Set by pawl.cjs when it had to look for a newer Node. Whoever kills that process means us: do not live on without it.
const wrapperPid = process.env.PAWL_WRAPPER_PID;
if (wrapperPid !== undefined) {
  delete process.env.PAWL_WRAPPER_PID;
  setInterval(() => {
    if (process.ppid !== Number(wrapperPid)) process.kill(process.pid, "SIGKILL");
  }, 100).unref();
}
if (process.env.npm_execpath !== undefined) endWithNpm();

require("node:module").enableCompileCache?.();

import("../dist/main.js").catch((error) => {
  const isNotBuilt = error.code === "ERR_MODULE_NOT_FOUND" && error.url?.endsWith("/dist/main.js");
  console.error(isNotBuilt ? "pawl is not built yet: run `npm run build` in its folder." : error);
  process.exit(isNotBuilt ? 2 : 1);
});

/** `npx pawl` is npm, a shell and this process. A signal to npm ends the shell at most, and nothing tells us. */
function endWithNpm() {
  const chain = [];
  let pid = process.ppid;
  for (; pid === Number(wrapperPid) || /^\S*sh -c /.test(commandOf(pid)); pid = parentOf(pid)) chain.push(pid);
  if (!/^npm |np[mx]-cli/.test(commandOf(pid))) return;
  const timer = setInterval(() => {
    if ([...chain, pid].every(isAlive)) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, 1_000).unref();
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === "EPERM";
  }
}

function commandOf(pid) {
  return read(`/proc/${pid}/cmdline`)?.replaceAll("\0", " ") ?? askPs(pid, "command=");
}

function parentOf(pid) {
  const stat = read(`/proc/${pid}/stat`);
  // After the name, which may contain anything: state and parent.
  return Number(stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[1] ?? askPs(pid, "ppid="));
}

function read(path) {
  try {
    return require("node:fs").readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function askPs(pid, field) {
  return (
    require("node:child_process").spawnSync("ps", ["-o", field, "-p", String(pid)], { encoding: "utf8" }).stdout ?? ""
  );
}

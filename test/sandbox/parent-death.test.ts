import { type ChildProcessByStdio, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readlinkSync } from "node:fs";
import type { Readable } from "node:stream";
import { text as readAll } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import type { SandboxOptions } from "../../src/executors/sandbox/create-sandbox.ts";
import type { SandboxSpec } from "../../src/executors/sandbox/sandbox.ts";
import { needs } from "../support/needs.ts";
import { findMarked, noneIsLeft, read, waitUntil } from "./marked-processes.ts";
import { WAYS } from "./ways.ts";

const DRIVER = fileURLToPath(new URL("./driver.ts", import.meta.url));
const LIMITS = { timeoutMs: 60_000, memoryBytes: 128 * 1024 * 1024, maxOutputBytes: 1024 * 1024, maxProcesses: 24 };

describe.each(WAYS)("when the process that runs $name is killed", ({ kind, options }) => {
  if (kind === "bwrap") needs("bwrap");

  test("the program, its children and its daemons die, and their groups go", async () => {
    const mark = randomUUID();
    // Each has the mark in its arguments; the last has left everything else behind.
    const loop = `env -i sh -c 'trap "" TERM HUP; while :; do sleep 0.1; done' ${mark}`;
    const driver = startDriver(options, `(setsid ${loop} <&- >&- 2>&- &) ; ${loop} & exec ${loop}`);
    await waitUntil("all three run", () => findMarked(mark).length >= 3);
    const groups = findMarked(mark).flatMap(groupsOf);
    const folders = findMarked(mark).flatMap(temporaryFolderOf);
    driver.kill("SIGKILL");

    await noneIsLeft(mark);
    await waitUntil("the groups are gone", () => !groups.some((group) => existsSync(group)));
    await waitUntil("the temporary folders are gone", () => !folders.some((folder) => existsSync(folder)));
    expect(options.controlGroups === false ? groups : []).toEqual([]);
  });
});

// As root this is the way of everybody else; for everybody else it is what the other tests do.
// Fork bombs and hungry programs are let loose as another user, one after the other.
test.runIf(process.getuid?.() === 0)("an ordinary user is protected as well", { timeout: 120_000 }, async () => {
  needs("bwrap");
  const options: SandboxOptions = { mode: "required" };
  const ask = async (script: string) => {
    const driver = startDriver(options, script, ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"]);
    return JSON.parse(await readAll(driver.stdout)) as unknown;
  };

  expect(await ask("id -u; ls -A /root /home 2>/dev/null; true")).toMatchObject({
    kind: "bwrap",
    ending: { type: "exited", code: 0 },
    stdout: "65534\n",
  });
  expect(await ask("exec perl -e 'fork while 1'")).toMatchObject({ ending: { type: "tooManyProcesses" } });
  expect(await ask("exec tail /dev/zero")).toMatchObject({ ending: { type: "outOfMemory" } });
  const plain = startDriver({ mode: "off" }, "exec perl -MPOSIX -e 'while (1) { fork or POSIX::setsid() }'", [
    "setpriv",
    "--reuid=54322",
    "--regid=54322",
    "--clear-groups",
  ]);
  expect(JSON.parse(await readAll(plain.stdout))).toMatchObject({
    kind: "process",
    ending: { type: "tooManyProcesses" },
  });
});

function startDriver(
  options: SandboxOptions,
  script: string,
  before: readonly string[] = [],
): ChildProcessByStdio<null, Readable, Readable> {
  const spec: SandboxSpec = { command: "sh", args: ["-c", script], limits: LIMITS };
  const [program = "", ...args] = [...before, process.execPath, DRIVER, JSON.stringify({ options, spec })];
  const driver = spawn(program, args, { env: { PATH: "/usr/bin:/bin" }, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void driver.kill("SIGKILL"));
  return driver;
}

/** Folders of our own groups that a process is in. */
function groupsOf(pid: number): string[] {
  const lines = read(`/proc/${pid}/cgroup`).split("\n");
  return lines.flatMap((line) => {
    const [, controller = "", path = ""] = line.split(":");
    return path.includes("/pawl-") ? [`/sys/fs/cgroup/${controller}${path}`] : [];
  });
}

/** Of a plain process, which works in its own. */
function temporaryFolderOf(pid: number): string[] {
  const folder = readlinkSync(`/proc/${pid}/cwd`);
  return folder.includes("/pawl-code-") ? [folder] : [];
}

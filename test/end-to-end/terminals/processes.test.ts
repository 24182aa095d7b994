import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { openTerminal, openTerminals } from "./open-terminals.ts";

/** Other tests, and other checkouts on the machine, have processes that sleep as well: no two for exactly as long. */
const SLEEP = `sleep 1000.${process.pid}`;

/** Programs that do their best to stay: each prints the pids that must be gone. */
const STUBBORN = {
  "a job in the background": `${SLEEP} & echo pid $!`,
  "a job that ignores the hang-up": `nohup ${SLEEP} >/dev/null 2>&1 & echo pid $!`,
  "a job that ignores every signal that it can":
    "(trap '' HUP INT TERM; echo pid $BASHPID; while :; do read -t 1000; done) &",
  "a job that was stopped": `${SLEEP} & kill -STOP $!; echo pid $!`,
  "a process with a session of its own": `setsid bash -c 'echo pid $$; exec ${SLEEP}' &`,
  "a process that has lost its parent": `(setsid bash -c 'echo pid $$; exec ${SLEEP}' &)`,
  "one that has emptied its environment as well": `(setsid env -i bash -c 'echo pid $$; exec ${SLEEP}' &)`,
  "a program in the foreground that has taken the terminal over":
    "exec python3 -c 'import os, signal, time; signal.signal(1, signal.SIG_IGN); print(\"pid\", os.getpid(), flush=True); time.sleep(1000)'",
};

test.each(Object.entries(STUBBORN))("exit_terminal ends %s", async (_, command) => {
  const { send, wait, exit, session_id } = await openTerminal(openTerminals());
  await send(`${command}\n`);
  const pid = Number((await wait("pid \\d+")).match_text?.slice(4));
  expect(isAlive(pid)).toBe(true);

  const result = await exit();

  expect(result).toEqual({ success: true, session_id, message: "Session destroyed" });
  expect(isAlive(pid)).toBe(false);
});

test("exit_terminal after the shell has ended takes what it left running", async () => {
  const { send, wait, exit } = await openTerminal(openTerminals());
  await send(`(setsid bash -c 'echo pid $$; exec ${SLEEP}' &); read; exit\n`);
  const pid = Number((await wait("pid \\d+")).match_text?.slice(4));
  await send("\n");
  await wait("never");
  expect(isAlive(pid)).toBe(true);

  await exit();

  expect(isAlive(pid)).toBe(false);
});

test("a terminal cannot read or keep open what belongs to another one", async () => {
  const terminals = openTerminals();
  await openTerminal(terminals);
  await openTerminal(terminals);
  const { send, wait, sinceInput } = await openTerminal(terminals);

  await send("ls -l /proc/$$/fd; echo DO''NE\n");
  await wait("DONE");

  const files = [...(await sinceInput()).matchAll(/ (\d+) -> (\S+)/g)].map(([, , file]) => file);
  expect(new Set(files).size).toBe(1);
  expect(files[0]).toMatch(/^\/dev\/pts\/\d+$/);
});

test("all ends when the process that opened it is killed", async () => {
  const { child, lines } = startOwner();
  const pids = await lines;
  expect(pids.filter(isAlive)).toEqual(pids);

  child.kill("SIGKILL");

  await expect.poll(() => pids.filter(isAlive)).toEqual([]);
});

test("the hang-up comes also when the process that holds the terminals is killed", async () => {
  const terminals = openTerminals();
  const { wait, session_id } = await openTerminal(terminals);
  const pid = terminals.find(session_id)?.pid ?? 0;
  const waiting = wait("never", 600);

  process.kill(parentOf(pid), "SIGKILL");

  expect(await waiting).toMatchObject({ success: true, match_text: null, process_running: false, exit_code: null });
  expect((await terminals.call("list_terminal_sessions", {})).sessions[0]?.state).toBe("error");
  await expect.poll(() => isAlive(pid)).toBe(false);
  expect((await terminals.call("open_terminal", {})).success).toBe(true);
});

test("terminals alone do not keep their process from ending", async () => {
  const { child } = startOwner("unreferenced");

  const [code] = await once(child, "exit");

  expect(code).toBe(0);
});

/** A process of its own with two terminals; resolves with the pids of the shells and of a stray. */
function startOwner(mode = "waiting"): { readonly child: ChildProcess; readonly lines: Promise<number[]> } {
  const file = fileURLToPath(new URL("./terminal-owner.ts", import.meta.url));
  const child = spawn(process.execPath, [file, mode], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const lines = new Promise<number[]>((resolve) => {
    child.stdout?.once("data", (data: Buffer) => resolve(JSON.parse(String(data)) as number[]));
  });
  return { child, lines };
}

/** A process that has ended and was not asked for is not alive. */
function isAlive(pid: number): boolean {
  try {
    return !/\nState:\s+[ZX]/.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

function parentOf(pid: number): number {
  return Number(/\nPPid:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

test("nothing of these tests is left in the system's list of processes", () => {
  const left = readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid) || !isAlive(Number(pid))) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8") === `${SLEEP.replace(" ", "\u0000")}\u0000`;
    } catch {
      return false;
    }
  });
  expect(left).toEqual([]);
});

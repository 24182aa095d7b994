import { randomUUID } from "node:crypto";
import { mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createSandbox } from "../../src/executors/sandbox/create-sandbox.ts";
import { sendSignal } from "../../src/executors/sandbox/kernel/processes.ts";
import type { Sandbox, SandboxResult, SandboxSpec } from "../../src/executors/sandbox/sandbox.ts";
import { needs } from "../support/needs.ts";
import { findMarked, noneIsLeft, read, waitUntil } from "./marked-processes.ts";

needs("bwrap");

const LIMITS = { timeoutMs: 60_000, memoryBytes: 128 * 1024 * 1024, maxOutputBytes: 1024 * 1024, maxProcesses: 24 };

test("the next call gets a program that began before it, and only its own input", async () => {
  // In the kernel's words, as a busy machine may let it wait before it can say so itself: hundredths of a second since the start.
  const { sandbox, call, ready } = open("echo $(cut -d ' ' -f 22 /proc/$$/stat) $(cat)");
  await call(sandbox, "one");
  await ready(1);
  const calledAt = Number(read("/proc/uptime").split(" ")[0]) * 100;
  const [began = "", input] = (await call(sandbox, "two")).stdout.toString().trim().split(" ");

  expect(input).toBe("two");
  expect(Number(began)).toBeLessThanOrEqual(calledAt);
});

test("the next one begins while a call still works", async () => {
  const { sandbox, call, ready, token } = open("cat >/dev/null; while :; do sleep 0.1; done");
  const working = call(sandbox, "");
  await ready(2);
  sendSignal(findMarked(token), "SIGKILL");

  expect((await working).ending.type).toBe("killed");
});

test("no call sees files, processes or variables of another", async () => {
  const { sandbox, call, ready } = open(
    `input=$(cat); ls -A /tmp /dev/shm | grep -v : ; set -- /proc/[0-9]*; echo $#; echo "$left"
     left=$input; export left; echo x > /tmp/$input; echo x > /dev/shm/$input; sleep 100 &`,
  );
  await call(sandbox, "first");
  await ready(1);
  const seen: string[] = [];
  for (const name of ["second", "third", "fourth"]) {
    await ready(1);
    seen.push((await call(sandbox, name)).stdout.toString());
  }

  expect(new Set(seen).size).toBe(1);
  expect(seen.join("")).not.toMatch(/first|second|third/);
});

test("a file that was replaced is seen by the next call, and so is a new one", async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "app-")));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "a.txt"), "old");
  const { sandbox, call, ready } = open("cat >/dev/null; cat *.txt", {
    cwd: folder,
    visible: [{ kind: "entries", path: folder }],
  });
  await call(sandbox, "");
  await ready(1);
  writeFileSync(join(folder, "a.new"), "new");
  renameSync(join(folder, "a.new"), join(folder, "a.txt"));
  const replaced = (await call(sandbox, "")).stdout.toString();
  await ready(1);
  writeFileSync(join(folder, "b.txt"), "er");

  expect([replaced, (await call(sandbox, "")).stdout.toString()]).toEqual(["new", "newer"]);
});

test("other limits, mounts or variables are another program", async () => {
  const { sandbox, call, ready } = open("cat >/dev/null; ulimit -v; echo $GIVEN");
  await call(sandbox, "");
  await ready(1);
  const other = { env: { GIVEN: "yes" }, limits: { ...LIMITS, addressSpaceBytes: 2 ** 30 } };

  expect((await call(sandbox, "", other)).stdout.toString()).toBe("1048576\nyes\n");
});

test("a program that was killed as it waited is not given to anybody", async () => {
  const { sandbox, call, ready, token } = open("cat");
  await call(sandbox, "");
  await ready(1);
  sendSignal(findMarked(token), "SIGKILL");
  await noneIsLeft(token);

  expect(await call(sandbox, "still there")).toMatchObject({ ending: { type: "exited", code: 0 } });
});

test("no more wait than may, and none after the end", async () => {
  const { sandbox, call, ready, token } = open("cat", {}, 2);
  for (const input of ["a", "b", "c", "d"]) await call(sandbox, input);
  await ready(2);
  await new Promise((resolve) => setTimeout(resolve, 300));
  // Each is bwrap outside, bwrap inside, and the shell.
  expect(findMarked(token).length).toBeLessThanOrEqual(6);
  sandbox.close();
  await noneIsLeft(token);
});

test("what runs on after the end mark is killed, and what was printed before is there", async () => {
  const mark = randomUUID();
  const { sandbox, call } = open(
    `cat >/dev/null; (trap "" TERM HUP; while :; do sleep 0.1; done) & head -c 500000 /dev/zero; printf 'result\\0' >&3; sleep 1000 # ${mark}`,
    { hasResultChannel: true, endMark: "\0" },
    0,
  );
  const { ending, stdout, result } = await call(sandbox, "");

  expect({ ending, size: stdout.length }).toEqual({ ending: { type: "exited", code: 0 }, size: 500_000 });
  expect(result.toString()).toBe("result\0");
  await noneIsLeft(mark);
});

function open(script: string, more: Partial<SandboxSpec> = {}, max = 4) {
  const token = randomUUID();
  const sandbox = createSandbox({ mode: "required", ready: max });
  onTestFinished(() => sandbox.close());
  const call = (to: Sandbox, stdin: string, other: Partial<SandboxSpec> = {}): Promise<SandboxResult> =>
    to.runSandboxed(
      {
        command: "sh",
        args: ["-c", `${script}\n# ${token}`],
        limits: LIMITS,
        waitsForInput: true,
        ...more,
        stdin,
        ...other,
      },
      new AbortController().signal,
    );
  const ready = (count: number) => waitUntil("one waits", () => findMarked(token).length >= 3 * count);
  return { sandbox, call, ready, token };
}

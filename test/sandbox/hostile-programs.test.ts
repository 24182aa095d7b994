import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { SandboxLimits, SandboxResult, SandboxSpec } from "../../src/executors/sandbox/sandbox.ts";
import { needs } from "../support/needs.ts";
import { findMarked, noneIsLeft, waitUntil } from "./marked-processes.ts";
import { toReadyWay, WAYS, type Way } from "./ways.ts";

const MIB = 1024 * 1024;
const LIMITS: SandboxLimits = {
  timeoutMs: 60_000,
  memoryBytes: 128 * MIB,
  maxOutputBytes: MIB,
  maxProcesses: 24,
};

describe.each([...WAYS, toReadyWay()])("in $name", (way) => {
  if (way.kind === "bwrap") needs("bwrap");

  test("a program that ignores being asked to end is killed at the time-out", async () => {
    const { ending } = await run(way, "trap '' TERM INT HUP; while :; do sleep 0.05; done", { timeoutMs: 300 });

    expect(ending).toEqual({ type: "timedOut" });
  });

  test("a program that is told to end may still say something", async () => {
    const script = "trap 'echo bye; exit 3' TERM; while :; do sleep 0.02; done";
    const { ending, stdout } = await run(way, script, { timeoutMs: 1_000 });

    expect({ ending, said: stdout.toString() }).toEqual({ ending: { type: "timedOut" }, said: "bye\n" });
  });

  test("a program that takes too much memory is ended", async () => {
    const { ending } = await run(way, "exec tail /dev/zero");

    expect(ending).toEqual({ type: "outOfMemory" });
  });

  test("the memory of all its children counts together", async () => {
    const child = `perl -e '$x = "x" x (60 * 1024 * 1024); sleep 60'`;
    const { ending } = await run(way, `${child} & ${child} & ${child} & ${child} & wait; exit 1`);

    expect(ending).toEqual({ type: "outOfMemory" });
  });

  test("a fork bomb is ended", async () => {
    const { ending } = await run(way, "exec perl -e 'fork while 1'");

    expect(ending).toEqual({ type: "tooManyProcesses" });
  });

  test("a fork bomb whose processes leave their parents is ended", async () => {
    const { ending } = await run(way, "exec perl -MPOSIX -e 'while (1) { if (fork) { fork or POSIX::setsid() } }'");

    expect(ending).toEqual({ type: "tooManyProcesses" });
  });

  test.each(["stdout", "stderr", "result"] as const)("a gigabyte on %s ends at the limit", async (stream) => {
    const fd = { stdout: 1, stderr: 2, result: 3 }[stream];
    const before = process.memoryUsage.rss();
    const result = await run(way, `head -c 1073741824 /dev/zero >&${fd}`);

    expect(result.ending).toEqual({ type: "outputTooLarge", stream });
    expect(result[stream].length).toBe(LIMITS.maxOutputBytes);
    expect(process.memoryUsage.rss() - before).toBeLessThan(64 * MIB);
  });

  test("a daemon does not outlive the program that started it", async () => {
    const mark = randomUUID();
    // In a session of its own, without a parent, an environment or an open file.
    const daemon = `setsid env -i sh -c 'while :; do sleep 0.1; done' ${mark} <&- >&- 2>&- 3>&- &`;
    const { ending } = await run(way, `(${daemon}) ; exit 0`, {}, mark);

    expect(ending).toEqual({ type: "exited", code: 0 });
    await noneIsLeft(mark);
  });

  test("an abort ends the program and its children, which would sleep for long", async () => {
    const mark = randomUUID();
    const controller = new AbortController();
    const running = run(way, "trap '' TERM; sleep 1000 & sleep 1000 & wait; sleep 1000", {}, mark, controller.signal);
    await waitUntil("the children run", () => findMarked(mark).length >= 2);
    controller.abort();

    expect((await running).ending).toEqual({ type: "aborted" });
  });

  test("an abort in the first moment leaves nothing behind", async () => {
    const mark = randomUUID();
    const { sandbox } = way;
    await sandbox.runSandboxed(toSpec("true", {}, mark), new AbortController().signal);
    const endings = await Promise.all(
      [0, 1, 2, 3, 5, 8].map((delayMs) => {
        return sandbox.runSandboxed(toSpec("exec sleep 1000", {}, mark), AbortSignal.timeout(delayMs));
      }),
    );

    expect(new Set(endings.map(({ ending }) => ending.type))).toEqual(new Set(["aborted"]));
    await noneIsLeft(mark);
  });

  test("files that are written have a limit", async () => {
    const script = 'head -c 200000000 /dev/zero > "$TMPDIR/large"; wc -c < "$TMPDIR/large"';
    const { stdout } = await run(way, script, { memoryBytes: 512 * MIB });

    expect(Number(stdout.toString())).toBeLessThanOrEqual(64 * MIB);
  });
});

async function run(
  way: Way,
  script: string,
  limits: Partial<SandboxLimits> = {},
  mark: string = randomUUID(),
  signal: AbortSignal = new AbortController().signal,
): Promise<SandboxResult> {
  const result = await way.sandbox.runSandboxed(toSpec(script, limits, mark), signal);
  expect(result.kind, result.stderr.toString()).toBe(way.kind);
  await noneIsLeft(mark);
  return result;
}

function toSpec(script: string, limits: Partial<SandboxLimits>, mark: string): SandboxSpec {
  return {
    command: "sh",
    args: ["-c", script],
    env: { MARK: mark },
    limits: { ...LIMITS, ...limits },
    hasResultChannel: true,
  };
}

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { createSandbox } from "../../src/executors/sandbox/create-sandbox.ts";
import { findControlGroups } from "../../src/executors/sandbox/kernel/control-groups.ts";
import type { StandingSpec } from "../../src/executors/sandbox/sandbox.ts";
import { needs } from "../support/needs.ts";
import { findMarked, noneIsLeft, waitUntil } from "./marked-processes.ts";
import { folderOfTools } from "./ways.ts";

needs("bwrap");

const LIMITS = { memoryBytes: 128 * 1024 * 1024, maxProcesses: 24 };

describe.each(["bwrap", "bwrap without control groups", "bwrap in a user namespace"])("in %s", (way) => {
  const sandbox = () =>
    createSandbox({
      mode: "required",
      controlGroups: way !== "bwrap without control groups",
      ...(way === "bwrap in a user namespace" ? { searchPath: folderOfTools("bwrap", "prlimit", "env", "sh") } : {}),
    });

  async function start(script: string, more: Partial<StandingSpec> = {}, isAttached = true) {
    const spec = { command: "sh", args: ["-c", script], limits: LIMITS, ...more };
    const prepared = await sandbox().prepareStanding(spec);
    if (prepared === undefined || "refused" in prepared) throw new Error("there is no sandbox");
    const [command, ...args] = prepared.command;
    const child = spawn(command, args, { cwd: prepared.cwd, env: prepared.env, stdio: "pipe" });
    onTestFinished(() => void child.kill("SIGKILL"));
    if (isAttached) prepared.attach(child.pid ?? 0);
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk));
    const ended = once(child, "close").then(([code]) => ({ code: code as number | null, said }));
    child.once("exit", () => prepared.release());
    return { child, ended };
  }

  test("it is talked to over its streams, and sees neither us nor our files", async () => {
    const { child, ended } = await start(
      "read line; echo $line; ls -A /root /home 2>/dev/null; grep CapEff /proc/self/status; exit 7",
    );
    child.stdin.write("hello\n");

    expect(await ended).toEqual({ code: 7, said: "hello\nCapEff:\t0000000000000000\n" });
  });

  test("it writes what is ours into its folder, and nothing elsewhere", async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "work-")));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const script = `echo text > made; (echo x > ${folder}/../outside-${process.pid}) 2>/dev/null; exit 0`;
    await (await start(script, { cwd: folder, visible: [{ kind: "writable", path: folder }] })).ended;

    expect(readFileSync(join(folder, "made"), "utf8")).toBe("text\n");
    expect(existsSync(join(folder, `../outside-${process.pid}`))).toBe(false);
  });

  test("it dies whole, with what it has started", async () => {
    const mark = randomUUID();
    const { child } = await start(
      `(setsid env -i sh -c 'trap "" TERM HUP; while :; do sleep 0.1; done' ${mark} &) ; sleep 1000`,
    );
    await waitUntil("it runs", () => findMarked(mark).length >= 4);
    child.kill("SIGKILL");

    await noneIsLeft(mark);
  });

  test("it dies whole in its first moments too", async () => {
    const mark = randomUUID();
    for (const delayMs of [0, 1, 2, 4, 8, 16]) {
      const { child, ended } = await start(`exec sleep 1000 # ${mark}`);
      await setTimeout(delayMs);
      child.kill("SIGKILL");
      await ended;
    }

    await noneIsLeft(mark);
  });

  // A program that starts others could be faster than whoever takes them in.
  test("it is in its control groups before it begins", async ({ skip }) => {
    const groups = await findControlGroups("/bin/sh", "standing");
    skip(groups === undefined || way === "bwrap without control groups");
    const large = "head -c 400000000 /dev/zero | tail > /dev/null && echo survived; echo end";
    const { ended } = await start(large, {}, false);

    expect((await ended).said).not.toContain("survived");
  });

  test("it is held to memory and processes", { timeout: 60_000 }, async () => {
    const hungry = await start("tail /dev/zero; echo survived");
    const bomb = await start("exec perl -e 'fork while 1'");

    // The kernel ends the one that is too large, or we end all.
    expect((await hungry.ended).said).not.toMatch(/^survived/);
    expect((await bomb.ended).code).not.toBe(0);
  });
});

test("where the sandbox is off there is nothing to start instead, and where there is none it says why", async () => {
  const spec = { command: "true", args: [], limits: LIMITS };

  expect(await createSandbox({ mode: "off" }).prepareStanding(spec)).toBeUndefined();
  expect(await createSandbox({ mode: "required", searchPath: "/nowhere" }).prepareStanding(spec)).toEqual({
    refused: { reason: "bwrap is not installed", remedy: expect.stringContaining("apt install") },
  });
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { createCodeExecutor } from "../../src/executors/code/code-executor.ts";
import { findPython } from "../../src/executors/code/find-python.ts";
import { createSandbox } from "../../src/executors/sandbox/create-sandbox.ts";
import type { Executor } from "../../src/ports/executor.ts";
import { grantAll } from "../../test/fakes/purse.ts";
import { MemoryFileStorage } from "../../test/support/memory/memory-file-storage.ts";
import { type Comparison, compare, timed } from "../support/compare.ts";

const LIMIT_MS = 40;
/** Of a whole call where the sandbox stood ready. */
const READY_LIMIT_MS = 10;
/** Until the next sandbox stands ready; it is started in the background. */
const PAUSE_MS = 300;
/** Calls of a loop, one after another without a pause. */
const CALLS_OF_LOOP = 60;
const MIB = 1024 * 1024;

const WAYS = ["bwrap", "ready", "plain process"] as const;

interface Language {
  readonly name: string;
  readonly script: string;
  readonly bare: readonly string[];
}

/** A call of a function that does nothing, beside the bare interpreter that does nothing. */
export async function benchCodeCalls(rounds: number): Promise<Comparison[]> {
  const python = await findPython(undefined);
  if (!python.ok) throw new Error(python.reason);
  const folder = mkdtempSync(join(tmpdir(), "pawl-code-bench-"));
  writeFileSync(join(folder, "check.py"), "def check(input):\n    return input\n");
  writeFileSync(join(folder, "check.mjs"), "export const check = (input) => input;\n");
  const languages: readonly Language[] = [
    { name: "python", script: "check.py", bare: [python.python.executable, "-I", "-c", "pass"] },
    { name: "javascript", script: "check.mjs", bare: [process.execPath, "-e", "0"] },
  ];
  const rows: Comparison[] = [];
  for (const way of WAYS) {
    const sandbox = createSandbox({
      mode: way === "plain process" ? "off" : "required",
      ready: way === "ready" ? 16 : 0,
    });
    const executor = createCodeExecutor({
      sandbox,
      timeoutMs: 60_000,
      memoryBytes: 512 * MIB,
      maxOutputBytes: 8 * MIB,
      maxProcesses: 64,
    });
    for (const language of languages) rows.push(await benchCall(executor, { language, folder, way, rounds }));
    if (way === "ready") for (const language of languages) rows.push(await benchLoop(executor, language, folder));
    sandbox.close();
  }
  rmSync(folder, { recursive: true });
  return rows;
}

async function benchCall(
  executor: Executor,
  options: {
    readonly language: Language;
    readonly folder: string;
    readonly way: (typeof WAYS)[number];
    readonly rounds: number;
  },
): Promise<Comparison> {
  const { language, folder, way, rounds } = options;
  const comparison = await compare({
    name: `code step, ${language.name}, ${way === "ready" ? "bwrap that stood ready" : way}`,
    floorName: `bare ${language.name}`,
    rounds: rounds * 3,
    floor: () => timed(() => runBare(language.bare)),
    ours: async () => {
      if (way === "ready") await setTimeout(PAUSE_MS);
      return timed(() => call(executor, language, folder));
    },
  });
  if (way === "ready") {
    const verdict = comparison.oursMs <= READY_LIMIT_MS ? "met" : "missed";
    return { ...comparison, note: `at most ${READY_LIMIT_MS} ms: ${verdict}` };
  }
  const overheadMs = comparison.oursMs - comparison.floorMs;
  const verdict = overheadMs < LIMIT_MS ? "met" : "missed";
  return { ...comparison, note: `${overheadMs.toFixed(1)} ms over it, limit ${LIMIT_MS} ms: ${verdict}` };
}

/** Each call of a loop that does nothing else, beside a bare start in the same moments. */
function benchLoop(executor: Executor, language: Language, folder: string): Promise<Comparison> {
  return compare({
    name: `code step, ${language.name}, a call of ${CALLS_OF_LOOP} in a loop`,
    floorName: `bare ${language.name}`,
    rounds: 3,
    floor: () => timed(() => runBare(language.bare)),
    ours: async () => {
      const wholeMs = await timed(async () => {
        for (let done = 0; done < CALLS_OF_LOOP; done += 1) await call(executor, language, folder);
      });
      return wholeMs / CALLS_OF_LOOP;
    },
  });
}

async function runBare([program = "", ...args]: readonly string[]): Promise<void> {
  const child = spawn(program, args, { env: {}, stdio: "ignore" });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${program} ended with ${code}`);
}

async function call(executor: Executor, { name, script }: Language, folder: string): Promise<void> {
  const outcome = await executor.run(
    {
      runId: "run",
      workflow: "bench",
      stepId: "check",
      path: "check",
      attempt: 1,
      idempotencyKey: "key",
      input: { language: name, script, function: "check", input: { id: 1 } },
      files: new MemoryFileStorage(),
      settings: { folder },
      emit: () => undefined,
      reserve: grantAll,
      record: async () => undefined,
      recorded: async () => undefined,
    },
    new AbortController().signal,
  );
  if (outcome.status === "failed") throw new Error(`${outcome.code}: ${outcome.message}`);
}

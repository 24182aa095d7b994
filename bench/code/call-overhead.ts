import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCodeExecutor } from "../../src/executors/code/code-executor.ts";
import { findPython } from "../../src/executors/code/find-python.ts";
import { createSandbox } from "../../src/executors/sandbox/create-sandbox.ts";
import type { Executor } from "../../src/ports/executor.ts";
import { MemoryFileStorage } from "../../test/support/memory/memory-file-storage.ts";
import { type Comparison, compare, timed } from "../support/compare.ts";

const LIMIT_MS = 40;
const MIB = 1024 * 1024;

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
  for (const mode of ["required", "off"] as const) {
    const executor = createCodeExecutor({
      sandbox: createSandbox({ mode }),
      timeoutMs: 60_000,
      memoryBytes: 512 * MIB,
      maxOutputBytes: 8 * MIB,
      maxProcesses: 64,
    });
    for (const language of languages) rows.push(await benchCall(executor, { language, folder, mode, rounds }));
  }
  rmSync(folder, { recursive: true });
  return rows;
}

async function benchCall(
  executor: Executor,
  options: {
    readonly language: Language;
    readonly folder: string;
    readonly mode: "required" | "off";
    readonly rounds: number;
  },
): Promise<Comparison> {
  const { language, folder, mode, rounds } = options;
  const comparison = await compare({
    name: `code step, ${language.name}, ${mode === "off" ? "plain process" : "bwrap"}`,
    floorName: `bare ${language.name}`,
    rounds: rounds * 3,
    floor: () => timed(() => runBare(language.bare)),
    ours: () => timed(() => call(executor, language, folder)),
  });
  const overheadMs = comparison.oursMs - comparison.floorMs;
  const verdict = overheadMs < LIMIT_MS ? "met" : "missed";
  return { ...comparison, note: `${overheadMs.toFixed(1)} ms over it, limit ${LIMIT_MS} ms: ${verdict}` };
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
      reserve: async () => () => {},
      record: async () => undefined,
      recorded: async () => undefined,
    },
    new AbortController().signal,
  );
  if (outcome.status === "failed") throw new Error(`${outcome.code}: ${outcome.message}`);
}

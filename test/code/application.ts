import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { type CodeOptions, createCodeExecutor } from "../../src/executors/code/code-executor.ts";
import type { Sandbox } from "../../src/executors/sandbox/sandbox.ts";
import type { Executor, Outcome } from "../../src/ports/executor.ts";
import { grantAll } from "../fakes/purse.ts";
import { MemoryFileStorage } from "../support/memory/memory-file-storage.ts";

/** The folder of an application, as `mkdtemp` makes it: for its owner only. */
export function makeApplication(files: Readonly<Record<string, string>>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "app-")));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

export function createExecutor(sandbox: Sandbox, options: Partial<CodeOptions> = {}): Executor<Outcome> {
  return createCodeExecutor({
    sandbox,
    timeoutMs: 60_000,
    memoryBytes: 512 * 1024 * 1024,
    maxOutputBytes: 8 * 1024 * 1024,
    maxProcesses: 64,
    ...options,
  });
}

export interface Called {
  readonly outcome: Outcome;
  readonly log: readonly Json[];
}

export interface CallOptions {
  readonly settings?: JsonObject;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

export async function callCode(
  executor: Executor<Outcome>,
  input: JsonObject,
  options: CallOptions = {},
): Promise<Called> {
  const log: Json[] = [];
  const outcome = await executor.run(
    {
      runId: "run-1",
      workflow: "orders",
      stepId: "check",
      path: "check[2]",
      attempt: 1,
      idempotencyKey: "key-1",
      input,
      settings: options.settings ?? {},
      files: new MemoryFileStorage(),
      timeoutMs: options.timeoutMs,
      emit: (progress) => {
        if (progress.type === "log") log.push(progress.event);
      },
      reserve: grantAll,
      record: async () => undefined,
      recorded: async () => undefined,
    },
    options.signal ?? new AbortController().signal,
  );
  return { outcome, log };
}

/** What a step that succeeded gave. */
export function outputOf({ outcome }: Called): Json {
  if (outcome.status === "failed")
    throw new Error(`${outcome.code}: ${outcome.message} ${JSON.stringify(outcome.details)}`);
  return outcome.output;
}

import { parseExact, writeExact } from "../core/exact-json.ts";
import { asObject, type Json } from "../core/json.ts";
import type { Executor, Outcome, Task } from "../ports/executor.ts";
import { isStepFailure, type StepContext, type StepFunction, type StepFunctions } from "../ports/step-functions.ts";
import { toFailed } from "./output/failure.ts";
import { untilAborted } from "./until-aborted.ts";

/**
 * Calls functions of the program that embeds the engine. A step whose function the program does not have, or has in another
 * version, waits for it, and that is on record: the wrong program fails no run.
 */
export function createFunctionExecutor(functions: StepFunctions): Executor<Outcome> {
  return {
    recordsInput: true,
    async run(task, signal) {
      const { function: key, version, input = null } = asObject(task.input);
      const asked = { key: String(key), version: Number(version) };
      let does = functions.find(asked);
      if (does === undefined) task.emit({ type: "lacks", what: explainLack(task, asked, functions) });
      while (does === undefined) {
        await untilAborted(functions.changed(), signal);
        does = functions.find(asked);
        if (does !== undefined) task.emit({ type: "lacks", what: undefined });
      }
      return call(does, input, contextOf(task, signal));
    },
  };
}

function explainLack(
  { workflow, stepId }: Task,
  { key, version }: { readonly key: string; readonly version: number },
  functions: StepFunctions,
): string {
  const has = functions.versionOf(key);
  const present = has === undefined ? "has no such function" : `has it in version ${has}`;
  return `"${stepId}" of the workflow \`${workflow}\` waits for its function \`${key}\` in version ${version}, with which the run began. Process ${process.pid} drives the run and ${present}.`;
}

async function call(does: StepFunction, input: Json, context: StepContext): Promise<Outcome> {
  try {
    // The function works on a copy: what it changes of its input is not on record.
    const output = (await does(parseExact(writeExact(input)), context)) ?? null;
    const written: string | undefined = writeExact(output);
    if (written === undefined) throw new TypeError(`It gave no JSON, but a ${typeof output}.`);
    return { status: "succeeded", output: parseExact(written), costMicro: 0 };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (isStepFailure(error))
      return {
        ...toFailed("FUNCTION_FAILED", { message, retryable: error.retryable, effect: "unknown", costMicro: 0 }),
        code: error.code,
      };
    const details = error instanceof Error ? { name: error.name, stack: error.stack ?? "" } : null;
    return toFailed("FUNCTION_FAILED", { message, details, retryable: true, effect: "unknown", costMicro: 0 });
  }
}

function contextOf({ runId, path, attempt, idempotencyKey }: Task, signal: AbortSignal): StepContext {
  return { runId, path, attempt, idempotencyKey, signal };
}

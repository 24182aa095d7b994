import type { Json, JsonObject } from "../../../src/core/json.ts";
import type { Progress, Task } from "../../../src/ports/executor.ts";
import { MemoryFileStorage } from "../../support/memory/memory-file-storage.ts";
import { grantAll } from "../purse.ts";

/** A task for the executor of tools, with what it has emitted. */
export function mcpTask(input: JsonObject, timeoutMs?: number): { readonly task: Task; readonly events: Json[] } {
  const events: Json[] = [];
  const task: Task = {
    runId: "run",
    workflow: "workflow",
    stepId: "step",
    path: "step",
    attempt: 1,
    idempotencyKey: "run:step:1",
    input,
    settings: {},
    files: new MemoryFileStorage(),
    timeoutMs,
    emit: (progress: Progress) => {
      if (progress.type === "log") events.push(progress.event);
    },
    reserve: grantAll,
    record: async () => undefined,
    recorded: async () => undefined,
  };
  return { task, events };
}

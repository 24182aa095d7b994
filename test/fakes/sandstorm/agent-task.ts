import type { Json, JsonObject } from "../../../src/core/json.ts";
import type { Task } from "../../../src/ports/executor.ts";
import { MemoryFileStorage } from "../../support/memory/memory-file-storage.ts";
import { grantAll } from "../purse.ts";

export interface RecordedTask extends Task {
  /** What the executor emitted as its log. */
  readonly logged: readonly JsonObject[];
}

/** A task as the host would hand it out, with its log kept. */
export function agentTask(input: JsonObject = {}, over: Partial<Task> = {}): RecordedTask {
  const logged: JsonObject[] = [];
  return {
    runId: "run-1",
    workflow: "test",
    stepId: "score",
    path: "score",
    attempt: 1,
    idempotencyKey: "run-1/score/0",
    input: { prompt: "Score the company Acme.", model: "sonnet", max_turns: 5, timeout: 60, ...input },
    settings: {},
    files: new MemoryFileStorage(),
    emit: (progress) => {
      if (progress.type === "log") logged.push(progress.event as JsonObject);
    },
    reserve: grantAll,
    record: async () => {},
    recorded: async (): Promise<Json | undefined> => undefined,
    ...over,
    logged,
  };
}

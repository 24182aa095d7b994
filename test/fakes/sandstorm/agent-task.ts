import type { Json, JsonObject } from "../../../src/core/json.ts";
import type { Task } from "../../../src/ports/executor.ts";
import { MemoryFileStorage } from "../../support/memory/memory-file-storage.ts";

export interface RecordedTask extends Task {
  /** What the executor emitted as its log. */
  readonly logged: readonly JsonObject[];
}

/** Lets a task pay for calls as the host does. `paid` gets every settled cost. */
export function withPurse<T extends Task>(task: T, paid: (number | null)[] = []): T {
  let spent = 0;
  const reserve: Task["reserve"] = async ({ atMostMicro }) => {
    return (costMicro) => {
      paid.push(costMicro);
      spent += costMicro ?? atMostMicro ?? 0;
    };
  };
  const { maxCostMicro } = task;
  const purse = Object.defineProperty({ ...task, reserve }, "leftMicro", {
    get: () => (maxCostMicro === undefined ? undefined : maxCostMicro - spent),
  });
  return purse;
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
    reserve: async () => () => {},
    record: async () => {},
    recorded: async (): Promise<Json | undefined> => undefined,
    ...over,
    logged,
  };
}

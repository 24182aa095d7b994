import { isJsonObject, type Json } from "../../../core/json.ts";
import type { Failed, Succeeded } from "../../../ports/executor.ts";
import type { RunningTask } from "../tasks/running-task.ts";

/** Questions about an output begin so; the output waits beside them as a record of the step. */
export const POLICY_KEY = "@policy ";
export const OUTPUT_KEY = "@policy-output";

/** The question about its output that the step has its answer to. */
export function answeredKey({ instance: { records } }: RunningTask): string | undefined {
  if (records?.has(OUTPUT_KEY) !== true) return undefined;
  return [...records.keys()].findLast((key) => key.startsWith(POLICY_KEY));
}

export interface Answered {
  readonly outcome: Succeeded | Failed;
  /** A person wrote it, so that nobody has judged it yet. */
  readonly isEdited: boolean;
}

/** What the step comes to with that answer: nothing of its work is done again. */
export async function readAnswered(task: RunningTask, key: string): Promise<Answered> {
  const [answer, output = null] = [await task.recorded(key), await task.recorded(OUTPUT_KEY)];
  const said = isJsonObject(answer) ? answer : {};
  switch (said["answer"]) {
    case "approve":
      return "edited" in said
        ? { outcome: succeeded(said["edited"] ?? null), isEdited: true }
        : { outcome: succeeded(output), isEdited: false };
    case "skip":
      return { outcome: succeeded(null), isEdited: false };
    default:
      return { outcome: rejected(task, said["comment"]), isEdited: false };
  }
}

function rejected({ path }: RunningTask, comment: Json | undefined): Failed {
  return {
    status: "failed",
    code: "POLICY_REJECTED",
    message: `The output of "${path}" may not be used${reasonIn(comment)}`,
    retryable: false,
    effect: "done",
    costMicro: 0,
  };
}

function succeeded(output: Json): Succeeded {
  return { status: "succeeded", output, costMicro: 0 };
}

function reasonIn(comment: Json | undefined): string {
  return typeof comment === "string" && comment !== "" ? `: ${comment}` : ".";
}

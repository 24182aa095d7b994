import type { Instance } from "../../../core/history/run-state.ts";
import { isJsonObject, type Json } from "../../../core/json.ts";
import type { Failed, Succeeded, Task } from "../../../ports/executor.ts";

/** The keys of questions about an output begin with this. The output waits beside them as a record of the step. */
export const POLICY_KEY = "@policy ";
export const OUTPUT_KEY = "@policy-output";

/** The key of the question about the step's output, if that is answered. */
export function answeredKey({ instance: { records } }: { readonly instance: Instance }): string | undefined {
  if (records?.has(OUTPUT_KEY) !== true) return undefined;
  return [...records.keys()].findLast((key) => key.startsWith(POLICY_KEY));
}

export interface Answered {
  readonly outcome: Succeeded | Failed;
  /** A person wrote it, so no policy has judged it yet. */
  readonly isEdited: boolean;
}

/** The step's outcome with that answer. None of its work is done again. */
export async function readAnswered(task: Task, key: string): Promise<Answered> {
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

function rejected({ path }: Task, comment: Json | undefined): Failed {
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

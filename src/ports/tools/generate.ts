import type { JsonObject } from "../../core/json.ts";
import type { Outcome, Task } from "../executor.ts";
import type { CallingStep } from "./tool-set.ts";

export interface GenerateRequest {
  /** Taken as it is. */
  readonly prompt: string | readonly { readonly role: "user" | "assistant"; readonly text: string }[];
  readonly model?: string | undefined;
  readonly parameters?: JsonObject | undefined;
  readonly outputFormat?: string | undefined;
  readonly outputSchema?: JsonObject | undefined;
  /** A text that was cut off at its limit is an answer. */
  readonly takesCut?: true;
  /** Where the answer is kept, and found again. Absent: nowhere. */
  readonly keeps?: Pick<Task, "record" | "recorded">;
}

/** Asks a model once, within the step's budget. The output is `{completion, metrics: {token_usage: {prompt, completion, total}}}`. */
export type Generate = (request: GenerateRequest, signal: AbortSignal, step?: Partial<CallingStep>) => Promise<Outcome>;

import type { JsonObject } from "../../core/json.ts";
import type { Outcome } from "../executor.ts";
import type { CallingStep } from "./tool-set.ts";

interface GenerateRequest {
  /** Taken as it is. */
  readonly prompt: string;
  readonly model?: string | undefined;
  readonly parameters?: JsonObject | undefined;
  readonly outputFormat?: string | undefined;
  readonly outputSchema?: JsonObject | undefined;
}

/** Asks a model once, within the step's budget. The output is `{completion, metrics: {token_usage: {prompt, completion, total}}}`. */
export type Generate = (request: GenerateRequest, signal: AbortSignal, step?: Partial<CallingStep>) => Promise<Outcome>;

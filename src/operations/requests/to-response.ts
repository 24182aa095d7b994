import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { RunResult } from "../runs/read-run-result.ts";
import type { RunMetrics } from "./run-metrics.ts";

/** The `200` answer of `POST /execute`. */
export interface ExecuteResponse {
  readonly requestId: string;
  readonly resultType: string;
  readonly data: Json;
  readonly metrics: RunMetrics;
}

/** The answer of a run, as its workflow has shaped it. */
export interface ShapedResult {
  readonly resultType: string;
  readonly data: Json;
}

const RESULT_TYPES = new Set([
  "generic",
  "httpResponse",
  "error",
  "workflowStep",
  "success",
  "application_error",
  "framework_error",
]);

/** An output of a `formatResponse` is taken as it is, anything else is generic; a failure is an error with its code. */
export function shapeResult({ outcome }: RunResult): ShapedResult {
  if (outcome.is === "completed") return shapeOutput(outcome.output);
  const { code, message, details } = outcome;
  return { resultType: "error", data: { code, message, details } };
}

function shapeOutput(output: Json): ShapedResult {
  if (!isJsonObject(output)) return { resultType: "generic", data: output };
  const { resultType, data } = ownFields(output);
  return typeof resultType === "string" && RESULT_TYPES.has(resultType) && data !== undefined
    ? { resultType, data }
    : { resultType: "generic", data: output };
}

function ownFields(output: JsonObject): { readonly resultType?: Json; readonly data?: Json } {
  return Object.fromEntries(
    ["resultType", "data"].flatMap((name) => {
      const value = Object.hasOwn(output, name) ? output[name] : undefined;
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

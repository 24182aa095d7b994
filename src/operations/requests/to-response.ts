import { writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { RunMetrics, RunResult } from "../runs/read-run-result.ts";

/** The `200` answer of `POST /execute`. */
interface ExecuteResponse {
  readonly requestId: string;
  readonly resultType: "generic" | "httpResponse" | "error" | "workflowStep";
  readonly data: JsonObject;
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
export function shapeResult(outcome: RunResult["outcome"]): ShapedResult {
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

/** The answer in the form that the sandbox protocol promises, whatever the workflow has shaped. */
export function toExecuteResponse(requestId: string, result: RunResult): ExecuteResponse {
  const { resultType: shaped, data } = shapeResult(result.outcome);
  const resultType = toProtocol(shaped);
  return { requestId, resultType, data: fitProtocol(resultType, data), metrics: result.metrics };
}

function toProtocol(resultType: string): ExecuteResponse["resultType"] {
  if (resultType === "httpResponse" || resultType === "workflowStep") return resultType;
  return resultType === "generic" || resultType === "success" ? "generic" : "error";
}

interface Field {
  is(value: Json): boolean;
  /** What stands for a value of another type. */
  to(value: Json): Json;
}

const TEXT: Field = { is: (value) => typeof value === "string", to: toText };
const MAP: Field = { is: isJsonObject, to: (value) => (isJsonObject(value) ? value : { value }) };

/** The fields that have a type, whatever the kind of the result. */
const FIELDS: Readonly<Record<string, Field>> = {
  statusCode: { is: Number.isInteger, to: (value) => (typeof value === "string" ? Number(value) : value) },
  headers: {
    is: (value) => isJsonObject(value) && Object.values(value).every(TEXT.is),
    to: (value) =>
      isJsonObject(value)
        ? Object.fromEntries(Object.entries(value).map(([name, header]) => [name, toText(header)]))
        : value,
  },
  body: TEXT,
  bodyEncoding: { is: (value) => value === "utf8" || value === "base64", to: (value) => value },
  code: TEXT,
  message: TEXT,
  details: MAP,
  workflowId: TEXT,
  stepId: TEXT,
  status: { is: (value) => value === "completed" || value === "failed", to: (value) => value },
  output: MAP,
  error: MAP,
};

/**
 * A map whose fields have the types of the protocol; one without a value is left out. What cannot be had so is whole under
 * `value`: data that is no map, and data of a generic result that means something else by the name of a field.
 */
function fitProtocol(resultType: ExecuteResponse["resultType"], data: Json): JsonObject {
  if (!isJsonObject(data)) return { value: data };
  const fitted = Object.entries(data).flatMap(([name, value]): [string, Json][] => {
    const field = fieldOf(name);
    if (field === undefined) return [[name, value]];
    if (value === null) return [];
    return [[name, resultType === "generic" || field.is(value) ? value : field.to(value)]];
  });
  return fitted.every(([name, value]) => fieldOf(name)?.is(value) !== false)
    ? Object.fromEntries(fitted)
    : { value: data };
}

function fieldOf(name: string): Field | undefined {
  return Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
}

function toText(value: Json): string {
  return typeof value === "string" ? value : writeExact(value);
}

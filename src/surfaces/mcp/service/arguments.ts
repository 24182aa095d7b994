import { z } from "zod";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import { parseJson } from "../../../core/parse-json.ts";

export const runIdArgument = z.string().min(1).max(200).describe("The run's id, or the beginning of it.");

export const workflowNameArgument = z
  .string()
  .min(1)
  .max(200)
  .describe("The name of a workflow: see `list_workflows`.");

/** What came over the wire as JSON is JSON. */
export const jsonArgument = z.custom<Json>(() => true);

/** An object, or its text, as clients of the original send it. */
export const inputArgument = z
  .preprocess(parseText, z.record(z.string(), z.unknown()))
  .transform((value) => value as JsonObject)
  .optional()
  .describe("The input of the run: an object, or the JSON text of one.");

function parseText(given: unknown): unknown {
  if (typeof given !== "string") return given;
  if (given.trim() === "") return {};
  const read = parseJson(given);
  return isJsonObject(read) ? read : given;
}

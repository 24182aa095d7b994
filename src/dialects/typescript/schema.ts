import type { JsonObject } from "../../core/json.ts";
import { invalid } from "./scope.ts";
import type { Schema } from "./types.ts";

/** A JSON Schema as it is, of values that the program says the type of: `jsonSchema<Lead>({ type: "object", ... })`. */
export function jsonSchema<T>(schema: { readonly [keyword: string]: unknown }): Schema<T> {
  return { "~standard": { vendor: "pawl", jsonSchema: { input: () => ({ ...schema }) } } };
}

/** What is recorded has the schema's input side: there are no transforms between a value and its record. */
export function toJsonSchema(schema: Schema<unknown>): JsonObject {
  const { vendor, jsonSchema: converter } = schema["~standard"];
  if (converter === undefined)
    throw invalid(
      `A schema of ${vendor} cannot say what it takes as JSON Schema`,
      "Use one of zod 4.2 or arktype 2.1.28, or `jsonSchema<T>({...})`.",
    );
  try {
    const { $schema: _, ...said } = converter.input({ target: "draft-2020-12" });
    return said as JsonObject;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw invalid(
      `A schema of ${vendor} has no JSON Schema: ${reason}`,
      "Use types of JSON: a text for a date, no transforms.",
    );
  }
}

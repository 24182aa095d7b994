import { z } from "zod";
import { parseExact, writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { OfferedTool } from "./tool-set.ts";

/** A tool whose parameters and result are described once, with zod: the JSON Schemas and the types come from that. */
export interface DefinedTool<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodObject = z.ZodObject>
  extends OfferedTool {
  readonly input: Input;
  readonly output: Output;
}

export function defineTool<Input extends z.ZodObject, Output extends z.ZodObject>(
  described: Omit<DefinedTool<Input, Output>, "inputSchema" | "outputSchema">,
): DefinedTool<Input, Output> {
  const { input, output } = described;
  return { ...described, inputSchema: toJsonSchema(input), outputSchema: toJsonSchema(output) };
}

/** A schema with one type in each place: some clients take no lists of types. */
function toJsonSchema(schema: z.ZodObject): JsonObject {
  const { $schema: _, ...written } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return parseExact(writeExact(written), (key, value: Json) => {
    if (key === "propertyNames") return undefined;
    if (!isJsonObject(value) || !Array.isArray(value["type"])) return value;
    const { type: _, ...rest } = value;
    return { anyOf: value["type"].map((type: Json) => ({ type })), ...rest };
  });
}

export type ReadInput<Input extends z.ZodObject> = { readonly input: z.output<Input> } | { readonly problem: string };

/**
 * Reads what a model or a workflow gives to a tool: a null where none is taken counts as absent, the text of a number is
 * the number (variables of workflows are texts), and unknown names are ignored. The problem is a sentence: the name, and the
 * message of its schema.
 */
export function readToolInput<Input extends z.ZodObject>(schema: Input, given: JsonObject): ReadInput<Input> {
  const fields = new Map<string, z.ZodType>(Object.entries(schema.shape));
  const fitting = Object.entries(given).flatMap(([name, value]) => {
    const field = fields.get(name);
    return field === undefined ? [] : toFitting(field, value).map((fit) => [name, fit] as const);
  });
  const read = schema.safeParse(Object.fromEntries(fitting));
  if (read.success) return { input: read.data };
  const [issue] = read.error.issues;
  const name = String(issue?.path[0]);
  const isMissing = !fitting.some(([known]) => known === name);
  return { problem: `\`${name}\` ${isMissing ? "is missing." : issue?.message}` };
}

function toFitting(field: z.ZodType, value: Json): readonly Json[] {
  if (field.safeParse(value).success) return [value];
  if (value === null) return [];
  const isNumber = typeof value === "string" && value.trim() !== "" && field.safeParse(Number(value)).success;
  return [isNumber ? Number(value) : value];
}

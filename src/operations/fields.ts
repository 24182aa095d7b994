import { z } from "zod";
import { PawlError } from "../core/errors/pawl-error.ts";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import { toValue } from "./parse-json.ts";

/** A field of an input, as surfaces need to know it that take texts: queries and command lines. */
export interface Field {
  readonly name: string;
  readonly kind: "text" | "number" | "boolean" | "list" | "json" | "bytes";
  readonly isRequired: boolean;
  /** Undefined: there is no default. */
  readonly usual: Json | undefined;
  readonly choices: readonly string[] | undefined;
  readonly sentence: string | undefined;
  /** It is another spelling of this field. */
  readonly aliasOf: string | undefined;
  readonly schema: JsonObject;
}

const described = new WeakMap<z.ZodObject, readonly Field[]>();

/** The fields of an input, in the order of its schema. */
export function fieldsOf(input: z.ZodObject): readonly Field[] {
  const known = described.get(input) ?? describe(input);
  described.set(input, known);
  return known;
}

function describe(input: z.ZodObject): readonly Field[] {
  const { properties, required, $defs } = toInputSchema(input);
  const names = isJsonObject(properties) ? Object.entries(properties) : [];
  return names.map(([name, property]): Field => {
    const schema = isJsonObject(property) ? property : {};
    const { description, default: usual, aliasOf } = schema;
    const inner = resolve(schema, isJsonObject($defs) ? $defs : {});
    return {
      name,
      kind: kindOf(inner),
      isRequired: Array.isArray(required) && required.includes(name),
      usual,
      choices: Array.isArray(inner["enum"]) ? inner["enum"].map(String) : undefined,
      sentence: typeof description === "string" ? description : undefined,
      aliasOf: typeof aliasOf === "string" ? aliasOf : undefined,
      schema,
    };
  });
}

export function toInputSchema(input: z.ZodType): JsonObject {
  return toPlainSchema(input, "input");
}

/** Makes a JSON Schema whose root is no reference. */
export function toPlainSchema(schema: z.ZodType, io: "input" | "output"): JsonObject {
  const { $schema: _, ...written } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  // The generator writes JSON.
  const { $ref: reference, $defs, ...root } = written as JsonObject;
  const definitions = isJsonObject($defs) ? $defs : {};
  const name = typeof reference === "string" ? reference.replace("#/$defs/", "") : undefined;
  const named = name === undefined ? undefined : definitions[name];
  const others = Object.entries(definitions).filter(([each]) => each !== name);
  return {
    ...(isJsonObject(named) ? named : root),
    ...(others.length === 0 ? {} : { $defs: Object.fromEntries(others) }),
  };
}

/** Without a reference, and without the `null` that may stand in place of a value. */
function resolve(schema: JsonObject, definitions: JsonObject): JsonObject {
  const { $ref: reference, anyOf } = schema;
  const named = typeof reference === "string" ? definitions[reference.replace("#/$defs/", "")] : undefined;
  if (isJsonObject(named)) return resolve(named, definitions);
  const [first, ...others] = Array.isArray(anyOf)
    ? anyOf.filter((each) => isJsonObject(each) && each["type"] !== "null")
    : [];
  return isJsonObject(first) && others.length === 0 ? resolve(first, definitions) : schema;
}

function kindOf({ type, format, anyOf }: JsonObject): Field["kind"] {
  if (format === "binary") return "bytes";
  if (type === "integer" || type === "number") return "number";
  if (type === "boolean") return "boolean";
  if (type === "array") return "list";
  if (type === "string") return "text";
  // A text, or a list of texts.
  return Array.isArray(anyOf) && anyOf.some((each) => isJsonObject(each) && each["type"] === "array") ? "list" : "json";
}

const YES = new Set(["true", "1", "yes", "on"]);
const NO = new Set(["false", "0", "no", "off"]);

/** Reads a text as a value of a field. A text that is none stays a text, for the schema to refuse. */
export function fromText(kind: Field["kind"], text: string): Json {
  switch (kind) {
    case "text":
    case "bytes":
      return text;
    case "number":
      return text.trim() === "" || !Number.isFinite(Number(text)) ? text : Number(text);
    case "boolean":
      return YES.has(text.toLowerCase()) ? true : NO.has(text.toLowerCase()) ? false : text;
    case "list":
      return text.split(",");
    case "json":
      return toValue(text, "The value");
  }
}

/**
 * The input of an operation as its schema reads it. Throws `REQUEST_INVALID` with every field that does not fit, under the
 * name that the caller knows it by.
 */
export function parseInput<Input extends z.ZodObject>(
  input: Input,
  given: Readonly<Record<string, unknown>>,
  nameOf: (field: string) => string = (field) => field,
): z.output<Input> {
  const result = input.safeParse(given);
  if (result.success) return result.data;
  const violations = result.error.issues.map(({ path: [field, ...inner], message }) => ({
    path: field === undefined ? "" : [nameOf(String(field)), ...inner].map(String).join("."),
    message,
  }));
  const flaws = violations.map(({ path, message }) => (path === "" ? message : `\`${path}\`: ${message}`));
  throw new PawlError("REQUEST_INVALID", {
    message: `The input is not valid: ${flaws.join("; ")}.`,
    details: { violations },
  });
}

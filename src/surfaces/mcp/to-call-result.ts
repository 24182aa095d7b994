import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import { toWritable, writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { OfferedTool } from "../../ports/tools/tool-set.ts";

/** An output as a text for models and, for programs, as what it is. A client of `protocol` that knows no such field gets one copy. */
export function toCallResult(output: Json, protocol = STRUCTURED): CallToolResult {
  const content: CallToolResult["content"] = [{ type: "text", text: writeExact(output) }];
  const isRead = protocol >= STRUCTURED && isJsonObject(output);
  return isRead ? { content, structuredContent: toWritable({ ...output }) } : { content };
}

/** The first revision with structured results and links to resources. */
export const STRUCTURED = "2025-06-18";

/** An error with its remedy, so that a model can correct its call. */
export function toErrorResult(text: string): CallToolResult {
  return { isError: true, content: [{ type: "text", text }] };
}

/** What is checked and explained where it is broken, and says nothing that a model needs to call a tool. */
const CHECKS = new Set([
  "minLength",
  "maxLength",
  "pattern",
  "propertyNames",
  "minProperties",
  "maxProperties",
  "maxItems",
  "minimum",
  "maximum",
]);

/** A schema without the checks of texts and sizes: the list of tools is in the context of each turn of a model. */
function withoutChecks(schema: JsonObject): JsonObject {
  const kept = Object.entries(withoutNull(schema)).filter(([name, value]) => !CHECKS.has(name) && !isEmpty(value));
  return Object.fromEntries(kept.map(([name, value]) => [name, VALUES.has(name) ? value : trim(value, name)]));
}

/** What may be null may as well be left out, which models do. */
function withoutNull({ anyOf, ...schema }: JsonObject): JsonObject {
  const forms = Array.isArray(anyOf)
    ? anyOf.filter((form) => !isJsonObject(form) || form["type"] !== "null")
    : undefined;
  const [only, ...others] = forms ?? [];
  if (forms === undefined) return schema;
  const { default: value, ...kept } = schema;
  const rest = value === null ? kept : schema;
  return isJsonObject(only) && others.length === 0 ? { ...only, ...rest } : { ...rest, anyOf: forms };
}

/** Parts of a schema that are no schemas. */
const VALUES = new Set(["default", "enum", "const", "required"]);
/** Parts whose names are those of a user. */
const NAMED = new Set(["properties", "$defs"]);

function trim(value: Json, name: string): Json {
  if (Array.isArray(value)) return value.map((each) => trim(each, ""));
  if (!isJsonObject(value)) return value;
  if (!NAMED.has(name)) return withoutChecks(value);
  return Object.fromEntries(Object.entries(value).map(([each, schema]) => [each, trim(schema, "")]));
}

function isEmpty(value: Json): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

export function toListedTool({ title, description, inputSchema, hints, toText }: OfferedTool, name: string): Tool {
  return {
    name,
    title,
    description,
    inputSchema: toWritable({ ...withoutChecks(inputSchema), type: "object" }),
    // A client would miss what its schema promises.
    ...(toText === undefined ? { outputSchema: { type: "object" } } : {}),
    annotations: {
      readOnlyHint: hints.readOnly,
      destructiveHint: hints.destructive,
      idempotentHint: hints.idempotent,
      openWorldHint: hints.openWorld,
    },
  };
}

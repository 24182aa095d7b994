import { writeExact } from "../../core/exact-json.ts";
import { asObject, type Json, type JsonObject, ownField } from "../../core/json.ts";
import type { AgentTool } from "../../ports/tools/agent-toolbox.ts";
import type { Model } from "./create-models.ts";
import type { ModelTool } from "./language-model.ts";

/** How many tools one request may have. Of servers that speak as OpenAI does nothing is known. */
const MOST_TOOLS: Partial<Readonly<Record<Model["kind"], number>>> = { openai: 128, google: 512 };
/** OpenAI takes no longer one. The whole of it stands in the schema then. */
const MOST_DESCRIPTION_CHARS = 1_024;

export function mostTools({ kind }: Pick<Model, "kind">): number {
  return MOST_TOOLS[kind] ?? Number.POSITIVE_INFINITY;
}

/** A tool as the provider takes it. Each call is checked against the tool's own schema before it is made. */
export function fitTool({ name, description, inputSchema }: AgentTool, { kind }: Pick<Model, "kind">): ModelTool {
  const isLong = kind.startsWith("openai") && description.length > MOST_DESCRIPTION_CHARS;
  return {
    type: "function",
    name,
    description: isLong ? `${description.slice(0, MOST_DESCRIPTION_CHARS - 3)}...` : description,
    inputSchema: fitSchema(inputSchema, isLong ? [description] : []) as SchemaOf<ModelTool>,
  };
}

type SchemaOf<Tool> = Tool extends { readonly inputSchema: infer Schema } ? Schema : never;

/** What OpenAI and Anthropic refuse at the top of a tool's schema. */
const REFUSED: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "not", "enum", "const", "$ref"]);

/** The schema of an object with nothing at its top that is refused: the properties of all branches, and the rest in words. */
function fitSchema(schema: JsonObject, told: readonly string[]): JsonObject {
  const entries = Object.entries(schema);
  const refused = Object.fromEntries(entries.filter(([key]) => REFUSED.has(key)));
  const kept = Object.fromEntries(entries.filter(([key]) => !REFUSED.has(key)));
  const all = [schema, ...listIn(schema, "allOf")].map((part) => resolve(part, schema));
  const any = [...listIn(schema, "anyOf"), ...listIn(schema, "oneOf")].map((part) => resolve(part, schema));
  const properties = [...all, ...any].reverse().flatMap((part) => Object.entries(asObject(part["properties"])));
  const required = all.flatMap((part) => listIn(part, "required"));
  const rest = Object.keys(refused).length === 0 ? [] : [`The arguments must also fit ${writeExact(refused)}`];
  const said = [...told, schema["description"], ...rest].filter((text) => typeof text === "string");
  return {
    ...kept,
    type: "object",
    // Of a property that branches see differently, the first is shown.
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required: [...new Set(required)] }),
    ...(said.length === 0 ? {} : { description: said.join("\n") }),
  };
}

function listIn(schema: JsonObject, key: string): readonly Json[] {
  const list: Json | undefined = schema[key];
  return Array.isArray(list) ? list : [];
}

/** With what it refers to, in the definitions of the whole. */
function resolve(part: Json, root: JsonObject): JsonObject {
  const { $ref: reference, ...own } = asObject(part);
  const [, place = "", name = ""] =
    /^#\/(\$defs|definitions)\/([^/]+)$/.exec(typeof reference === "string" ? reference : "") ?? [];
  return { ...asObject(ownField(asObject(root[place]), name)), ...own };
}

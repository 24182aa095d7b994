import type { Json, JsonObject } from "../../core/json.ts";
import type { DialectRules, SchemaWriter, Shape } from "./shape.ts";

export class DefinitionWriter implements SchemaWriter {
  readonly rules: DialectRules;
  readonly definitions: { [name: string]: JsonObject } = {};

  constructor(rules: DialectRules) {
    this.rules = rules;
  }

  define(name: string, write: () => JsonObject): JsonObject {
    if (!Object.hasOwn(this.definitions, name)) {
      this.definitions[name] = {};
      this.definitions[name] = write();
    }
    return { $ref: `#/definitions/${name}` };
  }

  optional(schema: JsonObject): JsonObject {
    return this.rules.nulls === "refused" ? schema : withNull(schema);
  }

  has(key: string): JsonObject {
    if (this.rules.nulls === "refused") return { required: [key] };
    return { required: [key], properties: { [key]: { not: { type: "null" } } } };
  }
}

function withNull(schema: JsonObject): JsonObject {
  const { type, enum: values, anyOf, $ref } = schema;
  if (Array.isArray(values)) return { ...schema, enum: [...values, null] };
  if ($ref !== undefined || schema["allOf"] !== undefined || schema["not"] !== undefined) {
    const { description, ...rest } = schema;
    return { anyOf: [rest, { type: "null" }], ...(description === undefined ? {} : { description }) };
  }
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: "null" }] };
  if (type === undefined || (Array.isArray(type) && type.includes("null"))) return schema;
  return { ...schema, type: [type, "null"].flat() as Json };
}

/** The draft-07 schema of the files of a dialect, for editors. */
export function toJsonSchema(
  shape: Shape<unknown>,
  { title, description, rules }: { readonly title: string; readonly description: string; readonly rules: DialectRules },
): JsonObject {
  const writer = new DefinitionWriter(rules);
  const { definitions } = writer;
  const schema = shape.toSchema(writer);
  const head = { $schema: "http://json-schema.org/draft-07/schema#", title, description };
  return { ...head, ...schema, ...(Object.keys(definitions).length === 0 ? {} : { definitions }) };
}

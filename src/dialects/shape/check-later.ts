import { readPath } from "../../core/expressions/read-path.ts";
import type { JsonObject } from "../../core/json.ts";
import type { SchemaFault } from "../../schemas/find-heavy-part.ts";
import { JsonSchemas } from "../../schemas/json-schemas.ts";
import { isMisspelt, suggest } from "../did-you-mean.ts";
import { explainCron } from "../explain-cron.ts";
import { toExcerpt } from "../source/printable.ts";
import type { Range } from "../source/source-text.ts";
import { findPart, type YamlNode } from "../source/yaml-node.ts";
import type { Later, Reader } from "./shape.ts";

/** Reports what the parsers say that are loaded only where something is written for them: JSON Schemas, times, patterns. */
export async function checkLater({ later, problems }: Pick<Reader, "later" | "problems">): Promise<void> {
  const schemas = new JsonSchemas();
  for (const each of later) {
    if (each.kind === "schema") await checkSchema(each, schemas, problems);
    if (each.kind === "cron") await checkCron(each, problems);
    if (each.kind === "regex") await checkPattern(each, problems);
  }
}

type Problems = Reader["problems"];
type LaterText = Extract<Later, { readonly text: unknown }>;

async function checkSchema(
  { key, at, schema }: Extract<Later, { readonly kind: "schema" }>,
  schemas: JsonSchemas,
  problems: Problems,
): Promise<void> {
  const fault = await schemas.findFault(schema);
  if (fault === undefined) return reportMisspeltKeywords(key, at, problems);
  problems.error({
    code: "SCHEMA_INVALID",
    at: findPart(at, fault.path),
    message: `\`${key}\`: ${describeFault(fault, schema)}`,
  });
}

function describeFault(fault: SchemaFault, schema: JsonObject): string {
  if ("message" in fault) return fault.message;
  const { path, rule, allowed } = fault;
  const name = path.at(-1);
  const subject = name === undefined ? "It" : `\`${toExcerpt(name)}\``;
  if (allowed === undefined) return `${subject} ${rule}.`;
  const written = readPath(schema, path);
  const hint = typeof written === "string" ? suggest(written, allowed) : undefined;
  return [`${subject} must be one of ${allowed.join(", ")}.`, hint ?? []].flat().join(" ");
}

/** An unknown keyword is ignored, and with it what it should forbid. */
function reportMisspeltKeywords(name: string, at: YamlNode, problems: Problems): void {
  for (const { key, written } of unknownKeywords(at)) {
    const message = `\`${name}\`: \`${toExcerpt(written)}\` is no keyword of JSON Schema and is ignored.`;
    if (isMisspelt(written, KEYWORDS))
      problems.slip({ code: "SCHEMA_INVALID", at: key, message, remedy: suggest(written, KEYWORDS) });
  }
}

async function checkCron({ text }: LaterText, problems: Problems): Promise<void> {
  const reason = await explainCron(text.value);
  if (reason !== undefined) problems.error({ code: "CRON_INVALID", at: text.at, message: reason });
}

async function checkPattern({ text }: LaterText, problems: Problems): Promise<void> {
  const { checkRegex } = await import("../check-regex.ts");
  const reason = checkRegex(text.value);
  if (reason === undefined) return;
  const message = `The regular expression cannot be used: ${reason}.`;
  problems.error({ code: "VALUE_INVALID", at: text.at, message, remedy: "Write it in the syntax of RE2." });
}

/** Keywords whose value is a schema, or a list of schemas. */
const SCHEMAS = [
  ...["items", "additionalItems", "prefixItems", "unevaluatedItems", "contains", "not", "if", "then", "else"],
  ...["additionalProperties", "unevaluatedProperties", "propertyNames", "contentSchema", "allOf", "anyOf", "oneOf"],
];

/** Keywords whose value is a map of schemas. */
const MAPS = ["properties", "patternProperties", "definitions", "$defs", "dependentSchemas"];

/** Of draft-07 and 2020-12, and what OpenAPI and we have besides. */
const KEYWORDS: readonly string[] = [
  ...SCHEMAS,
  ...MAPS,
  ...["$schema", "$id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$vocabulary", "$comment", "id"],
  ...["type", "enum", "const", "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern"],
  ...["format", "contentEncoding", "contentMediaType", "minItems", "maxItems", "uniqueItems", "minContains"],
  ...["maxContains", "minProperties", "maxProperties", "required", "dependencies", "dependentRequired"],
  ...["example", "nullable", "discriminator", "xml", "externalDocs", "directory", "secret", "strict", "name", "label"],
];

/** Keys that are no keywords where a schema has keywords, with their places. What `default`, `enum` and the like hold is data. */
function unknownKeywords(schema: YamlNode): readonly { readonly key: Range; readonly written: string }[] {
  if (schema.kind === "list") return schema.items.flatMap(unknownKeywords);
  if (schema.kind !== "map") return [];
  return [...schema.entries].flatMap(([written, { key, value }]) => {
    if (SCHEMAS.includes(written)) return unknownKeywords(value);
    if (MAPS.includes(written))
      return value.kind === "map" ? [...value.entries.values()].flatMap((entry) => unknownKeywords(entry.value)) : [];
    return KEYWORDS.includes(written) || written.startsWith("x-") ? [] : [{ key, written }];
  });
}

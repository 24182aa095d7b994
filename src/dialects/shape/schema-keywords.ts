import type { Range } from "../source/source-text.ts";
import type { YamlNode } from "../source/yaml-node.ts";

/** Keywords whose value is a schema, or a list of schemas. */
const SCHEMAS = [
  ...["items", "additionalItems", "prefixItems", "unevaluatedItems", "contains", "not", "if", "then", "else"],
  ...["additionalProperties", "unevaluatedProperties", "propertyNames", "contentSchema", "allOf", "anyOf", "oneOf"],
];

/** Keywords whose value is a map of schemas. */
const MAPS = ["properties", "patternProperties", "definitions", "$defs", "dependentSchemas"];

/** Of draft-07 and 2020-12, and what OpenAPI and we have besides. */
export const KEYWORDS: readonly string[] = [
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
export function unknownKeywords(schema: YamlNode): readonly { readonly key: Range; readonly written: string }[] {
  if (schema.kind === "list") return schema.items.flatMap(unknownKeywords);
  if (schema.kind !== "map") return [];
  return [...schema.entries].flatMap(([written, { key, value }]) => {
    if (SCHEMAS.includes(written)) return unknownKeywords(value);
    if (MAPS.includes(written))
      return value.kind === "map" ? [...value.entries.values()].flatMap((entry) => unknownKeywords(entry.value)) : [];
    return KEYWORDS.includes(written) || written.startsWith("x-") ? [] : [{ key, written }];
  });
}

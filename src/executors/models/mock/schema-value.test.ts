import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../core/json.ts";
import { JsonSchemas } from "../../../schemas/json-schemas.ts";
import { toSchemaValue } from "./schema-value.ts";

const validators = new JsonSchemas();

async function findViolations(schema: JsonObject) {
  const compiled = await validators.compile(schema);
  if (!compiled.ok) throw new Error(compiled.message);
  return compiled.validate(toSchemaValue(schema));
}

describe("a value fits its schema", () => {
  const table: Readonly<Record<string, JsonObject>> = {
    "nothing said": {},
    "const, enum, examples and default": {
      properties: {
        a: { const: 7 },
        b: { enum: ["x", null] },
        c: { type: "integer", examples: [5] },
        d: { type: "string", default: "d" },
      },
    },
    "numbers within bounds": {
      properties: {
        a: { type: "integer", minimum: 5, maximum: 6 },
        b: { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 0.5 },
        c: { type: "integer", multipleOf: 25, minimum: 110 },
        d: { type: "number", maximum: -10 },
        e: { type: "integer", minimum: 10_000_000_000 },
      },
    },
    "texts within bounds": {
      properties: { a: { type: "string", minLength: 400 }, b: { type: "string", maxLength: 3 } },
    },
    "every format": {
      properties: Object.fromEntries(
        [
          "date",
          "date-time",
          "time",
          "duration",
          "email",
          "uri",
          "uri-reference",
          "hostname",
          "ipv4",
          "ipv6",
          "uuid",
          "json-pointer",
          "regex",
        ].map((format) => [format, { type: "string", format }]),
      ),
      additionalProperties: false,
    },
    "lists within bounds": {
      properties: {
        a: { type: "array", items: { type: "integer" }, minItems: 12 },
        b: { type: "array", items: { type: "string" }, maxItems: 0 },
        c: { type: "array", items: { type: "string" }, minItems: 4, uniqueItems: true },
        d: { type: "array", items: [{ type: "integer" }, { type: "string" }], additionalItems: false },
      },
    },
    "a tuple of 2020-12": {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "array",
      prefixItems: [{ type: "integer" }, { type: "boolean" }],
      items: false,
      minItems: 2,
    },
    "required without properties": { type: "object", required: ["name", "score"] },
    "a map": { type: "object", additionalProperties: { type: "integer" }, minProperties: 3 },
    "several types": { properties: { a: { type: ["null", "integer"] }, b: { type: "null" } } },
    "anyOf, oneOf and allOf": {
      allOf: [
        { properties: { a: { type: "integer" } }, required: ["a"] },
        { properties: { b: { anyOf: [{ type: "null" }, { type: "boolean" }] } }, required: ["b"] },
      ],
      properties: { c: { oneOf: [{ type: "string", maxLength: 4 }, { type: "integer" }] } },
    },
    references: {
      $ref: "#/$defs/a~1b",
      $defs: { "a/b": { type: "object", properties: { x: { $ref: "#/$defs/y" } } }, y: { type: "integer" } },
    },
    "a tree": {
      type: "object",
      properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#" } } },
    },
    "a binary tree": {
      type: "object",
      properties: {
        left: { $ref: "#" },
        right: { $ref: "#" },
        middle: { $ref: "#" },
        more: { type: "array", items: { $ref: "#" } },
      },
    },
  };
  for (const [name, schema] of Object.entries(table)) {
    test(name, async () => expect(await findViolations(schema)).toEqual([]));
  }

  test("whatever the schema, if it uses the common keywords", async () => {
    await fc.assert(
      fc.asyncProperty(anySchema(), async (schema) => {
        expect(await findViolations(schema)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test("or it says why not", async () => {
    expect(await findViolations({ type: "string", pattern: "^Q{7}[0-4]+$" })).toEqual([
      { path: "", message: 'must match pattern "^Q{7}[0-4]+$"' },
    ]);
    expect(await findViolations({ type: "object", properties: { a: { $ref: "#" } }, required: ["a"] })).not.toEqual([]);
  });
});

test("the items of a list differ", () => {
  const items = {
    type: "object",
    properties: { name: { type: "string" }, score: { type: "integer", minimum: 1, maximum: 9 } },
  };
  expect(toSchemaValue({ type: "array", items, minItems: 3 })).toEqual([
    { name: "simulated name", score: 5 },
    { name: "simulated name 2", score: 6 },
    { name: "simulated name 3", score: 7 },
  ]);
});

function anySchema(): fc.Arbitrary<JsonObject> {
  const leaf = fc.oneof(
    fc.constantFrom<JsonObject>(
      { type: "boolean" },
      { type: "string" },
      { type: "null" },
      { type: "string", format: "date" },
      { enum: [1, "a", null] },
    ),
    fc
      .record({ min: fc.integer({ min: -1_000, max: 1_000 }), span: fc.nat(50) })
      .map(({ min, span }) => ({ type: "integer", minimum: min, maximum: min + span })),
    fc
      .record({ min: fc.nat(300), span: fc.nat(50) })
      .map(({ min, span }) => ({ type: "string", minLength: min, maxLength: min + span })),
  );
  const { schema } = fc.letrec<{ schema: JsonObject }>((tie) => ({
    schema: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc
        .record({ items: tie("schema"), min: fc.nat(3), span: fc.nat(3) })
        .map(({ items, min, span }) => ({ type: "array", items, minItems: min, maxItems: min + span })),
      fc.dictionary(fc.constantFrom("name", "score", "url", "tags", "notes"), tie("schema")).map((properties) => ({
        type: "object",
        properties,
        required: Object.keys(properties),
        additionalProperties: false,
      })),
      fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
    ),
  }));
  return schema;
}

test("no schema makes a value that is large: it does not fit then, and the answer is refused", () => {
  const many = 1_000_000_000;
  const before = process.cpuUsage();
  expect(toSchemaValue({ type: "array", minItems: many })).toHaveLength(19_999);
  expect(Object.keys(toSchemaValue({ type: "object", minProperties: many }) as object)).toHaveLength(19_999);
  expect(toSchemaValue({ type: "string", minLength: many })).toHaveLength(1_000_000);
  const nested = { type: "array", minItems: many, items: { type: "array", minItems: many } };
  expect(toSchemaValue(nested)).toHaveLength(19_999);
  expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
});

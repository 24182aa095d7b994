import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../core/json.ts";
import { createSchemaValidators } from "./schema-validators.ts";

async function check(schema: JsonObject, value: Json): Promise<readonly string[] | string> {
  const compiled = await createSchemaValidators().compile(schema);
  return compiled.ok ? compiled.validate(value).map(({ path, message }) => `${path} ${message}`) : compiled.message;
}

test("both drafts are known, by `$schema`; without one it is draft-07", async () => {
  const tuple = { items: [{ type: "integer" }] };
  expect(await check({ ...tuple }, ["x"])).toEqual(["/0 must be integer"]);
  expect(await check({ $schema: "http://json-schema.org/draft-07/schema#", ...tuple }, ["x"])).toEqual([
    "/0 must be integer",
  ]);
  const in2020 = { $schema: "https://json-schema.org/draft/2020-12/schema", prefixItems: [{ type: "integer" }] };
  expect(await check(in2020, ["x"])).toEqual(["/0 must be integer"]);
});

test("all violations come at once, up to twenty", async () => {
  const many = { items: { type: "integer" } };
  expect(
    await check(
      many,
      Array.from({ length: 30 }, () => "x"),
    ),
  ).toHaveLength(20);
});

test("formats are checked, unknown ones and unknown keywords ignored", async () => {
  expect(await check({ format: "date" }, "soon")).toEqual([' must match format "date"']);
  expect(await check({ format: "moon-phase", example: 1, "x-note": "hi" }, "full")).toEqual([]);
});

test("what cannot be used is said, not thrown", async () => {
  expect(await check({ type: "text" }, 1)).toContain("must be equal to one of the allowed values");
  expect(await check({ $ref: "https://evil.example/schema.json" }, 1)).toContain("can't resolve reference");
  expect(await check({ $schema: "http://json-schema.org/draft-04/schema#" }, 1)).toContain("is not supported");
  expect(await check({ $async: true }, 1)).toContain("is not supported");
});

test("schemas with the same `$id` do not see each other", async () => {
  const validators = createSchemaValidators();
  const [first, second] = await Promise.all([
    validators.compile({ $id: "https://example.com/s", type: "string" }),
    validators.compile({ $id: "https://example.com/s", type: "number" }),
  ]);
  expect(first.ok && first.validate("x")).toEqual([]);
  expect(second.ok && second.validate(1)).toEqual([]);
});

test("schemas that refer to themselves do not mix either", async () => {
  const validators = createSchemaValidators();
  const toTree = (type: string) => ({ properties: { value: { type }, next: { $ref: "#" } } });
  const [texts, numbers] = await Promise.all([
    validators.compile(toTree("string")),
    validators.compile(toTree("number")),
  ]);
  expect(texts.ok && texts.validate({ next: { next: { value: 1 } } })).toEqual([
    { path: "/next/next/value", message: "must be string" },
  ]);
  expect(numbers.ok && numbers.validate({ next: { next: { value: 1 } } })).toEqual([]);
});

test("a schema is compiled once", async () => {
  const validators = createSchemaValidators();
  const compiled = await validators.compile({ type: "string" });
  expect(await validators.compile({ type: "string" })).toBe(compiled);
});

test("more schemas than are kept still work", async () => {
  const validators = createSchemaValidators();
  for (let n = 0; n < 520; n += 1) {
    const compiled = await validators.compile({ const: n });
    expect(compiled.ok && compiled.validate(n)).toEqual([]);
  }
});

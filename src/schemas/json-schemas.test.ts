import { monitorEventLoopDelay } from "node:perf_hooks";
import { describe, expect, test } from "vitest";
import { isPawlError } from "../core/errors/pawl-error.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { JsonSchemas } from "./json-schemas.ts";

async function check(schema: JsonObject, value: Json): Promise<readonly string[] | string> {
  const compiled = await new JsonSchemas().compile(schema);
  return compiled.ok
    ? (await compiled.validate(value)).map(({ path, message }) => `${path} ${message}`)
    : compiled.message;
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
  const validators = new JsonSchemas();
  const [first, second] = await Promise.all([
    validators.compile({ $id: "https://example.com/s", type: "string" }),
    validators.compile({ $id: "https://example.com/s", type: "number" }),
  ]);
  expect(first.ok && (await first.validate("x"))).toEqual([]);
  expect(second.ok && (await second.validate(1))).toEqual([]);
});

test("schemas that refer to themselves do not mix either", async () => {
  const validators = new JsonSchemas();
  const toTree = (type: string) => ({ properties: { value: { type }, next: { $ref: "#" } } });
  const [texts, numbers] = await Promise.all([
    validators.compile(toTree("string")),
    validators.compile(toTree("number")),
  ]);
  expect(texts.ok && (await texts.validate({ next: { next: { value: 1 } } }))).toEqual([
    { path: "/next/next/value", message: "must be string" },
  ]);
  expect(numbers.ok && (await numbers.validate({ next: { next: { value: 1 } } }))).toEqual([]);
});

test("a schema is compiled once", async () => {
  const validators = new JsonSchemas();
  const compiled = await validators.compile({ type: "string" });
  expect(await validators.compile({ type: "string" })).toBe(compiled);
});

test("more schemas than are kept still work", async () => {
  const validators = new JsonSchemas();
  for (let n = 0; n < 520; n += 1) {
    const compiled = await validators.compile({ const: n });
    expect(compiled.ok && (await compiled.validate(n))).toEqual([]);
  }
});

const nest = (levels: number): Json => (levels === 0 ? 1 : { x: nest(levels - 1) });

/** Each level asks twice for the next one. */
const unfolding = (levels: number): JsonObject => ({
  $ref: "#/definitions/a0",
  definitions: Object.fromEntries(
    Array.from({ length: levels + 1 }, (_, n): [string, JsonObject] => {
      const next = { $ref: `#/definitions/a${n + 1}` };
      return [`a${n}`, n === levels ? {} : { allOf: [next, next] }];
    }),
  ),
});

const BACK = {
  definitions: { a: { properties: { x: { allOf: [{ $ref: "#/definitions/a" }, { $ref: "#/definitions/a" }] } } } },
};

describe("what could take for ever", () => {
  const words = Array.from({ length: 20_000 }, (_, n) => `v${n}`);
  const manyPatterns = { allOf: Array.from({ length: 9_000 }, (_, n) => ({ pattern: `[a-z]{1000}${n}` })) };
  const table: readonly (readonly [string, JsonObject, Json, string])[] = [
    ["a pattern that goes back", { pattern: "^(a+)+$" }, `${"a".repeat(60)}!`, "must match pattern"],
    [
      "an e-mail pattern",
      { pattern: "^([a-zA-Z0-9_.+-])+@(([a-zA-Z0-9-])+.)+([a-z]{2,4})+$" },
      `a@${"a".repeat(1e6)}!`,
      "must match",
    ],
    ["patterns of keys", { patternProperties: { "^(a|a)*$": false } }, { [`${"a".repeat(5_000)}!`]: 1 }, ""],
    [
      "looking ahead at the beginning",
      { pattern: "^(?=.*[A-Z])(?=.*\\d)(?!.*\\s).{4,}$" },
      "abcD 1",
      "must match pattern",
    ],
    ["looking ahead elsewhere", { pattern: "a(?=b)" }, "ab", "looking ahead takes more than linear time"],
    ["looking behind", { pattern: "(?<=a)b" }, "ab", "looking behind takes more than linear time"],
    ["a back reference", { pattern: "^(a)\\1$" }, "aa", "a back reference takes more than linear time"],
    ["a back reference by name", { pattern: "^(?<n>a)\\k<n>$" }, "aa", "a back reference takes more than linear time"],
    ["very many patterns", manyPatterns, "x", "takes too long to compile"],
    ["items that are all different", { uniqueItems: true }, words.map((x) => ({ x })), ""],
    ["a long list of allowed values", { items: { enum: words } }, words, ""],
    ["references that unfold", unfolding(40), "x", "unfold to more than"],
    ["a schema that asks itself again", { anyOf: [{ type: "null" }, { $ref: "#" }] }, 1, "refers to itself"],
    [
      "a format on a long text",
      { format: "url" },
      `http://${"a:".repeat(100_000)}`,
      "must match format|SCHEMA_TOO_COSTLY",
    ],
    ["deep nesting", JSON.parse(`${'{"not":'.repeat(300)}{}${"}".repeat(300)}`) as JsonObject, 1, "nested more deeply"],
    ["size", { description: "x".repeat(1_000_001) }, 1, "longer than"],
  ];

  test.each(table)("%s takes less than two seconds, and nobody else waits", async (_, schema, value, said) => {
    const delay = monitorEventLoopDelay({ resolution: 5 });
    const startedAt = performance.now();
    delay.enable();
    const answer = await check(schema, value).catch((error: unknown) => (isPawlError(error) ? error.code : error));
    delay.disable();
    expect(String(answer)).toMatch(new RegExp(said));
    if (said === "") expect(answer).toEqual([]);
    expect(performance.now() - startedAt).toBeLessThan(8_000);
    expect(delay.max / 1e6).toBeLessThan(2_000);
  });

  test("a definition is told the place", async () => {
    const schema = { properties: { name: { patternProperties: { "(a)\\1": {} } } } };
    const fault = await new JsonSchemas().findFault(schema);
    expect(fault?.path).toEqual(["properties", "name", "patternProperties", "(a)\\1"]);
  });

  test("after it, others are checked as before", async () => {
    const fansOut = () => check({ $ref: "#/definitions/a", ...BACK }, nest(60));
    for (const { reason } of (await Promise.allSettled([fansOut(), fansOut()])) as PromiseRejectedResult[])
      expect(reason).toMatchObject({ code: "SCHEMA_TOO_COSTLY" });
    const tree = { properties: { value: { type: "string" }, next: { $ref: "#" } } };
    expect(await check(tree, { next: { value: 1 } })).toEqual(["/next/value must be string"]);
  });
});

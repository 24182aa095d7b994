import { expect, test } from "vitest";
import { JsonSchemas } from "../schemas/json-schemas.ts";
import { parseExact } from "./exact-json.ts";
import type { Json, JsonObject } from "./json.ts";

const ODD = "9007199254740993";
const EVEN = "9007199254740992";

test.each([
  ['{"type":"integer"}', ODD, true],
  ['{"type":"number"}', ODD, true],
  ['{"type":"string"}', ODD, false],
  ['{"not":{"type":"integer"}}', ODD, false],
  ['{"type":"integer","format":"int64"}', ODD, true],
  [`{"maximum":${EVEN}}`, ODD, false],
  [`{"maximum":${EVEN}}`, EVEN, true],
  [`{"exclusiveMaximum":${ODD}}`, EVEN, true],
  [`{"minimum":${ODD}}`, EVEN, false],
  [`{"minimum":${ODD}}`, "1", false],
  [`{"exclusiveMinimum":${EVEN}}`, ODD, true],
  ['{"minimum":0,"maximum":9223372036854775807}', "9223372036854775807", true],
  ['{"minimum":0,"maximum":9223372036854775807}', "9223372036854775808", false],
  ['{"minimum":0,"maximum":9223372036854775807}', "7", true],
  ['{"multipleOf":2}', ODD, false],
  ['{"multipleOf":2}', EVEN, true],
  ['{"multipleOf":0.5}', ODD, true],
  ['{"multipleOf":0.3}', ODD, true],
  ['{"multipleOf":0.3}', EVEN, false],
  [`{"enum":[${EVEN},"x"]}`, ODD, false],
  [`{"enum":[1,${ODD}]}`, ODD, true],
  [`{"not":{"const":${EVEN}}}`, ODD, true],
  [`{"not":{"const":[${ODD}]}}`, `[${ODD}]`, false],
  ['{"uniqueItems":true}', `[{"a":${ODD}},{"a":${EVEN}}]`, true],
  ['{"uniqueItems":true}', `[{"a":${ODD},"b":1},{"b":1,"a":${ODD}}]`, false],
  [
    `{"properties":{"list":{"items":{"$ref":"#/definitions/id"}}},"definitions":{"id":{"enum":[${ODD}]}}}`,
    `{"list":[${ODD}]}`,
    true,
  ],
  [
    `{"properties":{"list":{"items":{"$ref":"#/definitions/id"}}},"definitions":{"id":{"enum":[${ODD}]}}}`,
    `{"list":[${ODD},${EVEN}]}`,
    false,
  ],
  [`{"additionalProperties":{"maximum":${EVEN}}}`, `{"__proto__":${ODD}}`, false],
] as const)("the schema %s and %s: fits is %s", async (written, text, fits) => {
  const schema = parseExact(written) as JsonObject;
  const value: Json = parseExact(text);
  const compiled = await new JsonSchemas().compile(schema);
  expect(compiled.ok && (await compiled.validate(value)).length === 0).toBe(fits);
  const checker = new JsonSchemas();
  expect(await checker.findFault(schema)).toBeUndefined();
  expect((await checker.listMismatches(schema, value)).length === 0).toBe(fits);
  expect((await checker.explainMismatch(schema, value)) === undefined).toBe(fits);
});

test("a mismatch says the exact numbers and its place", async () => {
  const schema = parseExact(`{"items":{"maximum":${EVEN},"enum":[${ODD}]}}`) as JsonObject;
  const compiled = await new JsonSchemas().compile(schema);
  expect(compiled.ok && (await compiled.validate(parseExact(`[1,${ODD}]`)))).toEqual([
    { path: "/0", message: `must be equal to one of the allowed values: [${ODD}]` },
    { path: "/1", message: `must be <= ${EVEN}` },
  ]);
});

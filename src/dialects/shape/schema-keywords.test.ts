import { expect, test } from "vitest";
import { loadDefinition } from "../load-definition.ts";

const STEP = "name: x\nsteps:\n  - id: a\n    prompt: Hi.\n    output_schema: ";

test("a misspelt keyword of a schema is an error at its place, however deep", async () => {
  const { problems } = await loadDefinition({
    text: `${STEP}{ type: object, properties: { requird: { anyOf: [{ tpye: string }] } }, requird: [a] }\n`,
  });
  expect(problems.map(({ code, severity, remedy, place }) => [code, severity, remedy, place?.line])).toEqual([
    ["SCHEMA_INVALID", "error", "Did you mean `type`?", 5],
    ["SCHEMA_INVALID", "error", "Did you mean `required`?", 5],
  ]);
});

test("data in a schema, other programs' keywords and our own are no misspelt ones", async () => {
  const schema =
    "{ type: object, default: { tpye: 1 }, examples: [{ tpye: 1 }], example: 1, x-tpye: 1, whatever: 1, properties: { a: { type: array, directory: true } } }";
  expect((await loadDefinition({ text: `${STEP}${schema}\n` })).problems).toEqual([]);
});

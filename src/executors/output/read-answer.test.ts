import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseExact, writeExact } from "../../core/exact-json.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import { JsonSchemas } from "../../schemas/json-schemas.ts";
import { readAnswer } from "./read-answer.ts";

const FENCE = "```";
const SCORE = { type: "object", properties: { score: { type: "integer" } }, required: ["score"] };

async function read(text: string, schema?: JsonObject): Promise<Json> {
  const compiled = schema === undefined ? undefined : await new JsonSchemas().compile(schema);
  const answer = await readAnswer({ text, structured: undefined }, compiled?.ok ? compiled.validate : undefined);
  return answer.ok ? answer.output : answer.code;
}

describe("without a schema", () => {
  const table: readonly (readonly [string, Json])[] = [
    ["plain words", "plain words"],
    ['{"a": 1}', { a: 1 }],
    ["[1, 2]", [1, 2]],
    ["42", "42"],
    ["null", "null"],
    [`${FENCE}json\n{"a": 1}\n${FENCE}`, { a: 1 }],
    [`  ${FENCE}\n[1]\n${FENCE}\n`, [1]],
    [`${FENCE}json\r\n{"a": 1}\r\n${FENCE}`, { a: 1 }],
    [`${FENCE}json {"a": 1} ${FENCE}`, { a: 1 }],
    [`~~~json\n{"a": 1}\n~~~`, { a: 1 }],
    [`${FENCE}markdown\n# Title\n${FENCE}`, "# Title"],
    [`${FENCE}json\n{"code": "${FENCE}js"}\n${FENCE}`, { code: `${FENCE}js` }],
    [`Before\n${FENCE}json\n{"a": 1}\n${FENCE}`, `Before\n${FENCE}json\n{"a": 1}\n${FENCE}`],
    [`${FENCE}\na\n${FENCE}\nand\n${FENCE}\nb\n${FENCE}`, `${FENCE}\na\n${FENCE}\nand\n${FENCE}\nb\n${FENCE}`],
    ["", "OUTPUT_EMPTY"],
    [" \n\t", "OUTPUT_EMPTY"],
    [`${FENCE}json\n\n${FENCE}`, "OUTPUT_EMPTY"],
  ];
  for (const [text, output] of table) test(writeExact(text), async () => expect(await read(text)).toEqual(output));
});

describe("with a schema, the first JSON that fits is taken", () => {
  const table: readonly (readonly [string, Json])[] = [
    ['{"score": 1}', { score: 1 }],
    [`Sure:\n${FENCE}json\n{"score": 2}\n${FENCE}\nBye`, { score: 2 }],
    ['I read [1] and {"note": "x"}, so {"score": 3}.', { score: 3 }],
    ['A brace { alone, then {"score": 4}', { score: 4 }],
    [`${FENCE}json\n{"score": 5}`, { score: 5 }],
    ['{"score": 6} {"score": 7}', { score: 6 }],
    ['{"score": "high"}', "OUTPUT_INVALID"],
    ["no idea", "OUTPUT_INVALID"],
    ['{"score": 1', "OUTPUT_INVALID"],
  ];
  for (const [text, output] of table) test(text, async () => expect(await read(text, SCORE)).toEqual(output));

  test("a schema for a text takes the text, for a number the number", async () => {
    expect(await read("just words", { type: "string" })).toBe("just words");
    expect(await read("42", { type: "number" })).toBe(42);
  });

  test("any fitting value is found in a fence and in prose", async () => {
    const anyObject = fc.dictionary(fc.string(), fc.jsonValue()).map((value) => ({ ...value, score: 1 }));
    const wrapped = fc.tuple(
      anyObject,
      fc.boolean(),
      fc.constantFrom(`${FENCE}json\n%\n${FENCE}`, "Here: % - done", "%", "~~~\n%\n~~~"),
    );
    await fc.assert(
      fc.asyncProperty(wrapped, async ([value, isIndented, around]) => {
        const text = writeExact(value, isIndented ? 2 : 0);
        expect(
          await read(
            around.replace("%", () => text),
            SCORE,
          ),
        ).toEqual(parseExact(text));
      }),
    );
  });
});

test("text of nothing but brackets is given up in time", async () => {
  expect(await read("[{".repeat(200_000), SCORE)).toBe("OUTPUT_INVALID");
});

test("an invalid answer is shown with its errors, shortened", async () => {
  const compiled = await new JsonSchemas().compile({ ...SCORE, additionalProperties: false });
  const answer = await readAnswer(
    { text: `{"score": "x", "extra": "${"y".repeat(5_000)}"}`, structured: undefined },
    compiled.ok ? compiled.validate : undefined,
  );
  expect(answer).toMatchObject({
    code: "OUTPUT_INVALID",
    message:
      'The agent\'s answer does not fit the output schema: the answer must NOT have additional properties: "extra"; /score must be integer.',
    details: { errors: [{ path: "" }, { path: "/score", message: "must be integer" }] },
  });
  expect(writeExact(answer).length).toBeLessThan(3_000);
});

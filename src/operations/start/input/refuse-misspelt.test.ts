import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../../core/json.ts";
import { EVERYTHING } from "../../../core/trust/grant.ts";
import { compileText } from "../../definitions/compile-text.ts";
import { toRequestInput, toRunInput } from "./to-run-input.ts";

const SCHEMA = { required: ["name"], properties: { name: { type: "string" }, items: { type: "array" } } };

async function graphWith(schema: Json) {
  const text = JSON.stringify({ name: "w", input_schema: schema, steps: [{ id: "a", prompt: "{input.name}" }] });
  return (await compileText(text, { grant: EVERYTHING, folders: [] })).graph;
}

async function refused(given: JsonObject, schema: Json = SCHEMA) {
  return toRunInput(given, await graphWith(schema)).then(
    () => undefined,
    ({ code, message, remedy, details }) => ({ code, message, remedy, details }),
  );
}

test("all misspelt names of inputs are refused at once, with the names that were meant", async () => {
  expect(await refused({ nmae: "x", itmes: [], other: 1 })).toEqual({
    code: "INPUT_INVALID",
    message: "`nmae`: did you mean `name`? `itmes`: did you mean `items`?",
    remedy: "Add `-i name=... -i items=...`; in a request, name the field so.",
    details: {
      violations: [
        { path: "/nmae", message: "did you mean `name`?" },
        { path: "/itmes", message: "did you mean `items`?" },
      ],
    },
  });
});

test("the payload of a request is held to the same names", async () => {
  const request = { requestData: { source: "internal", payload: { nmae: "x" } }, context: {} };
  await expect(toRequestInput(request, await graphWith(SCHEMA))).rejects.toThrow("did you mean `name`?");
});

test("the message of agents that is misspelt is no message that is missing", async () => {
  const text = JSON.stringify({
    llms: [{ name: "m", provider: "anthropic", model: "claude-sonnet-4-5" }],
    agents: [{ name: "a", llm_config_id: "m", system_prompt: "Help." }],
    workflows: [{ name: "w", steps: ["a"] }],
  });
  const { graph } = await compileText(text, { grant: EVERYTHING, folders: [] });
  await expect(toRunInput({ mesage: "Hello" }, graph)).rejects.toThrow("`mesage`: did you mean `message`?");
});

test.each<[string, JsonObject, Json]>([
  ["a name that is near to none", { name: "x", colour: "red" }, SCHEMA],
  ["a name beside the one that it is near to", { name: "x", names: [] }, SCHEMA],
  [
    "a name that a part of the schema declares",
    { name: "x", item: 1 },
    { ...SCHEMA, anyOf: [{ properties: { item: {} } }] },
  ],
  ["any name where others are welcome", { name: "x", itmes: 1 }, { ...SCHEMA, additionalProperties: true }],
  ["any name without declared ones", { nmae: "x" }, {}],
])("%s is taken", async (_, given, schema) => {
  expect(await refused(given, schema)).toBeUndefined();
});

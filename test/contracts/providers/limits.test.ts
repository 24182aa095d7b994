import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { call, inlineWorld, say, tool } from "../../agents/inline-world.ts";
import type { ModelRequest } from "../../fakes/model-server/model-reply.ts";
import { APIS, type Api, agentOf, askPrompt, MODELS } from "./providers.ts";

const CITY = { city: { type: "string" } };
const ZIP = { zip: { type: "integer" } };
/** Schemas of tools that OpenAI and Anthropic refuse as they are, with arguments that fit and arguments that do not. */
const SCHEMAS: readonly (readonly [string, JsonObject, JsonObject, JsonObject])[] = [
  [
    "anyOf of what is required",
    { type: "object", properties: { ...CITY, ...ZIP }, anyOf: [{ required: ["city"] }, { required: ["zip"] }] },
    { zip: 75_001 },
    {},
  ],
  [
    "oneOf of objects",
    {
      oneOf: [
        { type: "object", properties: CITY, required: ["city"], additionalProperties: false },
        { type: "object", properties: ZIP, required: ["zip"], additionalProperties: false },
      ],
    },
    { city: "Paris" },
    { city: "Paris", zip: 75_001 },
  ],
  [
    "allOf of objects",
    {
      type: "object",
      allOf: [
        { properties: CITY, required: ["city"] },
        { properties: ZIP, required: ["zip"] },
      ],
    },
    { city: "Paris", zip: 75_001 },
    { city: "Paris" },
  ],
  [
    "a reference",
    { $ref: "#/$defs/Place", $defs: { Place: { type: "object", properties: CITY, required: ["city"] } } },
    { city: "Paris" },
    {},
  ],
  ["not", { type: "object", properties: CITY, not: { required: ["zip"] } }, { city: "Paris" }, { zip: 1 }],
  ["no properties", { type: "object" }, { city: "Paris" }, {}],
];

const schemaOf = (request: ModelRequest | undefined) => request?.shown.tools[0]?.schema as JsonObject;

describe.each(APIS)("%s", (api) => {
  test.each(SCHEMAS)(
    "a tool whose schema has %s is offered, and its calls are checked as it says",
    async (name, schema, fits, misfits) => {
      const replies = [call("book", misfits), call("book", fits), say("Done.")];
      const { ask, booked, requests } = await agentOf(api, replies, { schema });
      expect(await ask()).toMatchObject({ status: "succeeded", output: { text: "Done." } });
      expect(booked).toEqual(name === "no properties" ? [misfits, fits] : [fits]);
      const offered = schemaOf(requests[0]);
      expect(offered["type"]).toBe("object");
      expect(Object.keys(offered["properties"] as JsonObject).sort()).toEqual(
        name === "no properties" ? [] : expect.arrayContaining(["city"]),
      );
    },
  );

  test("many tools: what the provider refuses is refused before anything is paid", async () => {
    const most: Readonly<Record<Api, number>> = { anthropic: 600, chat: 600, openai: 128, google: 512 };
    const some = (count: number) => Array.from({ length: count }, (_, index) => tool(`tool_${index}`, () => ""));
    const given = { model: MODELS[api] };
    const enough = await inlineWorld(() => say("Done."), { tools: some(Math.min(most[api], 128)) });
    expect(await enough.ask(given)).toMatchObject({ status: "succeeded" });
    if (most[api] === 600) return;
    const tooMany = await inlineWorld(() => say("Done."), { tools: some(most[api] + 1) });
    expect(await tooMany.ask(given)).toMatchObject({
      status: "failed",
      code: "AGENT_TOOLS_TOO_MANY",
      costMicro: 0,
      message: `The agent "Weather Agent" has ${most[api] + 1} tools (weather ${most[api] + 1}), and ${MODELS[api]} takes ${most[api]} at most.`,
    });
    expect(tooMany.requests).toEqual([]);
  });

  test("the description of a tool may be long", async () => {
    const long = tool("book", () => "", { description: "Books. ".repeat(500) });
    const world = await inlineWorld([say("Done.")], { tools: [long] });
    expect(await world.ask({ model: MODELS[api] })).toMatchObject({ status: "succeeded" });
  });

  test("an answer that does not tell its use costs an unknown amount, and the step succeeds", async () => {
    const untold = say("Done.", { usage: "untold" });
    const { ask, paid } = await agentOf(api, [untold]);
    expect(await ask()).toMatchObject({ status: "succeeded", costMicro: null });
    const prompted = await askPrompt(api, [untold]);
    expect(prompted.outcome).toMatchObject({ status: "succeeded", costMicro: null });
    expect([paid, prompted.paid]).toEqual([[null], [null]]);
  });

  test("under a budget such an answer counts as the most that it can cost", async () => {
    const { ask, requests } = await agentOf(api, [call("book", {}, { usage: "untold" })], {
      models: { prices: { m: { input: 1, output: 1 } } },
    });
    expect(await ask({ max_tokens: 1_000 }, { maxCostMicro: 20_000 })).toMatchObject({ code: "BUDGET_EXCEEDED" });
    expect(requests.length).toBeGreaterThan(0);
    expect(requests.length).toBeLessThan(9);
  });
});

test("chat: the use is asked for, and told", async () => {
  const { ask, requests } = await agentOf("chat", [say("Done.")], {
    models: { prices: { m: { input: 1, output: 1 } } },
  });
  expect(await ask()).toMatchObject({ status: "succeeded", costMicro: 30 });
  expect(requests[0]?.body["stream_options"]).toEqual({ include_usage: true });
});

test("chat: a server that refuses to be asked for the use is asked without", async () => {
  const { ask, requests, paid } = await agentOf("chat", ({ body }) => {
    if (body["stream_options"] === undefined) return say("Done.");
    return { do: "refuse", status: 422, message: "stream_options.include_usage: Extra inputs are not permitted" };
  });
  expect(await ask()).toMatchObject({ status: "succeeded", output: { text: "Done." }, costMicro: null });
  expect(requests).toHaveLength(2);
  expect(paid).toEqual([null]);
});

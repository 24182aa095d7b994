import { describe, expect, test } from "vitest";
import { calls, say } from "../../agents/inline-world.ts";
import type { SaidReply } from "../../fakes/model-server/model-reply.ts";
import { APIS, agentOf } from "./providers.ts";

const TWO = calls(["book", { city: "Paris" }], ["book", { city: "Rome" }]);
/** What a model may say in a turn, and its provider wants back. The fake refuses what the real one would refuse. */
const TURNS: readonly (readonly [string, SaidReply, number])[] = [
  ["calls alone", TWO, 2],
  ["words and calls", { ...TWO, text: "I book." }, 2],
  ["a text of blanks and calls", { ...TWO, text: " \n" }, 2],
  ["thoughts and calls", { ...TWO, thinking: "Both\u2028 of them 🚀." }, 2],
  ["thoughts, words and calls", { ...TWO, thinking: "Both.", text: "I book." }, 2],
  ["a tool that no tool can be named", say("", { calls: [{ name: "functions.book me!", input: {} }] }), 0],
  ["arguments that are no JSON", say("", { calls: [{ name: "book", json: '{"city": "Par' }] }), 0],
  ["no arguments", say("", { calls: [{ name: "book", json: "" }] }), 1],
  [
    "one id for two calls",
    say("", {
      calls: [
        { name: "book", id: "c" },
        { name: "book", id: "c" },
      ],
    }),
    2,
  ],
  ["an empty id", say("", { calls: [{ name: "book", id: "" }] }), 1],
  ["a call that was cut", say("I boo", { calls: [{ name: "book", json: '{"ci' }], ended: "length" }), 0],
  ["thoughts and a call that was cut", say("", { thinking: "Hm.", calls: [{ name: "book" }], ended: "length" }), 0],
];

describe.each(APIS)("%s takes a turn back", (api) => {
  test.each(TURNS)("of %s", async (_name, turn, booked) => {
    const world = await agentOf(api, [turn, turn, say("Done.")]);
    expect(await world.ask()).toMatchObject({ status: "succeeded", output: { text: "Done." } });
    expect(world.booked).toHaveLength(2 * booked);
    expect(world.requests).toHaveLength(3);
  });

  test("days later: nothing in it refers to what the provider keeps", async () => {
    const replies = [{ ...TWO, thinking: "Both." }, { do: "refuse", status: 500 } as const, say("Done.")];
    const world = await agentOf(api, replies);
    expect(await world.ask()).toMatchObject({ status: "failed", code: "MODEL_UNAVAILABLE" });
    expect(await world.ask({}, { attempt: 2 })).toMatchObject({ status: "succeeded", output: { text: "Done." } });
    expect(world.booked).toHaveLength(2);
  });

  test("of an answer that did not fit", async () => {
    const schema = { type: "object", properties: { score: { type: "integer" } }, required: ["score"] };
    const world = await agentOf(api, [say("seven", { thinking: "Hm." }), say('{"score": 7}', { thinking: "Hm." })]);
    expect(await world.ask({ output_schema: schema })).toMatchObject({ output: { structured: { score: 7 } } });
  });
});

test("openai: thoughts come back whole, and nothing is kept there", async () => {
  const { ask, requests } = await agentOf("openai", [{ ...TWO, thinking: "Both." }, say("Done.")]);
  await ask();
  expect(requests[0]?.body).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] });
  expect(requests[1]?.body["input"]).toContainEqual(
    expect.objectContaining({ type: "reasoning", encrypted_content: Buffer.from("Both.").toString("base64") }),
  );
});

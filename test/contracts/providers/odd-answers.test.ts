import { describe, expect, test } from "vitest";
import { asObject, isJsonObject, type Json, type JsonObject } from "../../../src/core/json.ts";
import { call, say } from "../../agents/inline-world.ts";
import type { ModelReply, SaidReply } from "../../fakes/model-server/model-reply.ts";
import { APIS, type Api, agentOf, askPrompt } from "./providers.ts";

type Reshape = NonNullable<SaidReply["reshape"]>;

const NULLS = { system_fingerprint: null, service_tier: null, error: null, logprobs: null, metadata: null };
const BESIDES = { "x-region": "eu", weather: { wind: [7] }, object: "odd" };

/** The message within an event, where the API has one. */
function within(key: string, change: (inner: JsonObject) => JsonObject): Reshape {
  return (data) => (isJsonObject(data[key]) ? { ...data, [key]: change(data[key]) } : data);
}

const choices = (change: (choice: JsonObject) => Json): Reshape => {
  return (data) => ({ ...data, choices: (data["choices"] as readonly JsonObject[]).map(change) });
};

/** What means nothing: values of the envelope in which providers differ from each other, and from what they document. */
const ODD: Readonly<Record<Api, Readonly<Record<string, Reshape>>>> = {
  anthropic: {
    "null where a value is optional": (data) => ({ ...data, ...NULLS, error: null }),
    "other fields": (data) => ({ ...data, ...BESIDES }),
    "no id and no model": within("message", ({ id: _id, model: _model, ...others }) => others),
    "an id that is a number, and a null model": within("message", (message) => ({ ...message, id: 7, model: null })),
    "usage: null": (data) => within("message", (message) => ({ ...message, usage: null }))({ ...data, usage: null }),
    "an empty usage": (data) => within("message", (message) => ({ ...message, usage: {} }))({ ...data, usage: {} }),
    "a null text at the beginning of a block": within("content_block", (block) =>
      block["type"] === "text" ? { ...block, text: null, citations: null } : { ...block, caller: null },
    ),
  },
  openai: {
    "null where a value is optional": (data) =>
      within("response", (response) => ({ ...response, ...NULLS, reasoning: null }))({ ...data, logprobs: null }),
    "other fields": (data) => within("response", (response) => ({ ...response, ...BESIDES }))({ ...data, ...BESIDES }),
    "no id, no time and no model": within(
      "response",
      ({ id: _id, created_at: _at, model: _model, ...others }) => others,
    ),
    "null ids, times and models": within("response", (response) => ({
      ...response,
      id: null,
      created_at: null,
      model: null,
    })),
    "a time of 19 digits": within("response", (response) => ({ ...response, created_at: 1764200000000000123n })),
    "usage: null": within("response", (response) => ({ ...response, usage: null })),
    "half of the usage": within("response", (response) => ({ ...response, usage: { input_tokens: 4 } })),
    "items without ids": (data) => {
      const { item_id: _id, ...others } = data;
      return within("item", ({ id: _itemId, ...item }) => item)(others);
    },
  },
  google: {
    "null where a value is optional": (data) => ({ ...data, ...NULLS, promptFeedback: null, responseId: null }),
    "other fields": (data) => ({ ...data, ...BESIDES, modelVersion: null, createTime: "now" }),
    "usage: null": (data) => ({ ...data, usageMetadata: null }),
  },
  chat: {
    "null where a value is optional": (data) =>
      choices((choice) => ({ ...choice, logprobs: null, ...nullsIn(choice) }))({ ...data, ...NULLS }),
    "other fields": (data) => ({ ...data, ...BESIDES }),
    "no id, no time and no model": ({ id: _id, created: _created, model: _model, ...others }) => others,
    "null ids, times and models": (data) => ({ ...data, id: null, created: null, model: null }),
    "a time of 19 digits": (data) => ({ ...data, created: 1764200000000000123n }),
    "a time that is a text, and an id that is a number": (data) => ({ ...data, created: "2026-11-27", id: 7 }),
    "usage: null": (data) => ({ ...data, usage: null }),
    "half of the usage": (data) => ({ ...data, usage: { prompt_tokens: null, completion_tokens: 4 } }),
    "a usage of texts": (data) => ({ ...data, usage: { prompt_tokens: "3", completion_tokens: "4" } }),
    "another role": choices((choice) => withRole(choice, "model")),
    "no choices where there is nothing to say": (data) =>
      Array.isArray(data["choices"]) && data["choices"].length === 0 ? { usage: data["usage"] ?? null } : data,
  },
};

function nullsIn(choice: JsonObject): JsonObject {
  const nulls = { refusal: null, reasoning_content: null, audio: null };
  return isJsonObject(choice["delta"])
    ? { delta: { ...nulls, tool_calls: null, ...choice["delta"] } }
    : { message: { ...nulls, ...asObject(choice["message"]) } };
}

function withRole({ delta, message, ...choice }: JsonObject, role: string): JsonObject {
  return isJsonObject(delta)
    ? { ...choice, delta: { ...delta, role } }
    : { ...choice, message: { ...asObject(message), role } };
}

const CASES = APIS.flatMap((api) => Object.entries(ODD[api]).map(([name, reshape]) => ({ api, name, reshape })));

describe.each(CASES)("$api: $name", ({ api, reshape }) => {
  test("does not matter to a stream", async () => {
    const args = { city: "Paris", zip: null, id: 2512292042121000001n };
    const { ask, booked } = await agentOf(api, [call("book", args, { reshape }), say("Done.", { reshape })]);
    expect(await ask()).toMatchObject({ status: "succeeded", output: { text: "Done." } });
    // Arguments are no envelope.
    expect(booked).toEqual([args]);
  });

  test("does not matter to a document", async () => {
    expect((await askPrompt(api, [say("Done.", { reshape })])).outcome).toMatchObject({ output: "Done." });
  });
});

const KEY = "sk-secret-0123456789";
const UNREADABLE: readonly (readonly [string, string])[] = [
  ["a page", `<html><title>Sign in</title>${KEY}${"<p>Please.</p>".repeat(100)}</html>`],
  ["half of a document", `{"id": "x", "key": "${KEY}", "choices": [{"index": 0, "mess`],
  ["another document", `{"detail": "Sign in with ${KEY}"}`],
  ["a list", `["${KEY}"]`],
  ["nothing that anybody knows", `\u0000\u001b[31m${KEY}`],
];

describe.each(APIS)("%s", (api) => {
  test.each(UNREADABLE)(
    "%s in the place of an answer fails at once, with its cause and its first characters",
    async (_name, body) => {
      const send: ModelReply = { do: "send", body };
      const { ask, requests, paid } = await agentOf(api, [send], { patienceMs: 60_000 });
      const prompted = await askPrompt(api, [send]);
      for (const outcome of [await ask(), prompted.outcome]) {
        expect(outcome).toMatchObject({
          status: "failed",
          code: "MODEL_UNAVAILABLE",
          message: expect.stringMatching(/sent an answer that cannot be read \(it is no .*: ".*\[redacted\]/),
        });
        expect(JSON.stringify(outcome)).not.toContain(KEY.slice(0, 10));
        expect(JSON.stringify(outcome).length).toBeLessThan(1_000);
      }
      expect([requests.length, prompted.requests.length]).toEqual([1, 1]);
      expect([paid, prompted.paid]).toEqual([[null], [null]]);
    },
  );

  test("an error within a 200 is one, and is asked again", async () => {
    const errors: Readonly<Record<Api, string>> = {
      anthropic: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
      openai: '{"object":"error","message":"upstream overloaded","code":"502"}',
      google: '{"error":{"code":503,"message":"The model is overloaded","status":"UNAVAILABLE"}}',
      chat: '{"error":{"message":"upstream overloaded","code":502}}',
    };
    const sent = { do: "send", body: errors[api] } as const;
    const { ask, requests } = await agentOf(api, [sent, say("Done.")], { patienceMs: 60_000 });
    expect(await ask()).toMatchObject({ status: "succeeded", output: { text: "Done." } });
    expect(requests).toHaveLength(2);
    expect((await askPrompt(api, [sent])).outcome).toMatchObject({
      code: "MODEL_UNAVAILABLE",
      message: expect.stringContaining("verloaded"),
    });
  });
});

import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { readAgentScript } from "../../../src/dialects/agent-script/agent-script.ts";
import { createModels } from "../../../src/executors/models/create-models.ts";
import type { CallOptions, ProviderModel } from "../../../src/executors/models/language-model.ts";
import { type FakeModelOptions, type FakeModelServer, startFakeModelServer } from "./fake-model-server.ts";
import { playScript } from "./play-script.ts";

const KINDS = ["anthropic", "openai", "google", "openai-compatible"] as const;
type Kind = (typeof KINDS)[number];

const LOOKUP = { type: "function", name: "lookup", description: "Looks up.", inputSchema: { type: "object" } } as const;
const ASKED: CallOptions = {
  prompt: [
    { role: "system", content: "You are brief." },
    { role: "user", content: [{ type: "text", text: "Hi" }] },
  ],
  tools: [LOOKUP],
};

const CALLS: { name: string; input: JsonObject }[] = [
  { name: "lookup", input: { city: "Paris" } },
  { name: "lookup", input: { city: "Rome", unit: "C" } },
];

for (const kind of KINDS) {
  test(`${kind}: a stream says the same as a document`, async () => {
    const usage = { input: 90, output: 12, cached: 40 };
    const { model, server } = await world(kind, [{ do: "say", text: "Hello there.", calls: CALLS, usage }]);

    const whole = await model.doGenerate(ASKED);
    const streamed = await readStream(model);

    expect(whole.content[0]).toMatchObject({ type: "text", text: "Hello there." });
    expect(callsOf(whole.content)).toEqual(CALLS);
    expect(whole.usage.inputTokens).toMatchObject({ total: 90, cacheRead: 40 });
    expect(whole.finishReason.unified).toBe("tool-calls");
    expect(streamed.text).toBe("Hello there.");
    expect(callsOf(streamed.parts)).toEqual(CALLS);
    expect(streamed.parts.at(-1)).toMatchObject({
      type: "finish",
      finishReason: { unified: "tool-calls" },
      usage: { outputTokens: { total: 12 } },
    });
    expect(server.requests.map(({ isStream }) => isStream)).toEqual([false, true]);
  });

  test(`${kind}: what the model was shown is told apart`, async () => {
    const { model, server } = await world(kind, [{ do: "say", text: "Mild." }]);
    const [called] = CALLS;

    await model.doGenerate({
      ...ASKED,
      prompt: [
        ...ASKED.prompt,
        {
          role: "assistant",
          content: [{ type: "tool-call", toolCallId: "c1", toolName: "lookup", input: called?.input }],
        },
        {
          role: "tool",
          content: [
            {
              type: "tool-result",
              toolCallId: "c1",
              toolName: "lookup",
              output: { type: "text", value: "18 degrees" },
            },
          ],
        },
      ],
    });

    expect(server.requests[0]?.shown).toMatchObject({
      system: "You are brief.",
      messages: [
        { by: "user", text: "Hi" },
        { by: "model", calls: [called] },
        { by: "user", results: [{ text: expect.stringContaining("18 degrees") }] },
      ],
      tools: [{ name: "lookup", description: "Looks up." }],
    });
  });

  test(`${kind}: a stream breaks in the middle of an event`, async () => {
    const { model } = await world(kind, [{ do: "say", text: "Hello there.", breaks: { after: 1, how: "cut" } }]);

    // Some providers wait for the first events before they hand out the stream.
    await expect(readStream(model)).rejects.toThrow(/terminated|Failed to process successful response/);
  });
}

for (const how of ["garble", "error"] as const) {
  test(`anthropic: a stream tells of what went wrong in it (${how})`, async () => {
    const { model } = await world("anthropic", [{ do: "say", text: "Hello there.", breaks: { after: 3, how } }]);

    const { parts } = await readStream(model);

    expect(parts.filter(({ type }) => type === "error")).toHaveLength(1);
  });
}

const USER = { role: "user", content: "Hi" };
const CALL = { type: "tool_use", id: "c", name: "lookup", input: {} };
const REFUSED: readonly (readonly [what: string, path: string, body: JsonObject, said: RegExp])[] = [
  ["no max_tokens", "/messages", { messages: [USER] }, /max_tokens/],
  ["an empty text", "/messages", { max_tokens: 9, messages: [{ role: "user", content: "" }] }, /non-empty/],
  [
    "a call without a result",
    "/messages",
    { max_tokens: 9, messages: [USER, { role: "assistant", content: [CALL] }, USER] },
    /without `tool_result`/,
  ],
  [
    "thoughts without a signature",
    "/messages",
    { max_tokens: 9, messages: [USER, { role: "assistant", content: [{ type: "thinking", thinking: "Hm." }] }] },
    /signature/,
  ],
  [
    "a schema with anyOf at its top",
    "/messages",
    { max_tokens: 9, messages: [USER], tools: [{ name: "a", input_schema: { type: "object", anyOf: [] } }] },
    /top level/,
  ],
  [
    "a name with a dot",
    "/chat/completions",
    { messages: [USER], tools: [{ function: { name: "a.b", parameters: { type: "object" } } }] },
    /pattern/,
  ],
  [
    "129 tools",
    "/responses",
    {
      input: [USER],
      tools: Array.from({ length: 129 }, () => ({ type: "function", name: "a", parameters: { type: "object" } })),
    },
    /maximum length 128/,
  ],
  ["a reference to what is not kept", "/responses", { input: [{ type: "item_reference", id: "rs_1" }] }, /not found/],
  [
    "thoughts with nothing after them",
    "/responses",
    { input: [{ type: "reasoning", encrypted_content: "x" }] },
    /following item/,
  ],
];

test.each(REFUSED)("what the real ones refuse is refused: %s", async (_what, path, body, said) => {
  const server = await startFakeModelServer({ replies: [{ do: "say", text: "Hi." }] });
  onTestFinished(() => server.close());
  const response = await fetch(`${server.url}${path}`, {
    method: "POST",
    body: JSON.stringify({ model: "m", ...body }),
  });
  expect(response.status).toBe(400);
  expect(await response.text()).toMatch(said);
});

test("arguments of a tool need not be JSON", async () => {
  const calls = [{ name: "lookup", json: '{"city": "Par' }];
  const { model } = await world("openai-compatible", [{ do: "say", calls }]);

  const { parts } = await readStream(model);

  expect(parts).toContainEqual(expect.objectContaining({ type: "tool-call", input: '{"city": "Par' }));
});

test("a server that left is back on its port", async () => {
  const { model, server } = await world("anthropic", [{ do: "say", text: "Here." }]);
  await server.leave();
  await expect(model.doGenerate(ASKED)).rejects.toThrow(/Cannot connect/);

  await server.comeBack();

  expect((await model.doGenerate(ASKED)).content).toMatchObject([{ text: "Here." }]);
});

test("a script answers by what is asked, else in order", async () => {
  const script = playScript({
    turns: [
      { when: { tool: "lookup", results: 0 }, call: { name: "lookup", input: { city: "Paris" } }, times: 1 },
      { refuse: 429, retry_after: 3, message: "slow down" },
      { when: { last: "HI", system: "brief" }, say: "Bye." },
    ],
  });
  const { model } = await world("anthropic", script);

  const first = await model.doGenerate(ASKED);
  await expect(model.doGenerate(ASKED)).rejects.toMatchObject({
    statusCode: 429,
    message: "slow down",
    responseHeaders: { "retry-after": "3" },
  });
  const third = await model.doGenerate(ASKED);
  const stranger: CallOptions = { prompt: [{ role: "user", content: [{ type: "text", text: "Who?" }] }] };

  expect(callsOf(first.content)).toEqual(CALLS.slice(0, 1));
  expect(third.content).toMatchObject([{ type: "text", text: "Bye." }]);
  await expect(model.doGenerate(stranger)).rejects.toThrow(/no turn for this request.*Who\?/);
});

async function world(
  kind: Kind,
  replies: FakeModelOptions["replies"],
): Promise<{ readonly model: ProviderModel; readonly server: FakeModelServer }> {
  const server = await startFakeModelServer({ replies });
  onTestFinished(() => server.close());
  const models = createModels({
    aliases: {},
    providers: { fake: { kind, base_url: server.url, api_key: "any" } },
    prices: {},
    keys: {},
    folder: "/",
    readScript: readAgentScript,
    env: () => undefined,
  });
  const model = await models.resolve("fake:some-model");
  return { model: await model.open({ stepId: "a", path: "a", attempt: 1, format: "text" }), server };
}

type StreamPart = { readonly type: string };

async function readStream(model: ProviderModel) {
  const { stream } = await model.doStream(ASKED);
  const parts: StreamPart[] = [];
  let text = "";
  for await (const part of stream) {
    parts.push(part);
    if (part.type === "text-delta") text += part.delta;
  }
  return { parts, text };
}

function callsOf(parts: readonly StreamPart[]) {
  const isCall = (part: StreamPart): part is { type: "tool-call"; toolName: string; input: string } =>
    part.type === "tool-call";
  return parts.filter(isCall).map(({ toolName, input }) => ({ name: toolName, input: JSON.parse(input) }));
}

import { describe, expect, onTestFinished, test } from "vitest";
import { call, calls, say } from "../../agents/inline-world.ts";
import { serveAgents } from "../../agents/serve-agents.ts";
import { APIS, type Api, agentOf, askPrompt } from "./providers.ts";

const DONE = "done";
/** What each API says for how an answer has ended, and the code of a step whose answer it is. */
const ENDS: Readonly<Record<Api, readonly (readonly [reason: string | null, code: string])[]>> = {
  anthropic: [
    ["end_turn", DONE],
    ["stop_sequence", DONE],
    ["max_tokens", "OUTPUT_CUT"],
    ["model_context_window_exceeded", "MODEL_CONTEXT_TOO_LONG"],
    ["refusal", "MODEL_REFUSED"],
    ["compaction", "MODEL_END_UNKNOWN"],
    ["a_new_reason", "MODEL_END_UNKNOWN"],
    [null, "MODEL_END_UNKNOWN"],
  ],
  openai: [
    [null, DONE],
    ["max_output_tokens", "OUTPUT_CUT"],
    ["content_filter", "MODEL_REFUSED"],
    ["max_tool_calls", "MODEL_END_UNKNOWN"],
  ],
  google: [
    ["STOP", DONE],
    ["MAX_TOKENS", "OUTPUT_CUT"],
    ...["SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"].map(
      (reason) => [reason, "MODEL_REFUSED"] as const,
    ),
    ["OTHER", "MODEL_END_UNKNOWN"],
    ["FINISH_REASON_UNSPECIFIED", "MODEL_END_UNKNOWN"],
  ],
  chat: [
    ["stop", DONE],
    ["eos", DONE],
    ["length", "OUTPUT_CUT"],
    ["model_length", "MODEL_CONTEXT_TOO_LONG"],
    ["content_filter", "MODEL_REFUSED"],
    ["sensitive", "MODEL_REFUSED"],
    ["error", "MODEL_UNAVAILABLE"],
    ["insufficient_system_resource", "MODEL_UNAVAILABLE"],
    ["a_new_reason", "MODEL_END_UNKNOWN"],
    ["", "MODEL_END_UNKNOWN"],
  ],
};
const TABLE = APIS.flatMap((api) => ENDS[api].map(([reason, code]) => ({ api, reason, code })));

describe.each(TABLE)("$api: an answer that ends with $reason", ({ api, reason, code }) => {
  const expected = code === DONE ? { status: "succeeded" } : { status: "failed", code };

  test(`is ${code} for an agent`, async () => {
    const { ask } = await agentOf(api, [say("Half a sent", { reason })]);
    expect(await ask()).toMatchObject(expected);
  });

  test(`is ${code} for a prompt, and for one whose schema the text fits`, async () => {
    expect((await askPrompt(api, [say("12", { reason })])).outcome).toMatchObject(expected);
    const asked = { outputFormat: "json", outputSchema: { type: "integer" } };
    expect((await askPrompt(api, [say("12", { reason })], asked)).outcome).toMatchObject(expected);
  });
});

test.each(TABLE.filter(({ code }) => code !== DONE && code !== "OUTPUT_CUT" && code !== "MODEL_UNAVAILABLE"))(
  "$api: of a turn that ends with $reason no tool is called, and the failure names the reason",
  async ({ api, reason, code }) => {
    if (reason === null || reason === "") return;
    const { ask, booked, requests } = await agentOf(api, [call("book", { city: "Paris" }, { reason })]);
    const message = expect.stringContaining(JSON.stringify(reason));
    expect(await ask()).toMatchObject({
      status: "failed",
      code,
      message,
      effect: "none",
      costMicro: api === "chat" ? null : expect.any(Number),
    });
    expect(booked).toEqual([]);
    expect(requests).toHaveLength(1);
  },
);

describe.each(APIS)("%s", (api) => {
  test("of a turn that is cut no tool is called, and the model is told that it was cut", async () => {
    const cut = { ...calls(["book", { city: "Paris" }]), ended: "length" as const };
    const half = say("", { calls: [{ name: "book", json: '{"city": "Par' }], ended: "length" });
    const { ask, booked, requests } = await agentOf(api, [cut, half, call("book", { city: "Rome" }), say("Done.")]);
    expect(await ask()).toMatchObject({ status: "succeeded", output: { text: "Done." } });
    expect(booked).toEqual([{ city: "Rome" }]);
    const told = requests[3]?.shown.messages.flatMap(({ results }) => results.map(({ text }) => text)) ?? [];
    expect(told).toEqual([
      expect.stringContaining("cut off at the token limit"),
      expect.stringContaining("cut off at the token limit"),
      expect.stringContaining("Booked as 1."),
    ]);
  });

  test("the last turn of an agent that is cut is an answer that is cut", async () => {
    const { ask, booked } = await agentOf(api, [call("book", {}, { ended: "length" })]);
    expect(await ask({ max_iterations: 2 })).toMatchObject({ code: "OUTPUT_CUT" });
    expect(booked).toEqual([]);
  });

  test("an empty answer after a tool has been called fails, and lists the tool", async () => {
    const { ask } = await agentOf(api, [call("book", { city: "Paris" }), say("")]);
    expect(await ask()).toMatchObject({
      status: "failed",
      code: "AGENT_NO_RESPONSE",
      effect: "unknown",
      message: expect.stringContaining("book"),
      details: { tools_called: ["book"] },
    });
  });

  test("a stream without its last word is asked for once more, and may have been paid", async () => {
    const broken = say("Half a sentence", { breaks: { after: 1, how: api === "chat" ? "cut" : "end" } });
    const { ask, paid, requests } = await agentOf(api, [broken], { patienceMs: 60_000 });
    expect(await ask()).toMatchObject({ status: "failed", code: "MODEL_UNREACHABLE", retryable: true });
    expect(requests).toHaveLength(2);
    expect(paid).toEqual([null, null]);
  });
});

test("google: a call that the provider could not read is told to the model", async () => {
  const { ask, booked, requests } = await agentOf("google", [
    say("", { reason: "MALFORMED_FUNCTION_CALL" }),
    call("book", { city: "Rome" }),
    say("Done."),
  ]);
  expect(await ask()).toMatchObject({ status: "succeeded", output: { text: "Done." } });
  expect(booked).toEqual([{ city: "Rome" }]);
  expect(requests[1]?.shown.messages.at(-1)?.text).toContain("could not be read");
});

describe("a turn that the provider pauses", () => {
  const search = { query: "Paris", found: [{ url: "https://a.example", title: "A" }] };

  test("is sent back as it is, and the agent goes on", async () => {
    const paused = say("Still searching.", { search, thinking: "Hm.", ended: "pause" });
    const { ask, requests, paid } = await agentOf("anthropic", [paused, paused, say("Found.")]);
    expect(await ask()).toMatchObject({ status: "succeeded", output: { text: "Found." } });
    expect(requests[1]?.body["messages"]).toMatchObject([
      { role: "user" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm." },
          { type: "server_tool_use", input: { query: "Paris" } },
          { type: "web_search_tool_result", content: [{ url: "https://a.example" }] },
          { type: "text", text: "Still searching." },
        ],
      },
    ]);
    expect(paid).toHaveLength(3);
  });

  test("counts as one of the agent's turns", async () => {
    const { ask, requests } = await agentOf("anthropic", [say("Still searching.", { ended: "pause" })]);
    expect(await ask({ max_iterations: 3 })).toMatchObject({ code: "AGENT_TURNS_EXHAUSTED" });
    expect(requests).toHaveLength(3);
  });

  test("of a prompt goes on too, but not for ever", async () => {
    const paused = say("Still thinking.", { ended: "pause" });
    expect((await askPrompt("anthropic", [paused, say("Done.")])).outcome).toMatchObject({ output: "Done." });
    const { outcome, requests } = await askPrompt("anthropic", [paused]);
    expect(outcome).toMatchObject({ status: "failed", code: "OUTPUT_CUT" });
    expect(requests.length).toBeLessThan(15);
  });
});

test("agents file: half an answer is not handed on to the next agent", async () => {
  const agent = (name: string) => ({ name, client_ids: [], model: "fake:m", system_prompt: `You are ${name}.` });
  const file = { agents: [agent("A"), agent("B")], workflows: [{ name: "W", steps: ["A", "B"] }] };
  const served = await serveAgents({
    files: { "agents.json": JSON.stringify(file) },
    replies: () => say("Half a sent", { ended: "length" }),
  });
  onTestFinished(() => served.close());
  const { body } = await served.post("/workflows/W/execute", { initial_user_message: "Go." });
  expect(body).toMatchObject({ status: "failed", error: expect.stringContaining("was cut off at the token limit") });
  expect(served.model.requests).toHaveLength(1);
});

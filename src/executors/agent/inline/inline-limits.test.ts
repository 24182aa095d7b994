import { describe, expect, test } from "vitest";
import { call, inlineWorld, say, tool } from "../../../../test/agents/inline-world.ts";
import type { JsonObject } from "../../../core/json.ts";

const READ = [tool("read", () => "a line")];
const USED = { usage: { input: 1_000, output: 1_000 } };
const SCORE = { type: "object", properties: { score: { type: "integer" } }, required: ["score"] };

describe("limits", () => {
  test("turns: the tools of the last one are not called", async () => {
    let called = 0;
    const world = await inlineWorld([call("read")], { tools: [tool("read", () => String(called++))] });

    expect(await world.ask({ max_iterations: 3 })).toMatchObject({
      code: "AGENT_TURNS_EXHAUSTED",
      retryable: false,
      effect: "unknown",
      usage: { calls: 3 },
    });
    expect(called).toBe(2);
    expect(world.requests).toHaveLength(3);
  });

  test("money: no turn begins that is not covered, and what was spent is kept", async () => {
    const world = await inlineWorld([call("read", {}, USED)], { tools: READ });

    expect(await world.ask({}, { maxCostMicro: 16_000 })).toMatchObject({
      code: "BUDGET_EXCEEDED",
      costMicro: 12_000,
      message: expect.stringContaining("$0.004 is left"),
      outspent: { goesOn: true },
    });
    expect(world.requests).toHaveLength(2);
  });

  test("money: with more of it another attempt goes on, and pays nothing twice", async () => {
    const world = await inlineWorld([call("read", {}, USED), call("read", {}, USED), say("Done.", USED)], {
      tools: READ,
    });
    expect(await world.ask({}, { maxCostMicro: 16_000 })).toMatchObject({ costMicro: 12_000 });
    expect(await world.ask({}, { maxCostMicro: 20_000, attempt: 2 })).toMatchObject({
      status: "succeeded",
      costMicro: 6_000,
    });
    expect(world.requests).toHaveLength(3);
  });

  test("an answer that is cut off at the agent's own limit is final, whatever a budget still has", async () => {
    const world = await inlineWorld([say("Half of", { ...USED, ended: "length" })]);
    const limits = { max_cost_usd: 0.01, max_tokens: 4_096 };
    const outcome = await world.ask(limits, { maxCostMicro: 1_000_000 });
    expect(outcome).toMatchObject({ code: "STEP_BUDGET_EXCEEDED", costMicro: 6_000 });
    expect(outcome).not.toHaveProperty("outspent");
    expect(await world.ask({ max_tokens: 4_096 }, { maxCostMicro: 10_000 })).toMatchObject({
      outspent: { goesOn: true },
    });
  });

  test("the agent's own limit counts what earlier attempts have paid", async () => {
    const world = await inlineWorld([call("read", {}, USED)], { tools: READ });
    world.records.set("turn-1", {
      parts: [{ type: "call", id: "c1", name: "read", input: {}, isProviders: false }],
      ended: "tools",
      usage: { input: 1_000, output: 1_000, cache_read: 0, cache_write: 0 },
      cost_micro: 6_000,
      model: "claude-haiku-4-5",
    });

    const outcome = await world.ask({ max_cost_usd: 0.01 }, { attempt: 2 });

    expect(outcome).toMatchObject({ code: "STEP_BUDGET_EXCEEDED", costMicro: 6_000 });
    expect(outcome).not.toHaveProperty("outspent");
    expect(world.requests).toHaveLength(1);
  });

  test("tokens", async () => {
    const world = await inlineWorld([call("read", {}, USED)], { tools: READ });
    expect(await world.ask({ max_total_tokens: 3_000 })).toMatchObject({ code: "AGENT_TOKENS_EXHAUSTED" });
    expect(world.requests).toHaveLength(2);
  });

  test("a model without a price is not asked under a budget", async () => {
    const world = await inlineWorld([say("Hi.")]);
    expect(await world.ask({ model: "local:phi" }, { maxCostMicro: 10 })).toMatchObject({ code: "PRICE_UNKNOWN" });
    expect(world.requests).toEqual([]);
  });

  test("without a budget its cost is unknown, never nothing", async () => {
    const world = await inlineWorld([say("Hi.")]);
    expect(await world.ask({ model: "local:phi" })).toMatchObject({ status: "succeeded", costMicro: null });
  });
});

describe("a provider in trouble", () => {
  const patient = { tools: READ, patienceMs: 10_000 };
  const troubles = [
    ["too many requests, with a time", { do: "refuse", status: 429, headers: { "retry-after": "0" } }],
    ["overload", { do: "refuse", status: 529, headers: { "retry-after": "0" } }],
    ["a stream that is cut", say("Half of the answer", { breaks: { after: 3, how: "cut" } })],
    ["an event that is no JSON", say("Half of the answer", { breaks: { after: 3, how: "garble" } })],
    ["an error in the middle of the stream", say("Half of the answer", { breaks: { after: 3, how: "error" } })],
  ] as const;
  for (const [name, trouble] of troubles) {
    test(`${name}: the turn is asked again, and the turns before are not`, async () => {
      const world = await inlineWorld([call("read"), trouble, say("Done.")], patient);

      expect(await world.ask({})).toMatchObject({ status: "succeeded", output: { text: "Done." } });
      expect(world.requests).toHaveLength(3);
      expect([...world.records.keys()].filter((key) => /^turn-\d+$/.test(key))).toEqual(["turn-1", "turn-2"]);
    });
  }

  test("whoever watches is told the server, the cause and when it is asked again", async () => {
    const world = await inlineWorld(
      [{ do: "refuse", status: 529, headers: { "retry-after": "0" } }, say("Done.")],
      patient,
    );

    await world.ask({});

    const told = world.progress.flatMap((each) => (each.type === "live" ? [each.event] : []));
    expect(told.filter(({ type }) => type === "retry")).toEqual([
      { type: "retry", host: expect.stringMatching(/^127\.0\.0\.1:\d+$/), cause: "529", again_at: expect.any(String) },
    ]);
  });

  test("one that wants more time than there is fails for the step's retry policy, and the next attempt goes on", async () => {
    const late = { do: "refuse", status: 429, headers: { "retry-after": "3600" } } as const;
    const world = await inlineWorld([call("read"), late, say("Done.")], patient);

    expect(await world.ask({})).toMatchObject({
      code: "MODEL_RATE_LIMITED",
      retryable: true,
      effect: "unknown",
      details: { retry_after: "3600" },
    });
    expect(await world.ask({}, { attempt: 2 })).toMatchObject({ status: "succeeded" });
    expect(world.requests).toHaveLength(3);
  });

  test("waiting ends at once when the attempt is stopped", async () => {
    const late = { do: "refuse", status: 429, headers: { "retry-after": "9" } } as const;
    const world = await inlineWorld([late], patient);
    const stop = new AbortController();
    const emit = () => stop.abort();

    expect(
      await world.ask(
        {},
        { emit: ({ ...told }) => (JSON.stringify(told).includes("again in") ? emit() : undefined) },
        stop.signal,
      ),
    ).toMatchObject({ status: "failed" });
  });

  test("a conversation that is too long says so", async () => {
    const world = await inlineWorld([
      { do: "refuse", status: 400, message: "prompt is too long: 210000 tokens > 200000 maximum" },
    ]);
    expect(await world.ask({})).toMatchObject({ code: "MODEL_CONTEXT_TOO_LONG", retryable: false, effect: "none" });
  });
});

describe("answers", () => {
  test("with a schema the value is there, and one that does not fit is asked for again", async () => {
    const world = await inlineWorld([call("read"), say("Seven."), say('{"score": 7}')], { tools: READ });

    expect(await world.ask({ output_schema: SCORE })).toMatchObject({
      status: "succeeded",
      repaired: true,
      output: { text: '{"score": 7}', structured: { score: 7 } },
    });
    expect(world.requests[2]?.shown.messages.at(-1)?.text).toContain("does not fit");
  });

  test("repairs are bounded", async () => {
    const world = await inlineWorld([say("Seven.")]);
    expect(await world.ask({ output_schema: SCORE, repairs: 1 })).toMatchObject({
      code: "OUTPUT_INVALID",
      retryable: true,
    });
    expect(world.requests).toHaveLength(2);
  });

  test("no response is a failure, and the turn is not kept", async () => {
    const silent = await inlineWorld([say("")]);
    expect(await silent.ask({})).toMatchObject({ code: "AGENT_NO_RESPONSE", retryable: true });
    expect(silent.records.size).toBe(0);
  });

  test("a step gets its answer as an agent server would give it", async () => {
    const world = await inlineWorld([call("weather__read"), say('```json\n{"score": 7}\n```')], {
      tools: [
        tool("weather__read", () => "x"),
        tool("other", () => "y", { server: "other", aliases: ["other.other"] }),
      ],
    });
    const input: JsonObject = {
      prompt: "Score it.",
      model: "anthropic:claude-haiku-4-5",
      output_schema: SCORE,
      files: { "notes.txt": "Acme builds rockets." },
      tools: ["weather.*"],
    };

    expect(await world.run(input)).toMatchObject({ status: "succeeded", output: { score: 7 } });
    expect(world.wanted).toMatchObject([{ clients: ["weather"] }]);
    const { shown } = world.requests[0] ?? {};
    expect(shown?.tools.map(({ name }) => name)).toEqual(["weather__read"]);
    expect(shown?.messages[0]?.text).toContain("Acme builds rockets.");
  });

  test("a step without tools opens no toolbox", async () => {
    const world = await inlineWorld([say("Hi.")]);
    expect(await world.run({ prompt: "Hi" })).toMatchObject({ status: "succeeded", output: "Hi." });
    expect(world.wanted).toEqual([]);
  });
});

describe("sessions", () => {
  const asks = (message: string, agent: JsonObject = {}) => {
    return { agent: { name: "A", include_history: true, ...agent }, message, session_id: "s1" };
  };

  test("an agent that includes history knows what was said in its session, and no other's", async () => {
    const world = await inlineWorld(({ shown }) => say(`Answer to ${shown.messages.at(-1)?.text}`));
    await world.run(asks("one"), { idempotencyKey: "r1" });
    world.records.clear();
    await world.run(asks("two"), { idempotencyKey: "r2" });
    world.records.clear();
    await world.run(asks("three", { name: "B" }), { idempotencyKey: "r3" });
    world.records.clear();
    await world.run(asks("four", { include_history: false }), { idempotencyKey: "r4" });

    expect(world.requests.map(({ shown }) => shown.messages.map(({ text }) => text))).toEqual([
      ["one"],
      ["one", "Answer to one", "two"],
      ["three"],
      ["four"],
    ]);
  });

  test("a crash neither loses nor doubles an exchange, and changes nothing of what the agent knew", async () => {
    const world = await inlineWorld(({ shown }) => say(`Answer to ${shown.messages.at(-1)?.text}`));
    await world.run(asks("one"), { idempotencyKey: "r1" });
    // The outcome was lost after everything was recorded: the step is done once more.
    await world.run(asks("one"), { idempotencyKey: "r1", attempt: 2 });
    world.records.clear();
    await world.run(asks("two"), { idempotencyKey: "r2" });

    expect(world.requests.map(({ shown }) => shown.messages.length)).toEqual([1, 3]);
  });

  test("runs of one session at the same time are all kept", async () => {
    const world = await inlineWorld(({ shown }) => say(`Answer to ${shown.messages.at(-1)?.text}`));
    const noRecords = { record: async () => {}, recorded: async () => undefined };
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        world.run(asks(`m${index}`), { idempotencyKey: `k${index}`, ...noRecords }),
      ),
    );
    await world.run(asks("last"), { idempotencyKey: "last", ...noRecords });
    expect(world.requests.at(-1)?.shown.messages).toHaveLength(21);
  });
});

test("a mock model plays an agent's turns, and its tools are really called", async () => {
  const script = [
    "steps:",
    "  Weather Agent:",
    "    - {call: {name: read, input: {city: Paris}}, say: Let me see.}",
    "    - {reply: Sunny.}",
  ];
  const { mkdtempSync, writeFileSync } = await import("node:fs");
  const { tmpdir } = await import("node:os");
  const { join } = await import("node:path");
  const folder = mkdtempSync(join(tmpdir(), "pawl-mock-"));
  writeFileSync(join(folder, "play.yaml"), script.join("\n"));
  const world = await inlineWorld([], { tools: READ, models: { folder, delayFactor: 0 } });

  expect(await world.ask({ model: "mock:play.yaml" })).toMatchObject({
    status: "succeeded",
    output: { text: "Sunny.", tool_uses: [{ name: "read", input: { city: "Paris" }, output: "a line" }] },
  });
  expect(world.requests).toEqual([]);
});

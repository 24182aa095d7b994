import { describe, expect, test } from "vitest";
import { calls, inlineWorld, say, tool } from "../../../../test/agents/inline-world.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { toRefused } from "../../output/failure.ts";

const CITY = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const KEY = "turn-1/call-2/approval";

/** A turn that reads and books, of which booking needs a yes; and what was called. */
async function world() {
  const called: string[] = [];
  const tools = [
    tool("read", () => String(called.push("read"))),
    tool("book", ({ city }) => String(called.push(`book ${String(city)}`)), { inputSchema: CITY }),
  ];
  const made = await inlineWorld([calls(["read", {}], ["book", { city: "Paris" }]), say("Done.")], { tools });
  const ask = (attempt = 1) => made.ask({ approve: ["weather.book"] }, { attempt });
  const answer = (said: JsonObject) => made.records.set(KEY, said as Json);
  return { ...made, called, askAgent: ask, answer };
}

describe("a tool that needs a person's yes", () => {
  test("is asked for with its arguments; the others of the turn are called meanwhile", async () => {
    const { askAgent, called } = await world();
    expect(await askAgent()).toMatchObject({
      status: "asks",
      key: KEY,
      message: 'The agent "Weather Agent" wants to call the tool "book" of the server "weather".',
      show: { city: "Paris" },
      allowEdit: true,
      costMicro: expect.any(Number),
    });
    expect(called).toEqual(["read"]);
  });

  const answers = [
    ["a yes", { answer: "approve" }, ["read", "book Paris"], { is_error: false, output: "2" }],
    [
      "a yes to other arguments",
      { answer: "approve", edited: { city: "Rome" } },
      ["read", "book Rome"],
      { is_error: false, input: { city: "Rome" }, output: expect.stringContaining("changed the arguments") },
    ],
    [
      "a yes to arguments that do not fit",
      { answer: "approve", edited: { city: 7 } },
      ["read"],
      { is_error: true, output: expect.stringMatching(/A person has changed the arguments.*must be string/s) },
    ],
    [
      "a no, with its reason",
      { answer: "reject", comment: "Too far." },
      ["read"],
      { is_error: true, output: expect.stringMatching(/not allowed.*Too far\./) },
    ],
    ["a skip", { answer: "skip" }, ["read"], { is_error: true, output: expect.stringContaining("skipped") }],
  ] as const;
  for (const [name, said, done, told] of answers) {
    test(`${name} is what the model is told, and nothing is paid or done twice`, async () => {
      const { askAgent, answer, called, requests } = await world();
      await askAgent();
      answer(said as JsonObject);
      const outcome = await askAgent(2);

      expect(outcome).toMatchObject({ status: "succeeded", output: { tool_uses: [{ name: "read" }, told] } });
      expect(called).toEqual(done);
      expect(requests).toHaveLength(2);
    });
  }

  test("is not asked for when its arguments do not fit anyway", async () => {
    const made = await inlineWorld([calls(["book", {}]), say("Done.")], {
      tools: [tool("book", () => "", { inputSchema: CITY })],
    });
    expect(await made.ask({ approve: ["weather.*"] })).toMatchObject({ status: "succeeded" });
  });
});

describe("a name that is to hold a tool back and matches none", () => {
  const start = (setup: Partial<Parameters<typeof inlineWorld>[1]> = {}) =>
    inlineWorld([calls(["book", {}]), say("Done.")], { tools: [tool("book", () => "booked")], ...setup });

  test.each([["boook"], ["weather.boook"], ["book*"], ["wether.*"]])(
    "%s stops the agent before it is paid",
    async (name) => {
      const made = await start();
      expect(await made.ask({ approve: ["weather.book", name] })).toMatchObject({
        status: "failed",
        code: "TOOL_GUARD_IDLE",
        message: expect.stringContaining(`\`${name}\` under \`approve\` matches no tool of the agent "Weather Agent".`),
        costMicro: 0,
      });
      expect(made.requests).toEqual([]);
    },
  );

  test("does no harm where the server that it names is missing, or the agent has no tool", async () => {
    const failed = { status: "failed", code: "MCP_SERVER_UNREACHABLE", message: "It is gone.", costMicro: 0 } as never;
    const missing = [{ server: "mail", failed, isOptional: true }];
    expect(await (await start({ missing })).ask({ approve: ["book", "mail.send"] })).toMatchObject({ status: "asks" });
    const alone = await inlineWorld([say("Done.")], {});
    expect(await alone.ask({ approve: ["book"] })).toMatchObject({ status: "succeeded" });
  });
});

test("what the agent says and does is shown while it happens", async () => {
  const made = await inlineWorld([calls(["read", {}]), say("Done now.")], { tools: [tool("read", () => "a line")] });
  await made.ask({});
  const live = made.progress.flatMap((told) => (told.type === "live" ? [told.event] : []));
  expect(live.map(({ type }) => type)).toEqual(["tool_call", "turn", "tool_result", "text", "text", "turn"]);
  expect(
    live
      .filter(({ type }) => type === "text")
      .map(({ text }) => text)
      .join(""),
  ).toBe("Done now.");
});

describe("a name that matches no tool", () => {
  const gone = (server: string) => [{ server, failed: toRefused("MCP_UNREACHABLE", "It is gone."), isOptional: true }];
  const idle: readonly (readonly [string, JsonObject, Partial<Parameters<typeof inlineWorld>[1]>])[] = [
    ["under `approve`, though a server is missing: it is a slip", { approve: ["boook"] }, { missing: gone("maps") }],
    ["of one server, while another is missing", { approve: ["mcp__weather__order"] }, { missing: gone("maps") }],
    [
      "under `exclude`, of an agent with built-in tools alone",
      { tools: ["bash"], exclude: ["bsh"], mcp_servers: [], clients: [] },
      {},
    ],
  ];
  for (const [name, agent, given] of idle) {
    test(`${name}: stops the agent before its model is asked`, async () => {
      const tools = [tool("book", () => "booked")];
      const { ask, requests } = await inlineWorld([say("Done.")], { tools, ...given });
      expect(await ask(agent)).toMatchObject({ status: "failed", code: "TOOL_GUARD_IDLE" });
      expect(requests).toHaveLength(0);
    });
  }

  test("of a server that is missing holds nothing back that could be called", async () => {
    const tools = [tool("book", () => "booked")];
    const { ask } = await inlineWorld([say("Done.")], { tools, missing: gone("maps") });
    expect(await ask({ approve: ["maps.route", "plan_tour"] })).toMatchObject({ status: "succeeded" });
  });

  test("a built-in tool that an agent excludes is not offered", async () => {
    const { server: _, ...builtIn } = tool("web_fetch", () => "", { aliases: [] });
    const { ask, requests } = await inlineWorld([say("Done.")], { builtIns: [builtIn] });
    await ask({ tools: ["web_fetch"], exclude: ["web_fetch"], clients: [] });
    expect(JSON.stringify(requests)).not.toContain("web_fetch");
  });
});

describe("a tool whose server asks a person", () => {
  const QUESTION = {
    key: "turn-1/call-1/asks",
    message: "How many?",
    show: {},
    allowEdit: true,
    schema: { type: "object" },
  };

  /** Asks before its first call ends, and is told the answer. */
  async function asking(isLive: boolean) {
    const called: string[] = [];
    const book: ReturnType<typeof tool> = {
      ...tool("book", () => ""),
      rests: async () => isLive,
      async call(_, { memory }) {
        const told = await memory?.recorded(QUESTION.key);
        called.push(told === undefined ? "asked" : "booked");
        const answered = { isError: false, content: [], text: "done" };
        return told === undefined ? { ...answered, text: "", asks: QUESTION } : answered;
      },
    };
    const made = await inlineWorld([calls(["book", {}]), say("Done.")], { tools: [book] });
    const first = await made.ask({});
    made.records.set(QUESTION.key, { answer: "approve", edited: { seats: 2 } });
    return { called, first, second: await made.ask({}, { attempt: 2 }) };
  }

  test("waits with its form, and goes on with the answer where it was", async () => {
    const { called, first, second } = await asking(true);
    expect(first).toMatchObject({ status: "asks", ...QUESTION, costMicro: expect.any(Number) });
    expect(second).toMatchObject({ status: "succeeded", output: { tool_uses: [{ name: "book", output: "done" }] } });
    expect(called).toEqual(["asked", "booked"]);
  });

  test("is not called again where the call was cut off meanwhile, and might act twice", async () => {
    const { called, second } = await asking(false);
    expect(second).toMatchObject({ output: { tool_uses: [{ output: expect.stringContaining("unknown") }] } });
    expect(called).toEqual(["asked"]);
  });
});

describe("a tool that is another one than the agent has used", () => {
  const CHANGED = { key: "pin a.b/1", message: "It has changed.", show: { before: 1, now: 2 } };

  test("is asked for before the model reads a word of it", async () => {
    const changed = { ...tool("book", () => ""), findChange: async () => CHANGED };
    const { ask, requests } = await inlineWorld([say("Done.")], { tools: [changed] });
    expect(await ask({})).toMatchObject({ status: "asks", ...CHANGED });
    expect(requests).toEqual([]);
  });

  test("is left out where a person has said no", async () => {
    const changed = { ...tool("book", () => ""), findChange: async () => "refused" as const };
    const { ask, requests } = await inlineWorld([say("Done.")], { tools: [changed, tool("read", () => "")] });
    expect(await ask({})).toMatchObject({ status: "succeeded" });
    expect(JSON.stringify(requests[0])).not.toContain("book");
  });
});

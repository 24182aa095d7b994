import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { inlineWorld, tool } from "../../../../test/agents/inline-world.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import type { ProviderKind } from "../../models/models-options.ts";

type Raw = (outgoing: ServerResponse, index: number) => void;

interface Heard {
  readonly path: string | undefined;
  readonly key: unknown;
  readonly body: JsonObject;
}

/** A server that answers each request with exactly these bytes. */
async function rawServer(...answers: readonly Raw[]) {
  const heard: Heard[] = [];
  const server = createServer(async (incoming, outgoing) => {
    let body = "";
    for await (const chunk of incoming) body += String(chunk);
    const key = incoming.headers["x-api-key"] ?? incoming.headers.authorization;
    heard.push({ path: incoming.url, key, body: JSON.parse(body || "{}") as JsonObject });
    const index = heard.length - 1;
    (answers[index] ?? answers.at(-1))?.(outgoing, index);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, heard };
}

async function agentAt(url: string, kind: ProviderKind = "anthropic", patienceMs = 0) {
  const called: JsonObject[] = [];
  const look = tool("look", (args) => {
    called.push(args);
    return "18 °C";
  });
  const world = await inlineWorld([], {
    tools: [look],
    patienceMs,
    models: {
      default: "odd:claude-haiku-4-5",
      providers: { odd: { kind, base_url: url, api_key: "sk-odd-0123456789" } },
    },
  });
  return { ...world, called };
}

const sse =
  (...events: readonly JsonObject[]): Raw =>
  (outgoing) =>
    void stream(outgoing).end(events.map(toEvent).join(""));

function stream(outgoing: ServerResponse): ServerResponse {
  return outgoing.writeHead(200, { "content-type": "text/event-stream" });
}

const toEvent = (data: JsonObject) => `event: ${String(data["type"])}\ndata: ${JSON.stringify(data)}\n\n`;

const START = {
  type: "message_start",
  message: { id: "m", type: "message", role: "assistant", model: "claude-haiku-4-5", content: [], stop_reason: null },
};
const USED = { input_tokens: 3, output_tokens: 1 };
const started = (usage: JsonObject | undefined = USED): JsonObject =>
  usage === undefined ? START : { ...START, message: { ...START.message, usage } };
const block = (index: number, start: JsonObject, ...deltas: readonly JsonObject[]): readonly JsonObject[] => [
  { type: "content_block_start", index, content_block: start },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];
const text = (index: number, ...pieces: readonly string[]) =>
  block(index, { type: "text", text: "" }, ...pieces.map((piece) => ({ type: "text_delta", text: piece })));
const use = (index: number, id: string, json: string, name = "look") =>
  block(index, { type: "tool_use", id, name, input: {} }, { type: "input_json_delta", partial_json: json });
const end = (reason: string | null, usage: JsonObject | undefined = USED): readonly JsonObject[] => [
  { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage },
  { type: "message_stop" },
];
const SAID = [started(), ...text(0, "Régen ", "🌧 in Paris."), ...end("end_turn")];
const finished = sse(...SAID);
const results = ({ body }: Heard): readonly Json[] => {
  const messages = body["messages"] as readonly { readonly content: readonly JsonObject[] }[];
  return messages.flatMap(({ content }) => content).filter(({ type }) => type === "tool_result");
};

describe("a stream of a provider", () => {
  const whole = SAID.map(toEvent).join("");
  const odd: readonly (readonly [string, Buffer])[] = [
    ["in pieces of three bytes", Buffer.from(whole)],
    ["with CRLF", Buffer.from(whole.replaceAll("\n", "\r\n"))],
    [
      "with comments and pings between",
      Buffer.from(whole.replaceAll("\n\n", '\n\n: keep\n\nevent: ping\ndata: {"type":"ping"}\n\n')),
    ],
    ["with a byte order mark", Buffer.from(`\uFEFF${whole}`)],
    ["with other fields", Buffer.from(whole.replaceAll("event:", "id: 7\nretry: 100\nfoo: bar\nevent:"))],
    [
      "with events and blocks that nobody knows",
      Buffer.from(
        [...SAID.slice(0, 1), { type: "weather_update", wind: 7 }, ...SAID.slice(1, -2), ...end("end_turn")]
          .map(toEvent)
          .join(""),
      ),
    ],
  ];
  for (const [name, bytes] of odd) {
    test(`${name} is read as it is meant`, async () => {
      const { url } = await rawServer(async (outgoing) => {
        stream(outgoing);
        for (let at = 0; at < bytes.length; at += 3) {
          outgoing.write(bytes.subarray(at, at + 3));
          if (at % 30 === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        outgoing.end();
      });
      const { ask } = await agentAt(url);
      expect(await ask({})).toMatchObject({ status: "succeeded", output: { text: "Régen 🌧 in Paris." } });
    });
  }
});

describe("what a model gets wrong in a call", () => {
  const WRONG: readonly (readonly [string, string, RegExp])[] = [
    ["no JSON", '{"city": "Pa', /not a JSON object/],
    ["a list", '["Paris"]', /not a JSON object/],
    ["a text", '"Paris"', /not a JSON object/],
    ["a wrong type", '{"city": 7}', /must be string/],
  ];
  for (const [name, json, told] of WRONG) {
    test(`${name} for arguments is told, and nothing is called`, async () => {
      const { url, heard } = await rawServer(sse(started(), ...use(0, "t1", json), ...end("tool_use")), finished);
      const { ask, called } = await agentAt(url);
      expect(await ask({})).toMatchObject({ status: "succeeded" });
      expect(called).toEqual([]);
      expect(JSON.stringify(results(heard[1] as Heard))).toMatch(told);
    });
  }

  test("no arguments at all are none", async () => {
    const { url } = await rawServer(sse(started(), ...use(0, "t1", ""), ...end("tool_use")), finished);
    const { ask, called } = await agentAt(url);
    expect(await ask({})).toMatchObject({ status: "succeeded" });
    expect(called).toEqual([{}]);
  });

  test("one id for two calls: each has its own result", async () => {
    const two = sse(started(), ...use(0, "t1", '{"city":"A"}'), ...use(1, "t1", '{"city":"B"}'), ...end("tool_use"));
    const { url, heard } = await rawServer(two, finished);
    const { ask, called } = await agentAt(url);
    expect(await ask({})).toMatchObject({ status: "succeeded" });
    expect(called).toHaveLength(2);
    const ids = results(heard[1] as Heard).map((each) => (each as JsonObject)["tool_use_id"]);
    expect(new Set(ids).size).toBe(2);
  });

  for (const reason of ["end_turn", "stop_sequence", null]) {
    test(`a call in a turn that stopped with ${reason} is made`, async () => {
      const { url } = await rawServer(sse(started(), ...use(0, "t1", '{"city":"A"}'), ...end(reason)), finished);
      const { ask, called } = await agentAt(url);
      expect(await ask({})).toMatchObject({ status: "succeeded" });
      expect(called).toEqual([{ city: "A" }]);
    });
  }

  test("a call that was cut at the limit of tokens is not made with half of its arguments", async () => {
    const { url } = await rawServer(sse(started(), ...use(0, "t1", '{"city":"Pa'), ...end("max_tokens")), finished);
    const { ask, called } = await agentAt(url);
    await ask({});
    expect(called).toEqual([]);
  });
});

describe("an answer without an answer", () => {
  const THOUGHT = block(0, { type: "thinking", thinking: "" }, { type: "thinking_delta", thinking: "Hm." });
  const EMPTY: readonly (readonly [string, readonly JsonObject[], string])[] = [
    ["no content", [started(), ...end("end_turn")], "AGENT_NO_RESPONSE"],
    ["an empty text", [started(), ...text(0, ""), ...end("end_turn")], "AGENT_NO_RESPONSE"],
    ["thoughts alone", [started(), ...THOUGHT, ...end("end_turn")], "AGENT_NO_TEXT"],
  ];
  for (const [name, events, code] of EMPTY) {
    test(`${name} is ${code}`, async () => {
      const { url } = await rawServer(sse(...events));
      const { run } = await agentAt(url);
      const outcome = await run({ agent: { name: "A" }, message: "Paris?", step: 1, needs_text: true });
      expect(outcome).toMatchObject({ status: "failed", code });
    });
  }

  test("without a count of tokens costs an unknown amount, not nothing", async () => {
    const chunk = (delta: JsonObject, reason: string | null) =>
      `data: ${JSON.stringify({ id: "c", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
    const { url } = await rawServer((outgoing) =>
      stream(outgoing).end(
        `${chunk({ role: "assistant", content: "Rain." }, null)}${chunk({}, "stop")}data: [DONE]\n\n`,
      ),
    );
    const { ask } = await agentAt(url, "openai-compatible");
    expect(await ask({})).toMatchObject({ status: "succeeded", costMicro: null, output: { text: "Rain." } });
  });

  const page: Raw = (outgoing) => outgoing.writeHead(200, { "content-type": "text/html" }).end("<html>Login</html>");
  for (const kind of ["anthropic", "openai", "openai-compatible", "google"] as const) {
    test(`a page in the place of one fails, and may be tried again (${kind})`, async () => {
      const { url } = await rawServer(page);
      const { ask } = await agentAt(url, kind);
      const outcome = await ask({});
      expect(outcome).toMatchObject({ status: "failed", retryable: true, costMicro: null });
      expect(outcome).toMatchObject({ code: expect.stringMatching(/^MODEL_(UNAVAILABLE|UNREACHABLE)$/) });
    });

    test(`a redirect is not followed: keys and conversations stay with their provider (${kind})`, async () => {
      const elsewhere = await rawServer(finished);
      for (const status of [301, 302, 307, 308]) {
        const { url } = await rawServer((outgoing) => outgoing.writeHead(status, { location: elsewhere.url }).end());
        const { ask } = await agentAt(url, kind);
        expect(await ask({})).toMatchObject({ status: "failed", code: "MODEL_REFUSED" });
      }
      expect(elsewhere.heard).toEqual([]);
    });
  }
});

describe("how long a provider wants to be left alone", () => {
  const limited =
    (after: string): Raw =>
    (outgoing) =>
      outgoing.writeHead(429, { "retry-after": after, "content-type": "application/json" }).end("{}");

  for (const [name, after] of [
    ["seconds", "0.01"],
    ["a date that is past", new Date(Date.now() - 60_000).toUTCString()],
    ["seconds that are less than none", "-5"],
    ["nonsense", "soon"],
  ] as const) {
    test(`${name}: it is asked again`, async () => {
      const { url, heard } = await rawServer(limited(after), finished);
      const { ask } = await agentAt(url, "anthropic", 5_000);
      expect(await ask({})).toMatchObject({ status: "succeeded" });
      expect(heard).toHaveLength(2);
    });
  }

  for (const [name, after] of [
    ["a far date", "Wed, 21 Oct 2099 07:28:00 GMT"],
    ["many seconds", "86400"],
  ] as const) {
    test(`${name}: the step fails, and its retry policy has the word`, async () => {
      const { url, heard } = await rawServer(limited(after), finished);
      const { ask } = await agentAt(url, "anthropic", 5_000);
      expect(await ask({})).toMatchObject({ status: "failed", code: "MODEL_RATE_LIMITED", retryable: true });
      expect(heard).toHaveLength(1);
    });
  }
});

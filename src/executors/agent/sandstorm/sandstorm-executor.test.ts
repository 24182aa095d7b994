import { createServer } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { type Purse, withPurse } from "../../../../test/fakes/purse.ts";
import { agentTask, type RecordedTask } from "../../../../test/fakes/sandstorm/agent-task.ts";
import { assistant, result, toolResult } from "../../../../test/fakes/sandstorm/documents.ts";
import {
  type FakeOptions,
  type FakeSandstorm,
  type Play,
  startFakeSandstorm,
} from "../../../../test/fakes/sandstorm/fake-sandstorm.ts";
import { conversation, SCENARIOS, type ScenarioName, stream } from "../../../../test/fakes/sandstorm/scenarios.ts";
import { createSimulatedPlay } from "../../../../test/fakes/sandstorm/simulated-play.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Failed, Outcome, Task } from "../../../ports/executor.ts";
import { createOutbound } from "../../outbound/outbound.ts";
import { createSandstormExecutor, type SandstormOptions } from "./sandstorm-executor.ts";

const outbound = createOutbound({ allow: [], environment: process.env });

const SCHEMA = { type: "object", properties: { score: { type: "integer" } }, required: ["score"] };
const KEYS = { apiKey: "k".repeat(32), anthropicApiKey: "sk-ant-secret-1234", e2bApiKey: "e2b_secret_5678" };

let server: FakeSandstorm | undefined;
afterEach(() => server?.close());

interface Asked {
  readonly outcome: Outcome;
  readonly task: RecordedTask;
  readonly server: FakeSandstorm;
  readonly elapsedMs: number;
}

interface Asking {
  readonly input?: JsonObject;
  readonly task?: Partial<Task> & Purse;
  readonly options?: Partial<SandstormOptions>;
  readonly fake?: Partial<FakeOptions>;
  readonly signal?: AbortSignal;
}

const TRACE_PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

async function ask(play: Play, asking: Asking = {}): Promise<Asked> {
  server = await startFakeSandstorm({ play, ...asking.fake });
  const executor = createSandstormExecutor({ outbound, baseUrl: server.url, ...asking.options });
  const task = agentTask(asking.input, asking.task);
  const startedAt = performance.now();
  const outcome = await executor.run(withPurse(task), asking.signal ?? new AbortController().signal);
  return { outcome, task, server, elapsedMs: performance.now() - startedAt };
}

type Expected = readonly [ScenarioName, Readonly<Record<string, unknown>>, Asking?];

describe("answers that arrive, however they are framed", () => {
  const done = { status: "succeeded", output: "done", costMicro: 12_300 };
  const table: readonly Expected[] = [
    ["crlf", done],
    ["lf", done],
    ["cr", done],
    ["joined documents", done],
    ["a document over several events", { status: "succeeded", output: "one-two-three" }],
    ["pieces and whole documents mixed", { status: "succeeded", output: "mixed" }],
    ["stderr between two pieces", { status: "succeeded", output: "whole" }],
    ["a piece that looks like a document", { status: "succeeded", output: "looks like one" }],
    ["a lost piece", done],
    ["npm notices", done],
    ["pings", done],
    ["bytes one by one", { status: "succeeded", output: "é€𝄞" }],
    ["no blank line at the end", done],
    ["reset after the result", done],
    ["a gigabyte declared", done],
    ["invalid utf-8", { status: "succeeded", output: "fine" }],
    ["deeply nested", { status: "succeeded", output: "fine" }],
    ["a second result", { status: "succeeded", output: "first" }],
    ["silence after the result", done, { options: { afterResultMs: 40 } }],
    ["pings for ever after the result", done, { options: { afterResultMs: 40 } }],
    ["slow but alive", done, { options: { idleTimeoutMs: 400 } }],
    ["no cost", { status: "succeeded", costMicro: null }],
    ["fallback to the last message", { status: "succeeded", output: "final" }],
    ["a message in blocks", { status: "succeeded", output: "second\nthird" }],
  ];
  for (const [name, expected, asking] of table) {
    test(name, async () => {
      const { outcome } = await ask(SCENARIOS[name], asking);
      expect(outcome).toMatchObject(expected);
    });
  }
});

describe("answers that should have a form", () => {
  const withSchema = { input: { output_schema: SCHEMA } };
  const table: readonly Expected[] = [
    ["fenced json", { status: "succeeded", output: { score: 7 } }, withSchema],
    ["json in prose", { status: "succeeded", output: { score: 7 } }, withSchema],
    ["fenced json", { status: "succeeded", output: { score: 7 } }],
    ["json in prose", { status: "succeeded", output: 'Here it is, as asked [1]:\n{"score": 7}\nAnything else?' }],
    [
      "invalid json for the schema",
      {
        code: "OUTPUT_INVALID",
        retryable: true,
        costMicro: 12_300,
        details: { errors: [{ path: "/score", message: "must be integer" }] },
      },
      withSchema,
    ],
    ["invalid structured output", { code: "OUTPUT_INVALID", retryable: true, effect: "done" }, withSchema],
    [
      "prose instead of json",
      { code: "OUTPUT_INVALID", details: { errors: [{ path: "", message: "holds no JSON" }] } },
      withSchema,
    ],
    ["empty", { code: "OUTPUT_EMPTY", retryable: true, costMicro: 12_300 }],
    ["empty", { code: "OUTPUT_EMPTY" }, withSchema],
    ["a deeply nested answer", { code: "OUTPUT_INVALID" }, withSchema],
  ];
  for (const [name, expected, asking] of table) {
    test(`${name}${asking === undefined ? "" : ", with a schema"}`, async () => {
      const { outcome } = await ask(SCENARIOS[name], asking);
      expect(outcome).toMatchObject(expected);
    });
  }

  for (const value of [0, false, "", [], {}, null]) {
    test(`a structured output of ${JSON.stringify(value)} is an answer`, async () => {
      const play = () => stream([result({ structured_output: value, result: "ignored" })]);
      expect((await ask(play)).outcome).toMatchObject({ status: "succeeded", output: value });
    });
  }

  test("a server that makes its answers up fits the schema over the wire", async () => {
    const { outcome } = await ask(createSimulatedPlay({ delayFactor: 0 }), withSchema);
    expect(outcome).toMatchObject({
      status: "succeeded",
      output: { score: expect.any(Number) },
      costMicro: expect.any(Number),
    });
  });

  test("a schema that cannot be used fails before anything is asked", async () => {
    const { outcome, server } = await ask(SCENARIOS.crlf, { input: { output_schema: { type: "no such type" } } });
    expect(outcome).toMatchObject({ code: "SCHEMA_INVALID", retryable: false, effect: "none", costMicro: 0 });
    expect(server.requests).toEqual([]);
  });
});

describe("failures", () => {
  const cut = { status: "failed", code: "AGENT_STREAM_CUT", retryable: true, effect: "unknown", costMicro: null };
  const table: readonly Expected[] = [
    ["no result", cut],
    ["nothing at all", cut],
    ["half a result", cut],
    ["reset", cut],
    ["reset before the head", cut],
    [
      "idle",
      { code: "AGENT_IDLE", retryable: true, effect: "unknown", costMicro: null },
      { options: { idleTimeoutMs: 60 } },
    ],
    ["silence before the head", { code: "AGENT_IDLE", effect: "unknown" }, { options: { idleTimeoutMs: 60 } }],
    ["error event", { code: "AGENT_FAILED", retryable: true, message: "The agent failed: Sandbox could not start" }],
    ["error event, then silence", { code: "AGENT_FAILED" }],
    ["success with is_error", { code: "AGENT_ERROR_RESULT", retryable: false, costMicro: 12_300 }],
    ["overloaded", { code: "AGENT_ERROR_RESULT", retryable: true }],
    ["rate limited, said in a member", { code: "AGENT_ERROR_RESULT", retryable: true }],
    [
      "error_max_turns",
      {
        code: "AGENT_ERROR_RESULT",
        retryable: false,
        costMicro: 1_402_094,
        message: "The agent gave up (error_max_turns): Reached maximum number of turns (40)",
        details: { subtype: "error_max_turns", errors: ["Reached maximum number of turns (40)"] },
        usage: { num_turns: 41 },
      },
    ],
    ["error_max_budget_usd", { code: "AGENT_ERROR_RESULT", retryable: false }],
    ["error_during_execution", { code: "AGENT_ERROR_RESULT", retryable: true, effect: "done" }],
    ["400", { code: "AGENT_REFUSED", retryable: false, effect: "none", costMicro: 0 }],
    ["401", { code: "AGENT_UNAUTHORIZED", retryable: false, effect: "none" }],
    ["403 that repeats the header", { code: "AGENT_UNAUTHORIZED", retryable: false }],
    [
      "422 that repeats the request",
      { code: "AGENT_REFUSED", retryable: false, details: { status: 422, answer: "body.prompt: Field required" } },
    ],
    ["422 in plain text", { code: "AGENT_REFUSED", retryable: false }],
    ["429", { code: "AGENT_REFUSED", retryable: true, effect: "none", details: { retry_after: "7" } }],
    ["500", { code: "AGENT_FAILED", retryable: true, effect: "unknown", costMicro: null }],
    ["503", { code: "AGENT_FAILED", retryable: true, effect: "none" }],
    ["redirect", { code: "AGENT_REFUSED", retryable: false, effect: "none" }],
    ["a web page", { code: "AGENT_REFUSED", retryable: false }],
    ["compressed", { code: "AGENT_REFUSED", retryable: false }],
    ["an endless line", { code: "OUTPUT_TOO_LARGE", retryable: false }],
    ["an endless event", { code: "OUTPUT_TOO_LARGE", retryable: false }],
    ["a refusal without end", { code: "AGENT_REFUSED", retryable: false }],
  ];
  for (const [name, expected, asking] of table) {
    test(name, async () => {
      const { outcome } = await ask(SCENARIOS[name], asking);
      expect(outcome).toMatchObject({ status: "failed", ...expected });
    });
  }

  test.each([
    ["what it may, which is the budget's matter", 12_300, { outspent: { goesOn: false } }],
    ["less, which is a limit of its server's own", 12_301, {}],
  ])("an agent that stops for money has spent %s", async (_, maxCostMicro, told) => {
    const { outcome } = await ask(SCENARIOS.error_max_budget_usd, { task: { maxCostMicro } });
    const { outspent } = outcome as Failed;
    expect(outspent === undefined ? {} : { outspent }).toEqual(told);
  });

  test("a server that does not run cannot be reached, and nothing was done", async () => {
    const executor = createSandstormExecutor({ outbound, baseUrl: "http://127.0.0.1:1" });
    const outcome = await executor.run(agentTask(), new AbortController().signal);
    expect(outcome).toMatchObject({
      code: "AGENT_UNREACHABLE",
      retryable: true,
      effect: "none",
      costMicro: 0,
      message: "http://127.0.0.1:1/query cannot be reached (ECONNREFUSED).",
    });
  });

  test("a name that does not resolve cannot be reached", async () => {
    const executor = createSandstormExecutor({ outbound, baseUrl: "http://no-such-host.invalid" });
    const outcome = await executor.run(agentTask(), new AbortController().signal);
    expect(outcome).toMatchObject({ code: "AGENT_UNREACHABLE", retryable: true, effect: "none" });
  });

  test("a connection that is never ready counts as unreachable", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    await new Promise((resolve) => silent.once("listening", resolve));
    const address = silent.address();
    const port = typeof address === "object" ? address?.port : 0;
    const executor = createSandstormExecutor({ outbound, baseUrl: `https://127.0.0.1:${port}`, connectTimeoutMs: 60 });
    const outcome = await executor.run(agentTask(), new AbortController().signal);
    silent.close();
    expect(outcome).toMatchObject({ code: "AGENT_UNREACHABLE", retryable: true, effect: "none" });
  });

  test("without any server configured it says so", async () => {
    const outcome = await createSandstormExecutor({ outbound }).run(agentTask(), new AbortController().signal);
    expect(outcome).toMatchObject({ code: "AGENT_NOT_CONFIGURED", retryable: false, effect: "none" });
  });
});

describe("stopping", () => {
  test("an aborted attempt ends at once and its connection is closed", async () => {
    const controller = new AbortController();
    const heard = agentTask({}, { emit: () => controller.abort() });
    const { outcome, server } = await ask(SCENARIOS.idle, { signal: controller.signal, task: { emit: heard.emit } });
    expect(outcome).toMatchObject({ status: "failed", code: "INTERRUPTED", effect: "unknown", costMicro: null });
    expect(await server.requests[0]?.isAbandoned).toBe(true);
  });

  test("a result that came before the abort is kept with its cost", async () => {
    const controller = new AbortController();
    const emit: Task["emit"] = (progress) => {
      if (progress.type === "log" && JSON.stringify(progress.event).includes('"result"')) controller.abort();
    };
    const { outcome } = await ask(SCENARIOS["silence after the result"], { signal: controller.signal, task: { emit } });
    expect(outcome).toMatchObject({ status: "succeeded", output: "done", costMicro: 12_300 });
  });

  test("an attempt that is aborted beforehand asks nothing", async () => {
    const { outcome, server } = await ask(SCENARIOS.crlf, { signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ code: "INTERRUPTED", effect: "none", costMicro: 0 });
    expect(server.requests).toEqual([]);
  });

  test("an idle server is left, not only given up", async () => {
    const { server } = await ask(SCENARIOS.idle, { options: { idleTimeoutMs: 60 } });
    expect(await server.requests[0]?.isAbandoned).toBe(true);
  });
});

describe("the request", () => {
  test("carries the task in the words of the server", async () => {
    const { server } = await ask(SCENARIOS.crlf, {
      input: { output_schema: SCHEMA, files: { "a.txt": "A" } },
      task: { maxCostMicro: 250_000, traceParent: TRACE_PARENT },
      options: KEYS,
      fake: { apiKey: KEYS.apiKey },
    });
    const [request] = server.requests;
    expect(request?.body).toEqual({
      prompt: "Score the company Acme.",
      model: "sonnet",
      max_turns: 5,
      timeout: 60,
      output_format: { type: "json_schema", schema: SCHEMA },
      files: { "a.txt": "A" },
      max_budget_usd: 0.25,
      anthropic_api_key: KEYS.anthropicApiKey,
      e2b_api_key: KEYS.e2bApiKey,
    });
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${KEYS.apiKey}`,
      "content-type": "application/json",
      accept: "text/event-stream",
      "idempotency-key": "run-1%2Fscore%2F0",
      traceparent: TRACE_PARENT,
    });
  });

  test("leaves out what is not known", async () => {
    const { server } = await ask(SCENARIOS.crlf, { input: { model: null, max_turns: null, timeout: null } });
    expect(server.requests[0]?.body).toEqual({ prompt: "Score the company Acme." });
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
    expect(server.requests[0]?.headers).not.toHaveProperty("traceparent");
  });

  for (const [given, sent] of [
    [1, 5],
    [59.2, 60],
    [100_000, 3_600],
  ] as const) {
    test(`a time-out of ${given} s is sent as ${sent}`, async () => {
      const { server } = await ask(SCENARIOS.crlf, { input: { timeout: given } });
      expect(server.requests[0]?.body["timeout"]).toBe(sent);
    });
  }

  test("goes below the path of the base URL, with or without a slash at its end", async () => {
    for (const suffix of ["", "/"]) {
      const fake = await startFakeSandstorm({ play: SCENARIOS.crlf, basePath: "/agents/v1" });
      const executor = createSandstormExecutor({ outbound, baseUrl: `${fake.url}${suffix}` });
      expect(await executor.run(agentTask(), new AbortController().signal)).toMatchObject({ status: "succeeded" });
      expect(fake.requests[0]?.path).toBe("/agents/v1/query");
      await fake.close();
    }
  });

  test("goes to the definition's own server first", async () => {
    const elsewhere = await startFakeSandstorm({ play: SCENARIOS.crlf });
    const { outcome, server } = await ask(SCENARIOS["500"], { task: { settings: { sandstorm_url: elsewhere.url } } });
    await elsewhere.close();
    expect(outcome).toMatchObject({ status: "succeeded" });
    expect(server.requests).toEqual([]);
  });

  test("takes no keys to another server than the configured one", async () => {
    const elsewhere = await startFakeSandstorm({ play: SCENARIOS.crlf });
    const { task } = await ask(SCENARIOS["500"], {
      task: { settings: { sandstorm_url: elsewhere.url } },
      options: KEYS,
    });
    await elsewhere.close();
    expect(elsewhere.requests[0]?.headers.authorization).toBeUndefined();
    expect(elsewhere.requests[0]?.body).not.toHaveProperty("anthropic_api_key");
    expect(task.logged[0]).toMatchObject({ type: "note" });
  });

  test("an unset variable in the definition's server means the configured one", async () => {
    const { outcome } = await ask(SCENARIOS.crlf, {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as definitions write it
      task: { settings: { sandstorm_url: "${SANDSTORM_URL}" } },
      options: { expandEnv: () => "" },
    });
    expect(outcome).toMatchObject({ status: "succeeded" });
  });
});

describe("what is booked and kept", () => {
  test("usage is that of the result", async () => {
    const { outcome } = await ask(SCENARIOS.crlf);
    expect(outcome.usage).toEqual({
      input_tokens: 10,
      output_tokens: 20,
      cache_creation_input_tokens: 30,
      cache_read_input_tokens: 40,
      num_turns: 3,
      duration_ms: 4_200,
      duration_api_ms: 4_000,
    });
  });

  test("produced files are kept with the names they were given", async () => {
    const { outcome, task } = await ask(SCENARIOS["files after the result"]);
    const files = outcome.status === "succeeded" ? outcome.files : [];
    expect(files?.map((file) => [file.name, Buffer.from(file.content).toString()])).toEqual([
      ["report.md", "# Report"],
      ["../../etc/passwd", "evil"],
    ]);
    expect(JSON.stringify(task.logged)).not.toContain(Buffer.from("evil").toString("base64"));
  });

  test("more files than may be kept are noted, not kept", async () => {
    const { outcome, task } = await ask(SCENARIOS["too many files"]);
    expect(outcome.status === "succeeded" && outcome.files?.length).toBe(100);
    expect(task.logged.filter((event) => event["type"] === "note")).toHaveLength(30);
  });

  test("every document is logged in its order, noise too", async () => {
    const { task } = await ask(SCENARIOS["npm notices"]);
    expect(task.logged).toEqual([
      { type: "noise", text: "npm notice New minor version of npm available!" },
      ...conversation(),
      { type: "noise", text: "npm warn deprecated" },
    ]);
  });

  test("a huge document is logged by its beginning", async () => {
    const { task } = await ask(SCENARIOS["a huge document"]);
    expect(task.logged[0]).toMatchObject({ type: "user", truncated: true });
    expect(JSON.stringify(task.logged[0]).length).toBeLessThan(80_000);
  });

  test("a log without end is cut, but ends with the result", async () => {
    const { outcome, task } = await ask(SCENARIOS["a log without end"]);
    expect(outcome).toMatchObject({ status: "succeeded", output: "fine" });
    expect(task.logged).toHaveLength(10_002);
    expect(task.logged.at(-2)).toMatchObject({ type: "note" });
    expect(task.logged.at(-1)).toMatchObject({ type: "result" });
  });

  test("an agent that speaks for a sub-agent last is not quoted", async () => {
    const play = () =>
      stream([
        assistant("mine", { id: "a" }),
        assistant("theirs", { id: "b", parent: "t-1" }),
        toolResult("x"),
        result({ result: undefined }),
      ]);
    expect((await ask(play)).outcome).toMatchObject({ output: "mine" });
  });
});

describe("keys", () => {
  const leaking: readonly ScenarioName[] = [
    "401",
    "403 that repeats the header",
    "422 that repeats the request",
    "422 in plain text",
    "keys in the answer",
    "keys in an error",
    "keys in noise",
  ];
  for (const name of leaking) {
    test(`never come out again: ${name}`, async () => {
      const { outcome, task } = await ask(SCENARIOS[name], { options: KEYS });
      const files =
        outcome.status === "succeeded" ? (outcome.files ?? []).map((file) => Buffer.from(file.content).toString()) : [];
      const everything = JSON.stringify([outcome, task.logged, files]);
      for (const key of Object.values(KEYS)) expect(everything).not.toContain(key);
    });
  }

  test("are masked before a long text is cut, or half of one would be left", async () => {
    const play: Play = () => ({
      status: 400,
      headers: {},
      moves: [{ do: "send", bytes: `${"x".repeat(1_990)}${KEYS.anthropicApiKey}` }],
    });
    const { outcome } = await ask(play, { options: KEYS });
    expect(JSON.stringify(outcome)).not.toContain("sk-ant");
  });
});

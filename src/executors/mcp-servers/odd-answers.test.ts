import { afterAll, expect, test } from "vitest";
import { openPool } from "../../../test/fakes/mcp-server/open-pool.ts";
import { entry, oldSettings } from "../../../test/fakes/mcp-server/server-entries.ts";
import { startOldHttp } from "../../../test/fakes/mcp-server/start-http-server.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Failed } from "../../ports/executor.ts";
import { McpFailure } from "./mcp-failure.ts";
import { McpServers } from "./mcp-servers.ts";
import type { ServerEntry, ServerSettings } from "./server-entry.ts";

const NEVER = new AbortController().signal;
const WAYS = ["stdio", "http"] as const;
type Way = (typeof WAYS)[number];

/** To start a server is what takes the time, and no test minds who was there before. */
const SHARED = openPool({ connectTimeoutMs: 20_000 }, (close) => afterAll(close));

const GOOD = '{"content":[{"type":"text","text":"ok"}]}';
const answer = (result: string) => `{"jsonrpc":"2.0","id":ID,"result":${result}}`;
const OK = [{ type: "text", text: "ok" }];

for (const way of WAYS) {
  test(`what is null is absent, and what does not matter may be missing: ${way}`, async () => {
    const servers = await open(way);
    for (const text of [
      answer('{"content":[{"type":"text","text":"ok"}],"_meta":null,"isError":null,"structuredContent":null}'),
      answer(
        '{"content":[{"type":"text","text":"ok","annotations":null,"_meta":null}],"nextCursor":null,"other":null}',
      ),
      `{"jsonrpc":"2.0","id":ID,"result":${GOOD},"error":null}`,
      `{"jsonrpc":"2.0","id":ID,"result":${GOOD},"method":null,"params":null,"took":7}`,
      `{"id":ID,"result":${GOOD}}`,
      `{"jsonrpc":"2.0","id":"ID","result":${GOOD}}`,
      `[${answer(GOOD)}]`,
      `\u{feff}${answer(GOOD)}\r`,
    ]) {
      expect(await callRaw(servers, [text]), text).toMatchObject({ content: OK });
    }
  });

  test(`a null in a tool's own value stays: ${way}`, async () => {
    const servers = await open(way);
    const text = answer('{"content":[],"structuredContent":{"a":null,"b":{"_meta":null},"c":[null]}}');
    const result = await callRaw(servers, [text]);
    expect(result.structuredContent).toEqual({ a: null, b: { _meta: null }, c: [null] });
    const mirrored = await call(servers, "mirror", { isError: null, list: [null, { x: null }] });
    expect(mirrored.structuredContent).toEqual({ isError: null, list: [null, { x: null }] });
  });

  for (const [what, texts, why] of [
    ["no JSON", ['{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"x":NaN}}}'], "it is no JSON"],
    ["JSON with its end missing", ['{"jsonrpc":"2.0","id":ID,"result":{"content":['], "it is no JSON"],
    ["JSON over several lines", ["{", '  "jsonrpc": "2.0",', '  "id": ID, oops', "}"], "it is no JSON"],
    ["a dictionary of Python", ["{'jsonrpc': '2.0', 'id': ID, 'result': {'content': []}}"], "it is no JSON"],
    ["content that is no list", [answer('{"content":"ok"}')], "`content` is wrong"],
    ["content of an unknown kind", [answer('{"content":[{"type":"video","data":"AAAA"}]}')], "`content.0` is wrong"],
    ["no content", [answer("{}")], "it has no content"],
    ["a result that is no object", [answer("[1]")], "its result is no object"],
    ["no result", ['{"jsonrpc":"2.0","id":ID}'], "its result is no object"],
    ["the id of another", ['{"jsonrpc":"2.0","id":70000,"result":{"content":[]}}'], "7000"],
    ["a page", ["<!DOCTYPE html><title>Oops</title>"], "DOCTYPE"],
    ["an error flag that is no flag", [answer('{"content":[],"isError":"yes"}')], "`isError` is wrong"],
  ] as const) {
    test(`an answer that cannot be read fails at once and is not asked for again, ${way}: ${what}`, async () => {
      const servers = await open(way);
      const before = await countRaw(servers);
      const startedAt = performance.now();
      const failed = await failureOf(callRaw(servers, texts));
      expect(performance.now() - startedAt).toBeLessThan(5_000);
      expect(failed).toMatchObject({ code: "MCP_RESULT_INVALID", effect: "unknown", retryable: false });
      expect(failed.message).toContain("its answer to `tools/call` cannot be read");
      if (way === "stdio" || texts.length === 1) expect(failed.message).toContain(why);
      expect(await countRaw(servers)).toBe(before + 1);
    });
  }

  test(`one bad tool is left out by its name, with the reason, and the others are there: ${way}`, async () => {
    const good = { name: "good", inputSchema: { type: "object", properties: { x: true } } };
    const list = (tools: unknown) => answer(JSON.stringify({ tools, nextCursor: null }));
    const bad = [
      { name: "required", inputSchema: { type: "object", required: null } },
      { name: "properties", inputSchema: { type: "object", properties: true } },
      { name: "schema", inputSchema: "object" },
      { name: "nothing", inputSchema: null },
    ];
    const nulls = { title: null, description: null, annotations: null, outputSchema: null, _meta: null, icons: null };
    const servers = await open(way, [`on:tools/list=${list([...bad, { ...good, ...nulls }])}`]);
    const { tools, warnings } = await servers.list("odd", NEVER);
    expect(tools.map(({ name }) => name)).toEqual(["good"]);
    expect(warnings).toHaveLength(bad.length);
    for (const { name } of bad) expect(warnings.join("\n")).toContain(`its tool "${name}" was left out: `);
    const unknown = await failureOf(call(servers, "properties", {}));
    expect(unknown).toMatchObject({
      code: "MCP_TOOL_UNKNOWN",
      message: expect.stringContaining("properties` is wrong"),
    });
    const empty = await open(way, [`on:tools/list=${list(null)}`]);
    expect(await empty.list("odd", NEVER)).toEqual({ tools: [], warnings: [] });
  });

  test(`nulls in the answer to the handshake are absent: ${way}`, async () => {
    const result = {
      protocolVersion: "2024-11-05",
      capabilities: { tools: { listChanged: null }, prompts: null, logging: null, experimental: null },
      serverInfo: { name: "odd", version: "1", title: null },
      instructions: null,
      _meta: null,
    };
    const servers = await open(way, [`on:initialize=${answer(JSON.stringify(result))}`]);
    expect(await callRaw(servers, [answer(GOOD)])).toMatchObject({ content: OK });
  });

  for (const method of ["initialize", "tools/list"]) {
    test(`a server that hangs on ${method} fails in its time to connect, and says so: ${way}`, async () => {
      const servers = await open(way, [`hang=${method}`], { timeout_ms: 3_000 });
      const failed = await failureOf(servers.list("odd", NEVER));
      expect(failed).toMatchObject({ effect: "none", retryable: true });
      expect(failed.message).toContain("did not answer in time");
      expect(failed.message).toContain(`\`${method}\``);
    });

    test(`an answer to ${method} that cannot be read is told with its beginning: ${way}`, async () => {
      const servers = await open(way, [`on:${method}={"jsonrpc":"2.0","id":ID,"result":{"x":NaN}}`]);
      const failed = await failureOf(servers.list("odd", NEVER));
      expect(failed).toMatchObject({ effect: "none", retryable: true });
      expect(failed.message).toContain(`its answer to \`${method}\` cannot be read (it is no JSON: "{\\"jsonrpc`);
    });
  }

  test(`whoever stops waiting for the tools of a server is told what it waited for: ${way}`, async () => {
    const servers = await open(way, ["hang=tools/list"]);
    const failed = await failureOf(call(servers, "raw", {}, AbortSignal.timeout(300)));
    expect(failed).toMatchObject({ code: "INTERRUPTED", effect: "none" });
    expect(failed.message).toContain('the MCP server "odd" had not said which tools it has');
  });
}

const PAGE = "<!DOCTYPE html><title>We will be back</title>";

for (const [what, response, why] of [
  ["a page as JSON", { texts: [PAGE], type: "application/json" }, `it is no JSON: "${PAGE}"`],
  ["a page", { texts: [PAGE], type: "text/html; charset=utf-8" }, `it is no JSON: "${PAGE}"`],
  ["a page as events", { texts: [PAGE], type: "text/event-stream" }, `it holds no answer: "${PAGE}"`],
  ["an empty body", { texts: [] }, "(nothing came)"],
  ["an empty stream", { texts: [], type: "text/event-stream" }, "(nothing came)"],
  ["an event that is no JSON", { texts: ['data: {"jsonrpc":', ""], type: "text/event-stream" }, "it is no JSON"],
  ["nothing but a word of a gateway", { texts: ["data: [DONE]", ""], type: "text/event-stream" }, "[DONE]"],
  [
    "another's answer as events",
    { texts: ['data: {"jsonrpc":"2.0","id":9999,"result":{}}', ""], type: "text/event-stream" },
    "9999",
  ],
  ["an error of a gateway", { texts: ['{"error":"unauthorized"}'] }, "unauthorized"],
] as const) {
  test(`an answer over HTTP that is none fails at once and is not asked for again: ${what}`, async () => {
    const servers = await open("http");
    const failed = await failureOf(call(servers, "raw", { ...response, texts: [...response.texts] }));
    expect(failed).toMatchObject({ code: "MCP_RESULT_INVALID", effect: "unknown", retryable: false });
    expect(failed.message).toContain(why);
    expect(await countRaw(servers)).toBe(1);
  });
}

test("answers that are events, in any number of lines and without a blank line at the end, are read", async () => {
  const servers = await open("http");
  const noise = ["data: [ping]", "", ": comment", "", "event: other", "data: {", ""];
  for (const text of [`data: ${answer(GOOD)}`, `data: \u{feff}${answer(GOOD).replace(",", ",\ndata: ")}`]) {
    const response = { texts: [...noise, ...text.split("\n")], type: "text/event-stream" };
    expect(await call(servers, "raw", response)).toMatchObject({ content: OK });
  }
});

for (const [status, facts] of [
  [500, { effect: "unknown", retryable: false }],
  [502, { effect: "unknown", retryable: false }],
  [429, { effect: "none", retryable: true }],
  [503, { effect: "none", retryable: true }],
] as const) {
  test(`a call that is answered with HTTP ${status} is told with the page, and may be repeated or not`, async () => {
    const servers = await open("http");
    const failed = await failureOf(call(servers, "raw", { texts: [PAGE], status }));
    expect(failed).toMatchObject({ code: "MCP_UNREACHABLE", ...facts });
    expect(failed.message).toContain(`HTTP ${status}: ${JSON.stringify(PAGE)}`);
  });
}

test("lines of logs are no answers, and a call that times out tells the last one", async () => {
  const servers = await open("stdio", [], { timeout: 800 });
  const logs = [
    "INFO {1}",
    '{"level":30,"id":3,"result":"x"}',
    '{"id":3}',
    "{'a': 1}",
    "[1,2]",
    "null",
    "",
    "[INFO] id 3",
  ];
  expect(await callRaw(servers, [...logs, answer(GOOD)])).toMatchObject({ content: OK });
  const failed = await failureOf(callRaw(servers, [...logs, "Traceback: it went wrong"]));
  expect(failed).toMatchObject({ code: "TIMEOUT", message: expect.stringContaining("Traceback: it went wrong") });
  expect(failed.retryable).toBe(false);
  expect(await failureOf(callRaw(servers, []))).toMatchObject({ code: "TIMEOUT", retryable: true });
});

test("a broken answer of which nobody knows whose it is fails the call that is left without one", async () => {
  const servers = await open("stdio");
  await callRaw(servers, [answer(GOOD)]);
  const slow = Array.from({ length: 5 }, () => call(servers, "whoami", { caller: "me" }));
  const broken = failureOf(callRaw(servers, ['{"result": {"content": [']));
  for (const result of await Promise.all(slow)) expect(result.content).toMatchObject([{ type: "text" }]);
  expect(await broken).toMatchObject({ code: "MCP_RESULT_INVALID", retryable: false });
});

test("an answer to a notification is no answer to a request, and late answers are for nobody", async () => {
  const refused = '{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"I do not know that."}}';
  const servers = await open("stdio", [`on:notifications/initialized=${refused}`]);
  expect(await callRaw(servers, ['{"jsonrpc":"2.0","id":0,"result":{}}', answer(GOOD)])).toMatchObject({ content: OK });
});

test("errors are read however they are written", async () => {
  const servers = await open("stdio");
  for (const [error, message] of [
    ['"boom"', "boom (-32603)"],
    ['{"code":"E7","message":"boom","data":null}', "boom (-32603)"],
    ['{"code":-32000}', '{"code":-32000} (-32000)'],
  ]) {
    const failed = await failureOf(callRaw(servers, [`{"jsonrpc":"2.0","id":ID,"error":${error},"result":null}`]));
    expect(failed).toMatchObject({ code: "MCP_TOOL_FAILED", message: expect.stringContaining(message ?? "") });
  }
});

test("what is told of an answer is masked", async () => {
  const servers = await open("stdio", [], { env: { TOKEN: "hunter-2-hunter" } });
  const failed = await failureOf(callRaw(servers, ['{"jsonrpc":"2.0","id":ID,"result":"hunter-2-hunter" oops}']));
  expect(failed.message).toContain("[redacted]");
  expect(failed.message).not.toContain("hunter-2");
});

async function open(way: Way, faults: readonly string[] = [], more: Partial<ServerSettings> = {}): Promise<McpServers> {
  const settings =
    way === "stdio" ? { ...oldSettings(faults), ...more } : { url: (await startOldHttp(faults)).url, ...more };
  const entries = new Map<string, ServerEntry>([["odd", entry(settings as ServerSettings)]]);
  return new McpServers({
    folder: process.cwd(),
    env: () => undefined,
    entries: async () => entries,
    pool: SHARED,
    timeoutMs: 20_000,
  });
}

async function call(servers: McpServers, tool: string, args: JsonObject, signal = NEVER) {
  return (await servers.call({ server: "odd", tool, arguments: args }, signal)).result;
}

function callRaw(servers: McpServers, texts: readonly string[]) {
  return call(servers, "raw", { texts: [...texts] });
}

async function countRaw(servers: McpServers): Promise<number> {
  return Number(Object((await call(servers, "count_raw", {})).content[0]).text);
}

async function failureOf(promise: Promise<unknown>): Promise<Failed> {
  const error = await promise.then(
    (value) => new Error(`It succeeded: ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  if (error instanceof McpFailure) return error.failed;
  throw error;
}

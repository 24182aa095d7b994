import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { mcpTask } from "../../../test/fakes/mcp-server/mcp-task.ts";
import { openPool } from "../../../test/fakes/mcp-server/open-pool.ts";
import { entry, everything, fake } from "../../../test/fakes/mcp-server/server-entries.ts";
import { startFakeHttp } from "../../../test/fakes/mcp-server/start-http-server.ts";
import { answerJson, startEndpoint } from "../../../test/fakes/uhlp-endpoint.ts";
import { MemoryFileStorage } from "../../../test/support/memory/memory-file-storage.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Executor } from "../../ports/executor.ts";
import { JsonSchemas } from "../../schemas/json-schemas.ts";
import { createCoreTools } from "../core-tools/core-tools.ts";
import { McpServers } from "../mcp-servers/mcp-servers.ts";
import type { ServerEntry } from "../mcp-servers/server-entry.ts";
import { createMcpExecutor } from "./mcp-executor.ts";
import { UhlpEndpoint, type UhlpEndpointOptions } from "./uhlp-endpoint.ts";

const NEVER = new AbortController().signal;

/** To start a server is what takes the time, and no test minds who was there before. */
const SHARED = openPool({}, (close) => afterAll(close));

test("structured content is the output", async () => {
  const outcome = await run({ tool: "everything.get-structured-content", arguments: { location: "Chicago" } });
  expect(outcome).toMatchObject({ status: "succeeded", output: { conditions: expect.any(String) }, costMicro: 0 });
  expect(outcome.usage).toEqual({
    tool: "everything.get-structured-content",
    calls: 1,
    duration_ms: expect.any(Number),
  });
});

for (const [what, text, output] of [
  ["an object", '{"a": [1, null]}', { a: [1, null] }],
  ["a number", "42", 42],
  ["text that is none", "Hello.", "Hello."],
  ["a number that would lose something", "007", "007"],
  ["a large integer", "12345678901234567890", 12345678901234567890n],
  ["too many digits", "0.12345678901234567890", "0.12345678901234567890"],
  ["a text in quotes", '"quoted"', "quoted"],
] as const) {
  test(`a text is parsed where nothing is lost: ${what}`, async () => {
    expect(await run({ tool: "fake.say", arguments: { text } })).toMatchObject({ output });
  });
}

test("several texts are lines of one", async () => {
  expect(await run({ tool: "fake.texts" })).toMatchObject({ output: "a\nb\nc" });
});

test("an image becomes a file, and the output says which", async () => {
  const outcome = await run({ tool: "get-tiny-image", server: "everything" });
  expect(outcome).toMatchObject({
    output: { content: [{ type: "image", mimeType: "image/png", file: "content-1.png" }], text: expect.any(String) },
    files: [{ name: "content-1.png" }],
  });
  const content = outcome.status === "succeeded" ? outcome.files?.[0]?.content : undefined;
  expect(
    Buffer.from(content ?? [])
      .subarray(1, 4)
      .toString(),
  ).toBe("PNG");
});

test("sounds, resources and links stand in the output with what is known of them", async () => {
  expect(await run({ tool: "fake.sound" })).toMatchObject({
    output: {
      text: "Listen:",
      content: [
        { type: "audio", mimeType: "audio/x-wav", file: "content-1.wav", bytes: 4 },
        { type: "resource", uri: "file:///a.txt", mimeType: "text/plain", text: "inside" },
        { type: "resource_link", uri: "https://example.com/b", name: "b" },
      ],
    },
    files: [{ name: "content-1.wav", content: Buffer.from("beep") }],
  });
});

test("a tool's error is the step's, with its text and what it says beside", async () => {
  expect(await run({ tool: "fake.fail" })).toMatchObject({
    status: "failed",
    code: "MCP_TOOL_FAILED",
    message: "The disk is on fire.",
    details: { shelf: 7 },
    effect: "unknown",
    isAnswered: true,
    usage: { tool: "fake.fail", calls: 1 },
  });
});

test("a result that does not fit the tool's own schema is a failure after the fact", async () => {
  for (const tool of ["fake.wrong_structure", "fake.no_structure"]) {
    expect(await run({ tool })).toMatchObject({ code: "MCP_RESULT_INVALID", effect: "done" });
  }
});

test("a result that nests too deeply is a failure after the fact", async () => {
  expect(await run({ tool: "fake.nest", arguments: { levels: 5_000 } })).toMatchObject({
    code: "MCP_RESULT_INVALID",
    message: "The result of `fake.nest` is nested too deeply: more than 500 levels.",
    effect: "done",
  });
});

test.each([
  ["fake.beyond", {}],
  ["web.beyond", {}],
  ["fake.say", { text: '{"x": 1e400}' }],
])("a result with a number that nothing can hold is a failure after the fact: %s", async (tool, args) => {
  const { url } = await startFakeHttp();
  expect(await run({ tool, arguments: args }, { fake: fake(), web: entry({ type: "http", url }) })).toMatchObject({
    code: "MCP_RESULT_INVALID",
    message: expect.stringContaining("The number 1e400"),
  });
});

test("arguments are checked before the call; what has a default may be left out", async () => {
  expect(await run({ tool: "fake.add", arguments: { a: "two" } })).toMatchObject({
    code: "MCP_ARGUMENTS_INVALID",
    effect: "none",
    message: expect.stringContaining("/a must be number"),
  });
  expect(await run({ tool: "fake.add", arguments: { a: 2 } })).toMatchObject({ output: { sum: 3 } });
});

test("progress is told to the step's log", async () => {
  const { task, events } = mcpTask({
    tool: "everything.trigger-long-running-operation",
    arguments: { duration: 0.3, steps: 3 },
  });
  expect(await open().run(task, NEVER)).toMatchObject({ status: "succeeded" });
  // The last one comes together with the answer, and may be lost.
  expect(events.slice(0, 2)).toEqual([
    { type: "progress", progress: 1, total: 3 },
    { type: "progress", progress: 2, total: 3 },
  ]);
});

test("the server is told the idempotency key and the ids of the request", async () => {
  const traceId = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const outcome = await run({ tool: "fake.echo", arguments: { x: 1 }, context: { requestId: "r", traceId } });
  expect(outcome).toMatchObject({
    output: {
      args: { x: 1 },
      meta: {
        "pawl/idempotency-key": "run:step:1",
        "pawl/run-id": "run",
        "pawl/request-id": "r",
        "pawl/trace-id": traceId,
        traceparent: traceId,
      },
    },
  });
});

test("the server is told the span of the attempt, before what the request names", async () => {
  const given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  const traceParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  const { task } = mcpTask({ tool: "fake.echo", arguments: {}, context: { requestId: "r", traceId: given } });
  expect(await open().run({ ...task, traceParent }, NEVER)).toMatchObject({
    output: { meta: { "pawl/trace-id": given, traceparent: traceParent } },
  });
});

test("cancelling the step cancels the call", async () => {
  const stop = new AbortController();
  const executor = open();
  const { task, events } = mcpTask({ tool: "fake.work", arguments: { steps: 1_000, delay_ms: 20 } });
  const outcome = executor.run(task, stop.signal);
  await expect.poll(() => events.length).toBeGreaterThan(0);
  stop.abort();
  expect(await outcome).toMatchObject({ status: "failed", code: "INTERRUPTED", effect: "unknown" });
});

test("the time-out of a step takes the place of the configured one", async () => {
  const { task } = mcpTask({ tool: "fake.hang" }, 300);
  expect(await open().run(task, NEVER)).toMatchObject({ code: "TIMEOUT" });
});

test("a name alone finds the only server that offers it", async () => {
  expect(await run({ tool: "get-sum", arguments: { a: 1, b: 2 } })).toMatchObject({
    output: "The sum of 1 and 2 is 3.",
  });
  expect(await run({ tool: "echo", arguments: {} })).toMatchObject({
    code: "MCP_TOOL_AMBIGUOUS",
    message: expect.stringContaining("`everything.echo` or `fake.echo`"),
  });
  expect(await run({ tool: "wrong_structur" })).toMatchObject({
    code: "MCP_TOOL_UNKNOWN",
    message: expect.stringContaining("Did you mean `wrong_structure`?"),
  });
});

test("where no server is configured the message says so", async () => {
  expect(await run({ tool: "anything" }, {})).toMatchObject({
    code: "MCP_TOOL_UNKNOWN",
    message: "There is no tool `anything`. No MCP server is configured.",
  });
});

test("a server that cannot be listed may be the one that has it", async () => {
  const entries = { dying: fake(["die-at-start"]), fake: fake() };
  expect(await run({ tool: "say", arguments: { text: "x" } }, entries)).toMatchObject({ output: "x" });
  expect(await run({ tool: "nobodys" }, entries)).toMatchObject({ code: "MCP_SERVER_FAILED", retryable: true });
});

test("a secret that a server was given does not come back from it", async () => {
  const outcome = await run({ tool: "fake.process" }, { fake: fake([], { env: { TOKEN: "hunter-2-hunter" } }) });
  expect(JSON.stringify(outcome)).not.toContain("hunter-2");
  expect(outcome).toMatchObject({ output: { token: "[redacted]" } });
});

test("built-in tools are called here, without a look at the servers", async () => {
  const executor = open({}, {}, () => Promise.reject(new Error("read")));
  const set = mcpTask({
    tool: "core.state.setRuntimeValue",
    arguments: { key: "k", value: [1] },
    context: { appId: "a" },
  });
  expect(await executor.run(set.task, NEVER)).toMatchObject({ output: { success: true } });
  const get = mcpTask({ tool: "core.state.getRuntimeValue", arguments: { key: "k", app_id: "a" } });
  expect(await executor.run({ ...get.task, files: set.task.files }, NEVER)).toMatchObject({
    output: { value: [1], found: true },
  });
  const log = mcpTask({ tool: "core.framework.logFrameworkMessage", arguments: { message: "hello" } });
  expect(await executor.run(log.task, NEVER)).toMatchObject({ output: {} });
  expect(log.events).toEqual([{ type: "log", level: "info", message: "hello" }]);
});

test("with an endpoint the built-in tools are asked for there, with the run's context", async () => {
  const endpoint = await startEndpoint(answerJson({ data: { value: 7 } }));
  const executor = open({ fake: fake() }, { allowed: [endpoint.origin] });
  const context = { appId: "a", traceId: "t", endpoint: endpoint.url };
  const { task } = mcpTask({ tool: "core.state.getRuntimeValue", arguments: { key: "k" }, context });
  expect(await executor.run(task, NEVER)).toMatchObject({ status: "succeeded", output: { value: 7 } });
  expect(endpoint.requests).toEqual([
    {
      tool: "core.state.getRuntimeValue",
      params: { key: "k" },
      context: { appId: "a", requestId: "run", traceId: "t" },
    },
  ]);
  const addressed = mcpTask({ tool: "fake.say", arguments: { text: "here" }, context });
  expect(await executor.run(addressed.task, NEVER)).toMatchObject({ output: "here" });
});

test("an endpoint that a request names must be known", async () => {
  const context = { endpoint: "http://127.0.0.1:9/" };
  expect(await run({ tool: "core.state.getRuntimeValue", arguments: { key: "k" }, context })).toMatchObject({
    code: "ENDPOINT_NOT_ALLOWED",
    effect: "none",
  });
});

async function run(input: JsonObject, entries?: Readonly<Record<string, ServerEntry>>) {
  return open(entries).run(mcpTask(input).task, NEVER);
}

function open(
  entries: Readonly<Record<string, ServerEntry>> = { everything: everything(), fake: fake() },
  endpoint: Partial<UhlpEndpointOptions> = {},
  readEntries: () => Promise<ReadonlyMap<string, ServerEntry>> = async () => new Map(Object.entries(entries)),
): Executor {
  const folder = mkdtempSync(join(tmpdir(), "pawl-mcp-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const servers = new McpServers({
    folder: process.cwd(),
    env: () => undefined,
    entries: readEntries,
    pool: SHARED,
    timeoutMs: 30_000,
  });
  const storage = new MemoryFileStorage();
  const validators = new JsonSchemas();
  const coreTools = createCoreTools({
    folder,
    forbidden: [],
    files: async () => storage,
    configuration: {},
  });
  const client = new UhlpEndpoint({ allowed: [], ...endpoint });
  return createMcpExecutor({ servers, coreTools, endpoint: client, validators });
}

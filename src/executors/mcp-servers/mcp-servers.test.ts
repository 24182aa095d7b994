import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { COMPILE_CACHE } from "../../../test/fakes/compile-cache.ts";
import { isAlive } from "../../../test/fakes/is-alive.ts";
import { openPool } from "../../../test/fakes/mcp-server/open-pool.ts";
import { entry, everything, fake } from "../../../test/fakes/mcp-server/server-entries.ts";
import { startEverythingHttp, startFakeHttp } from "../../../test/fakes/mcp-server/start-http-server.ts";
import type { Failed } from "../../ports/executor.ts";
import { McpFailure } from "./mcp-failure.ts";
import { McpServers, type McpServersOptions, type ToolRequest } from "./mcp-servers.ts";
import type { ServerEntry, ToolFilter } from "./server-entry.ts";

const OLD_SERVER = fileURLToPath(new URL("../../../test/fakes/mcp-server/old_server.py", import.meta.url));
const HOLD_SERVER = fileURLToPath(new URL("../../../test/fakes/mcp-server/hold-server.ts", import.meta.url));
const NEVER = new AbortController().signal;

/** Shared by tests that do not mind who was there before: to start a server is what takes the time. */
const SHARED = openPool({}, (close) => afterAll(close));
const shared = () => open({ fake: fake(), everything: everything() }, { pool: SHARED });

test("a tool of a process is called, and its answer comes back as it is", async () => {
  const servers = shared();
  const { result } = await call(servers, { server: "everything", tool: "echo", arguments: { message: "hello" } });
  expect(result.content).toEqual([{ type: "text", text: "Echo: hello" }]);
});

for (const [protocol, fakeServer] of [
  ["legacy", fake()],
  ["auto", fake([], { protocol: "auto" })],
  ["2026-07-28", fake([], { protocol: "2026-07-28" })],
] as const) {
  test(`a process is spoken to in the revision asked for: ${protocol}`, async () => {
    const servers = open({ fake: fakeServer });
    const { result } = await call(servers, { server: "fake", tool: "add", arguments: { a: 2, b: 3 } });
    expect(result.structuredContent).toEqual({ sum: 5 });
    const isModern = result._meta?.["io.modelcontextprotocol/serverInfo"] !== undefined;
    expect(isModern).toBe(protocol !== "legacy");
  });
}

test("an older server is reached with `auto`, also one that ends at a message which it does not know", async () => {
  const servers = open({
    older: everything({ protocol: "auto" }),
    picky: fake(["die-at-discover"], { protocol: "auto" }),
  });
  expect((await servers.list("older", NEVER)).tools).not.toHaveLength(0);
  expect((await servers.list("picky", NEVER)).tools).not.toHaveLength(0);
});

test("200 calls at once share one connection", async () => {
  const servers = shared();
  const sums = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const { result } = await call(servers, { server: "fake", tool: "add", arguments: { a: index, b: 1 } });
      return result.structuredContent;
    }),
  );
  expect(sums).toEqual(Array.from({ length: 200 }, (_, index) => ({ sum: index + 1 })));
  expect(await Promise.all([pidOf(servers), pidOf(servers)])).toEqual([await pidOf(servers), await pidOf(servers)]);
});

test("a server gets the harmless variables and its own, never the rest of our environment", async () => {
  process.env["PAWL_TEST_PRIVATE"] = "private";
  onTestFinished(() => {
    delete process.env["PAWL_TEST_PRIVATE"];
  });
  const servers = open({ fake: fake([], { env: { TOKEN: variable("MY_TOKEN"), MODE: variable("MODE:-fast") } }) });
  const { result } = await call(servers, { server: "fake", tool: "process", arguments: {} });
  expect(result.structuredContent).toMatchObject({
    token: "a-token",
    variables: expect.arrayContaining(["PATH", "MODE"]),
  });
  expect(JSON.stringify(result.structuredContent)).not.toContain("PAWL_TEST_PRIVATE");
});

test("a server that dies in a call fails that call with an unknown effect and the end of its stderr", async () => {
  const servers = open({ fake: fake([], { env: { TOKEN: variable("MY_TOKEN") } }) });
  const failed = await failureOf(call(servers, { server: "fake", tool: "die", arguments: {} }));
  expect(failed).toMatchObject({ code: "MCP_SERVER_FAILED", effect: "unknown", retryable: true });
  expect(failed.message).toContain("exit code 7");
  expect(failed.message).toContain("I cannot go on, said [redacted].");
});

test("after a server was killed the next call starts it again", async () => {
  const servers = shared();
  const pid = await pidOf(servers);
  process.kill(pid, "SIGKILL");
  await hasEnded(pid);
  const next = await callUntilAnswered(servers);
  expect(next).not.toBe(pid);
});

test("calls in flight at a death all fail, and one new process serves those that follow", async () => {
  const servers = shared();
  const pid = await pidOf(servers);
  const hanging = Array.from({ length: 20 }, () =>
    failureOf(call(servers, { server: "fake", tool: "hang", arguments: {} })),
  );
  await call(servers, { server: "fake", tool: "echo", arguments: {} });
  process.kill(pid, "SIGKILL");
  for (const failed of await Promise.all(hanging)) expect(failed.code).toBe("MCP_SERVER_FAILED");
  const pids = await Promise.all(Array.from({ length: 20 }, () => pidOf(servers)));
  expect(new Set(pids).size).toBe(1);
});

test("closing leaves no process, also none that ignores SIGTERM and none that a server has started", async () => {
  const pool = openPool();
  const servers = open({ stubborn: fake(["ignore-sigterm"]), fake: fake() }, { pool });
  const stubborn = await pidOf(servers, "stubborn");
  const helper = await call(servers, { server: "fake", tool: "helper", arguments: {} });
  const pids = [stubborn, await pidOf(servers), Number(Object(helper.result.structuredContent).pid)];
  expect(pids.map(isAlive)).toEqual([true, true, true]);
  await pool.close();
  for (const pid of pids) await hasEnded(pid);
});

test("closing does not wait for a server that is still starting, and ends it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-mcp-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const pidFile = join(folder, "pid");
  const pool = openPool({ connectTimeoutMs: 60_000 });
  const servers = open({ silent: fake(["silent", `pid-file=${pidFile}`]), late: fake(["silent"]) }, { pool });
  const failure = failureOf(servers.list("silent", NEVER));
  await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, "utf8")).toBeTruthy();
  const late = failureOf(servers.list("late", NEVER));
  await pool.close();
  await hasEnded(Number(readFileSync(pidFile, "utf8")));
  for (const failed of [await failure, await late]) expect(failed).toMatchObject({ effect: "none" });
  expect(await failureOf(servers.list("silent", NEVER))).toMatchObject({ code: "INTERRUPTED" });
});

test("servers end with a host that is killed, also those that do not want to, with all that they have started", async () => {
  const host = spawn(process.execPath, [HOLD_SERVER], {
    env: { ...process.env, ...COMPILE_CACHE },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => {
    host.kill("SIGKILL");
  });
  const [said] = (await once(host.stdout, "data")) as [Buffer];
  const pids = JSON.parse(String(said)) as readonly number[];
  expect(pids.map(isAlive)).toEqual([true, true, true, true]);
  host.kill("SIGKILL");
  for (const pid of pids) await hasEnded(pid);
});

test("a server that does not start says why", async () => {
  const servers = open({
    missing: entry({ command: "/no/such/program" }),
    dying: fake(["die-at-start"]),
  });
  expect(await failureOf(servers.list("missing", NEVER))).toMatchObject({
    code: "MCP_SERVER_FAILED",
    retryable: false,
    effect: "none",
    message: expect.stringContaining("ENOENT"),
  });
  const dying = await failureOf(servers.list("dying", NEVER));
  expect(dying).toMatchObject({ code: "MCP_SERVER_FAILED", retryable: true, effect: "none" });
  expect(dying.message).toContain("it ended (exit code 3)");
  expect(dying.message).toContain("The fake server starts.");
});

test("a server that says nothing is given up", async () => {
  const servers = open({ silent: fake(["silent"]) }, { pool: openPool({ connectTimeoutMs: 1_000 }) });
  expect(await failureOf(servers.list("silent", NEVER))).toMatchObject({
    code: "MCP_SERVER_FAILED",
    effect: "none",
    message: expect.stringContaining("did not answer in time"),
  });
});

test("a slow start and noise on stdout and stderr do no harm", async () => {
  const servers = open({ slow: fake(["slow-start"]), noisy: fake(["noisy"]) });
  expect((await servers.list("slow", NEVER)).tools).not.toHaveLength(0);
  expect((await servers.list("noisy", NEVER)).tools).not.toHaveLength(0);
});

test("a message that is too large ends the server, and the next call starts it again", async () => {
  const servers = shared();
  const failed = await failureOf(call(servers, { server: "fake", tool: "huge", arguments: { bytes: 17_000_000 } }));
  expect(failed).toMatchObject({ code: "MCP_SERVER_FAILED", message: expect.stringContaining("16 MiB") });
  expect(await pidOf(servers)).toBeGreaterThan(0);
});

test("progress keeps a call alive, and silence ends it with a time-out that the server hears of", async () => {
  const servers = open({ fake: fake([], { timeout: 1_500 }) });
  const heard: number[] = [];
  const { result } = await call(servers, {
    server: "fake",
    tool: "work",
    arguments: { steps: 5, delay_ms: 400 },
    onProgress: ({ progress }) => heard.push(progress),
  });
  expect(result.content).toEqual([{ type: "text", text: "done" }]);
  expect(heard).toEqual([1, 2, 3, 4, 5]);
  expect(await failureOf(call(servers, { server: "fake", tool: "hang", arguments: {} }))).toMatchObject({
    code: "TIMEOUT",
  });
  expect(await cancellationsOf(servers)).toBe(1);
});

test("whoever stops waiting cancels the call, and nobody else's", async () => {
  const servers = shared();
  const before = await cancellationsOf(servers);
  const stop = new AbortController();
  const stopped = failureOf(call(servers, { server: "fake", tool: "hang", arguments: {} }, stop.signal));
  const going = call(servers, { server: "fake", tool: "work", arguments: { steps: 2, delay_ms: 200 } });
  await call(servers, { server: "fake", tool: "echo", arguments: {} });
  stop.abort();
  expect(await stopped).toMatchObject({ code: "INTERRUPTED", effect: "unknown" });
  expect((await going).result.content).toEqual([{ type: "text", text: "done" }]);
  expect(await cancellationsOf(servers)).toBe(before + 1);
});

test("names that nobody has are answered with those that are near", async () => {
  const servers = shared();
  expect(await failureOf(servers.list("everyting", NEVER))).toMatchObject({
    code: "MCP_SERVER_UNKNOWN",
    message: expect.stringContaining("Did you mean `everything`?"),
  });
  expect(await failureOf(call(servers, { server: "everything", tool: "get-summ", arguments: {} }))).toMatchObject({
    code: "MCP_TOOL_UNKNOWN",
    message: expect.stringContaining("Did you mean `get-sum`?"),
  });
});

test("tools that an entry switches off are neither listed nor called", async () => {
  const servers = open({ fake: fake([], { tools: { allow: ["a*", "echo"], deny: ["add"] } }) });
  expect((await servers.list("fake", NEVER)).tools.map(({ name }) => name)).toEqual(["echo"]);
  expect(await failureOf(call(servers, { server: "fake", tool: "add", arguments: {} }))).toMatchObject({
    code: "MCP_TOOL_NOT_ALLOWED",
  });
});

test("a server whose entry would switch off a tool that it does not have is not used: it may be called otherwise by now", async () => {
  const servers = open({ fake: fake([], { tools: { deny: ["ecko"] } }) });
  expect(await failureOf(servers.list("fake", NEVER))).toMatchObject({
    code: "TOOL_GUARD_IDLE",
    message: '`ecko` under `deny` matches no tool of the MCP server "fake". Did you mean `echo`?',
  });
});

test("a step cannot call what an entry would switch off under another name either", async () => {
  const servers = open({
    exact: fake([], { tools: { deny: ["ecko"] } }),
    narrow: fake([], { tools: { allow: ["ecko", "add"] } }),
  });
  expect(await failureOf(call(servers, { server: "exact", tool: "echo", arguments: {} }))).toMatchObject({
    code: "TOOL_GUARD_IDLE",
  });
  const { tools, warnings } = await servers.list("narrow", NEVER);
  expect(tools.map(({ name }) => name)).toEqual(["add"]);
  expect(warnings).toEqual(['`ecko` under `allow` matches no tool of the MCP server "narrow". Did you mean `echo`']);
});

test("a tool that a server has renamed since cannot be called by a step, unless the entry names it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pawl-tools-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "tools");
  writeFileSync(file, "delete_one delete_all");
  const renaming = (tools: ToolFilter) => entry({ server_path: OLD_SERVER, args: [`tools-file=${file}`], tools });
  const servers = open({
    shop: renaming({ deny: ["delete_*"] }),
    sure: renaming({ deny: ["delete_*"], allow: ["grow", "remove_*"] }),
  });
  for (const server of ["shop", "sure"]) await call(servers, { server, tool: "grow", arguments: {} });
  writeFileSync(file, "delete_one remove_all");
  for (const server of ["shop", "sure"]) await call(servers, { server, tool: "grow", arguments: {} });
  expect(await failureOf(servers.findTool({ server: "shop", tool: "remove_all" }, NEVER))).toMatchObject({
    code: "MCP_TOOL_UNKNOWN",
    message: expect.stringContaining('"remove_all" is closed'),
  });
  expect(await servers.findTool({ server: "sure", tool: "remove_all" }, NEVER)).toMatchObject({ name: "remove_all" });
});

test("an entry that cannot be used names its file and its server, and leaves the others alone", async () => {
  const servers = open({
    neither: entry({}),
    unset: entry({ url: `${variable("NO_SUCH_VARIABLE")}/mcp` }),
    broken: entry({ problem: "args: expected an array" }),
    strange: entry({ url: "ftp://example.com" }),
    fake: fake(),
  });
  const messageOf = async (server: string) => (await failureOf(servers.list(server, NEVER))).message;
  expect(await messageOf("neither")).toBe(
    'The MCP server "neither" in .mcp.json cannot be used: it has neither `command` nor `url`.',
  );
  expect(await messageOf("unset")).toContain("NO_SUCH_VARIABLE, named in `url`, is not set");
  expect(await messageOf("broken")).toContain("args: expected an array");
  expect(await messageOf("strange")).toContain("no http or https URL");
  expect((await servers.list("fake", NEVER)).tools).not.toHaveLength(0);
});

test("servers are reached over HTTP in both eras, with their headers", async () => {
  const { url } = await startFakeHttp(["token=a-token"]);
  const headers = { Authorization: `Bearer ${variable("MY_TOKEN")}` };
  const servers = open({
    modern: entry({ url, headers }),
    legacy: entry({ type: "http", url, headers, protocol: "legacy" }),
    wrong: entry({ url, headers: { Authorization: "Bearer no" } }),
    keyless: entry({ url }),
  });
  for (const server of ["modern", "legacy"]) {
    const heard: number[] = [];
    const request = { server, tool: "work", arguments: { steps: 2, delay_ms: 50 } };
    await call(servers, { ...request, onProgress: ({ progress }) => heard.push(progress) });
    expect(heard).toEqual([1, 2]);
  }
  for (const [server, code] of [
    ["wrong", "MCP_UNAUTHORIZED"],
    ["keyless", "MCP_LOGIN_NEEDED"],
  ] as const)
    expect(await failureOf(servers.list(server, NEVER))).toMatchObject({ code, retryable: false });
});

test("a call over HTTP is cancelled by closing its stream, and an answer that is too large is not held", async () => {
  const { url } = await startFakeHttp();
  const servers = open({ fake: entry({ url }) });
  const stop = new AbortController();
  const stopped = failureOf(call(servers, { server: "fake", tool: "hang", arguments: {} }, stop.signal));
  await call(servers, { server: "fake", tool: "echo", arguments: {} });
  stop.abort();
  expect(await stopped).toMatchObject({ code: "INTERRUPTED" });
  await expect.poll(() => cancellationsOf(servers)).toBe(1);
  const failed = await failureOf(call(servers, { server: "fake", tool: "huge", arguments: { bytes: 40_000_000 } }));
  expect(failed).toMatchObject({ code: "MCP_UNREACHABLE", message: expect.stringContaining("too large") });
});

test("a server over HTTP that dies in a call fails it, and a new session is opened when it is back", async () => {
  const first = await startEverythingHttp();
  const servers = open({ everything: entry({ url: first.url }) });
  const request = {
    server: "everything",
    tool: "trigger-long-running-operation",
    arguments: { duration: 60, steps: 600 },
  };
  const started = Promise.withResolvers<void>();
  const broken = failureOf(call(servers, { ...request, onProgress: () => started.resolve() }));
  await started.promise;
  await first.kill();
  expect(await broken).toMatchObject({ code: "MCP_UNREACHABLE", effect: "unknown", retryable: true });
  const echo = { server: "everything", tool: "echo", arguments: { message: "again" } };
  expect(await failureOf(call(servers, echo))).toMatchObject({
    code: "MCP_UNREACHABLE",
    effect: "none",
    retryable: true,
  });
  await startEverythingHttp(new URL(first.url).port);
  expect((await call(servers, echo)).result.content).toEqual([{ type: "text", text: "Echo: again" }]);
});

test("a URL where nobody listens, or that is something else, cannot be reached", async () => {
  const { url } = await startEverythingHttp();
  const servers = open({ other: entry({ url: new URL("/other", url).href }), gone: entry({ url: await unusedUrl() }) });
  expect(await failureOf(servers.list("other", NEVER))).toMatchObject({ code: "MCP_UNREACHABLE", retryable: false });
  expect(await failureOf(servers.list("gone", NEVER))).toMatchObject({ code: "MCP_UNREACHABLE", retryable: true });
});

test("tenants share no server that their definitions name, however alike", async () => {
  const pool = openPool();
  const find = (tenantId?: string) => open({ fake: fake() }, { pool, tenantId }).find("fake");
  expect(await find("a")).toBe(await find("a"));
  expect(await find("a")).not.toBe(await find("b"));
  expect(await find()).not.toBe(await find("a"));
});

test("a server that a definition names is asked only where its run may ask, over connections that were checked", async () => {
  const { url } = await startEverythingHttp();
  const everything = entry({ url });
  const refused = await failureOf(open({ everything }, { reach: [] }).list("everything", NEVER));
  expect(refused).toMatchObject({ code: "HTTP_NOT_ALLOWED", effect: "none", retryable: false });
  const allowed = open({ everything }, { reach: ["127.0.0.1"] });
  const echo = { server: "everything", tool: "echo", arguments: { message: "hi" } };
  expect((await call(allowed, echo)).result.content).toEqual([{ type: "text", text: "Echo: hi" }]);
});

test.each([[["127.0.0.1"]], ["anywhere" as const]])(
  "with %j headers for one server are told to no other",
  async (reach) => {
    const asked: unknown[] = [];
    const listen = async (answer: RequestListener) => {
      const server = createServer(answer).listen(0, "127.0.0.1");
      await once(server, "listening");
      onTestFinished(() => void server.close());
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    };
    const other = await listen((request, answer) => {
      asked.push(request.headers);
      answer.writeHead(404).end();
    });
    const first = await listen((_, answer) => answer.writeHead(307, { location: `${other}/mcp` }).end());
    const servers = open({ first: entry({ url: `${first}/mcp`, headers: { "x-key": "k" } }) }, { reach });
    expect(await failureOf(servers.list("first", NEVER))).toMatchObject({ code: "MCP_UNREACHABLE" });
    expect(asked).toEqual([]);
  },
);

function open(entries: Readonly<Record<string, ServerEntry>>, more: Partial<McpServersOptions> = {}): McpServers {
  const variables: Readonly<Record<string, string>> = { MY_TOKEN: "a-token" };
  return new McpServers({
    folder: process.cwd(),
    env: (name) => variables[name],
    entries: async () => new Map(Object.entries(entries)),
    pool: more.pool ?? openPool(),
    timeoutMs: 30_000,
    ...more,
  });
}

/** An entry as in a file. */
function variable(name: string): string {
  return `$\{${name}}`;
}

function call(servers: McpServers, request: ToolRequest, signal: AbortSignal = NEVER) {
  return servers.call(request, signal);
}

async function failureOf(promise: Promise<unknown>): Promise<Failed> {
  const error = await promise.then(
    () => new Error("It succeeded."),
    (reason: unknown) => reason,
  );
  if (error instanceof McpFailure) return error.failed;
  throw error;
}

async function pidOf(servers: McpServers, server = "fake"): Promise<number> {
  const { result } = await call(servers, { server, tool: "process", arguments: {} });
  return Number(Object(result.structuredContent).pid);
}

/** The connection may not know of the death yet. */
async function callUntilAnswered(servers: McpServers): Promise<number> {
  try {
    return await pidOf(servers);
  } catch (error) {
    if (!(error instanceof McpFailure)) throw error;
    return await pidOf(servers);
  }
}

async function cancellationsOf(servers: McpServers): Promise<number> {
  const { result } = await call(servers, { server: "fake", tool: "cancelled", arguments: {} });
  return Object(result.structuredContent).cancelled.length;
}

/** A killed helper is a zombie until its new parent has looked. */
async function hasEnded(pid: number): Promise<void> {
  await expect.poll(() => isAlive(pid)).toBe(false);
}

/** The system gives a port that was just given back to nobody else for a while. */
async function unusedUrl(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${port}/mcp`;
}

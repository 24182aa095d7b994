import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import { HttpWorld, type HttpWorldOptions } from "../../../../test/fakes/http-world.ts";
import { task, uhlpGraph } from "../../../../test/fakes/uhlp-graph.ts";
import type { Json, JsonObject } from "../../../core/json.ts";

const ADMIN = { "x-api-key": "configured" };
const ERAS = [
  ["2025", { mode: "legacy" }],
  ["2026", { mode: { pin: "2026-07-28" } }],
] as const;

const GATE = `
name: gate
dead_letter: true
steps:
  - id: ask
    type: approval
    approval_config: { message: "Go on?" }
`;

function newWorld(options: HttpWorldOptions = {}): HttpWorld {
  const hello = uhlpGraph({ name: "hello", steps: [task("work")] });
  return new HttpWorld([hello], { agent: { provider: "simulated" }, server: { api_key: "configured" }, ...options });
}

async function keyFor(world: HttpWorld, wanted: JsonObject): Promise<Record<string, string>> {
  const answer = await world.post("/keys", { name: "test", ...wanted }, ADMIN);
  const { data } = (await answer.json()) as { readonly data: { readonly key: string } };
  return { authorization: `Bearer ${data.key}` };
}

async function connect(
  world: HttpWorld,
  headers: Record<string, string>,
  era: (typeof ERAS)[number][1] = ERAS[0][1],
): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: era });
  onTestFinished(() => client.close());
  const fetch = async (url: string | URL, init?: RequestInit) => world.http.request(String(url), init);
  await client.connect(
    new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), { fetch, requestInit: { headers } }),
  );
  return client;
}

async function call(client: Client, name: string, args: JsonObject = {}) {
  const { structuredContent, isError = false, content, _meta } = await client.callTool({ name, arguments: args });
  const error = _meta?.["pawl/error"] as { readonly code: string } | undefined;
  return {
    result: structuredContent as JsonObject | undefined,
    isError,
    text: JSON.stringify(content),
    code: error?.code,
  };
}

test.each(ERAS)("a client of %s runs a workflow, waits for it and reads it as a resource", async (_, era) => {
  const world = newWorld();
  const client = await connect(world, ADMIN, era);
  const { result } = await call(client, "run_workflow", { workflow_name: "hello", wait: true });
  expect(result).toMatchObject({ workflow_name: "hello", status: "completed" });
  const [first] = (await client.readResource({ uri: `run://${result?.["run_id"]}` })).contents;
  expect(JSON.parse(first !== undefined && "text" in first ? first.text : "")).toMatchObject({ status: "completed" });
  expect(world.defects).toEqual([]);
});

test("a key lists and calls the tools that its scope reaches", async () => {
  const world = newWorld();
  const reader = await connect(world, await keyFor(world, { scopes: ["read"] }));
  const names = (await reader.listTools()).tools.map(({ name }) => name);
  expect(names).toContain("list_runs");
  expect(names).not.toContain("run_workflow");
  expect(await call(reader, "run_workflow", { workflow_name: "hello" })).toMatchObject({
    isError: true,
    code: "FORBIDDEN",
    text: expect.stringContaining("`run`"),
  });
  const runner = await connect(world, await keyFor(world, { scopes: ["run"] }));
  expect(await call(runner, "run_workflow", { workflow_name: "hello" })).toMatchObject({ isError: false });
  expect(await call(runner, "save_workflow", { yaml_content: GATE })).toMatchObject({ code: "FORBIDDEN" });
});

test("nobody gets in without a key, or past the host that a page may name", async () => {
  const world = newWorld();
  const headers = { accept: "application/json, text/event-stream" };
  const ask = (more: Record<string, string>) =>
    world.post("/mcp", { jsonrpc: "2.0", id: 1, method: "ping" }, { ...headers, ...more });
  const without = await ask({});
  expect(without.status).toBe(401);
  expect(without.headers.get("www-authenticate")).toBe("Bearer");
  expect((await ask({ "x-api-key": "wrong" })).status).toBe(401);
  expect((await ask({ ...ADMIN, host: "evil.example" })).status).toBe(403);
  expect((await ask({ ...ADMIN, origin: "https://evil.example" })).status).toBe(403);
  expect((await ask(ADMIN)).status).toBe(200);
});

test("a tenant sees and changes nothing of another, by any tool or resource", async () => {
  const world = newWorld();
  const theirs = await connect(world, await keyFor(world, { scopes: ["write"], tenant_id: "theirs" }));
  const mine = await connect(world, await keyFor(world, { scopes: ["write"], tenant_id: "mine" }));
  await call(theirs, "save_workflow", { yaml_content: GATE });
  const { result: run } = await call(theirs, "run_workflow", { workflow_name: "gate", wait: true });
  const { result: schedule } = await call(theirs, "create_schedule", {
    workflow_name: "gate",
    cron_expression: "0 6 * * *",
  });
  const runId = String(run?.["run_id"]);
  const scheduleId = String(schedule?.["schedule_id"]);
  expect(runId).toHaveLength(36);
  expect(scheduleId).toHaveLength(36);
  const foreign: Readonly<Record<string, Json>> = {
    run_id: runId,
    a: runId,
    b: runId,
    schedule_id: scheduleId,
    workflow_name: "gate",
    dead_letter_id: `${runId}:ask`,
    from_step: "ask",
    changes: {},
    name: "event",
    answer: "approve",
    cron_expression: "0 7 * * *",
  };
  const own = new Set(["save_workflow", "validate_workflow", "run_workflow_yaml"]);
  for (const { name, inputSchema } of (await mine.listTools()).tools) {
    if (own.has(name)) continue;
    const wanted = Object.keys(inputSchema.properties ?? {}).filter((each) => each in foreign);
    const required = wanted.filter((each) => inputSchema.required?.includes(each));
    const args = Object.fromEntries(required.map((each) => [each, foreign[each] ?? null]));
    const { text, isError } = await call(mine, name, args);
    // What is asked for by an id is not there; lists are empty.
    expect({ name, isError }).toEqual({ name, isError: required.length > 0 });
    if (!isError) expect(text).not.toMatch(new RegExp(`${runId}|${scheduleId}|gate`));
  }
  const { resources } = await mine.listResources();
  expect(JSON.stringify(resources)).not.toMatch(new RegExp(`${runId}|${scheduleId}|gate`));
  for (const uri of [`run://${runId}`, `schedule://${scheduleId}`, "workflow://gate"])
    await expect(mine.readResource({ uri })).rejects.toThrow();
  expect(await call(theirs, "get_run_status", { run_id: runId })).toMatchObject({
    result: { status: "awaiting_approval" },
  });
  expect((await call(theirs, "list_schedules")).result).toMatchObject({ items: [{ cron_expression: "0 6 * * *" }] });
});

test("a call that waits is answered when the server stops, and the next call is told", async () => {
  const world = newWorld({ plays: { work: () => new Promise(() => undefined) } });
  const client = await connect(world, ADMIN);
  const heard: string[] = [];
  const waiting = client.callTool(
    { name: "run_workflow", arguments: { workflow_name: "hello", wait: true } },
    { onprogress: ({ message = "" }) => heard.push(message) },
  );
  await expect.poll(() => heard.length).toBeGreaterThan(0);
  world.streams.stop();
  expect((await waiting).structuredContent).toMatchObject({ status: "running" });
  await expect(client.listTools()).rejects.toThrow(/SERVER_STOPPING/);
});

const HEADERS = { accept: "application/json, text/event-stream", ...ADMIN };
const asking = (id: unknown, name: unknown, args: unknown = {}) =>
  JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } });
const nested = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;

test.each<readonly [what: string, body: string | Uint8Array<ArrayBuffer>, status: number, says: string]>([
  ["two calls at once", `[${asking(1, "list_runs")},${asking(2, "list_runs")}]`, 200, '"id":2'],
  ["no call at all", "[]", 400, "-32600"],
  ["an id that is a text", asking("a", "list_runs"), 200, '"id":"a"'],
  ["an id that is null", asking(null, "list_runs"), 400, "-32600"],
  ["an id between two numbers", asking(1.5, "list_runs"), 400, "-32600"],
  ["a tool that there is not", asking(1, "nothing"), 200, "There is no tool `nothing`."],
  ["a tool that every object has", asking(1, "constructor"), 200, "There is no tool `constructor`."],
  ["a tool without a name", asking(1, 7), 200, "-32602"],
  ["arguments that are a list", asking(1, "list_runs", []), 200, "-32602"],
  [
    "a prototype",
    asking(1, "run_workflow", JSON.parse('{"__proto__":{"workflow_name":"hello"}}')),
    200,
    "REQUEST_INVALID",
  ],
  [
    "a workflow that every object has",
    asking(1, "run_workflow", { workflow_name: "__proto__" }),
    200,
    "WORKFLOW_NOT_FOUND",
  ],
  [
    "arguments as deep as a well",
    asking(1, "run_workflow", "@").replace('"@"', `{"input_data":{"a":${nested}}}`),
    200,
    "levels deep",
  ],
  [
    "a text as deep as a well",
    asking(1, "run_workflow", { workflow_name: "hello", input_data: nested }),
    200,
    "REQUEST_INVALID",
  ],
  [
    "more than a server reads",
    asking(1, "run_workflow", { workflow_name: "x".repeat(2_000_000) }),
    413,
    "BODY_TOO_LARGE",
  ],
  ["bytes that are no text", new Uint8Array([0x22, 0xff, 0xfe, 0x22]), 400, "-32700"],
  ["no JSON", "hello", 400, "-32700"],
  ["nothing", "", 400, "-32700"],
  [
    "a file of the machine",
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri: "file:///etc/passwd" } }),
    200,
    "There is no resource",
  ],
  [
    "an address that is none",
    JSON.stringify({ jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri: "run://%E0%A4%A" } }),
    200,
    "There is no resource",
  ],
])("whoever sends %s is told so, and nothing else happens", async (_, body, status, says) => {
  const world = newWorld();
  const headers = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)), ...HEADERS };
  const answer = await world.request("/mcp", { method: "POST", headers, body });
  expect({ status: answer.status, text: await answer.text() }).toEqual({ status, text: expect.stringContaining(says) });
  expect(await (await world.request("/runs", { headers: ADMIN })).json()).toMatchObject({ data: { items: [] } });
  expect(world.defects).toEqual([]);
});

test("a thousand calls at once are all answered", async () => {
  const world = newWorld({ server: { api_key: "configured", rate_limit_per_minute: 0 } });
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, async (_, id) => (await world.post("/mcp", asking(id, "list_runs"), HEADERS)).text()),
  );
  expect(answers.filter((text, id) => text.includes(`"id":${id}}`) && text.includes("structuredContent"))).toHaveLength(
    1_000,
  );
});

import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { ERAS } from "../mcp-terminal/terminal-client.ts";
import { application } from "../support/application.ts";
import { pawlCommand } from "../support/pawl.ts";
import { startServer } from "../support/server.ts";
import { connectService, endOwner } from "./service-client.ts";

const GREET = `
name: greet
description: Greets someone.
input_schema:
  type: object
  required: [who]
  properties:
    who: { type: string, description: Whom to greet. }
steps:
  - id: say
    prompt: "Greet {input.who}"
`;

const SUM = `
workflowId: order.total
startAt: reply
steps:
  reply:
    type: control
    subtype: formatResponse
    data: { total: trigger.payload.price * trigger.payload.count }
`;

const SHELL = JSON.stringify({
  name: "hello_shell",
  description: "Says hello in a shell.",
  initial_state: "open",
  states: {
    open: {
      action: { tool: "open_terminal", params: { shell: "bash --norc", environment: { WHO: "{who}" } } },
      transitions: [{ condition: { success: true }, next_state: "close" }],
    },
    close: { action: { tool: "exit_terminal", params: { session_id: "{session_id}" } } },
  },
});

const AGENTS = JSON.stringify({
  clients: [],
  agents: [{ name: "Poet", client_ids: [], system_prompt: "You write a line.", model: "claude-haiku-4-5" }],
  simple_workflows: [{ name: "Line of verse", steps: ["Poet"], description: "Writes a line." }],
});

/** A workflow with the names that would hide tools of ours, or that the protocol forbids. */
const named = (name: string) => `name: ${JSON.stringify(name)}\nsteps:\n  - id: say\n    prompt: "{input.request}"\n`;

const FILES = {
  "workflows/greet.yaml": GREET,
  "workflows/sum.yaml": SUM,
  "workflows/hello.json": SHELL,
  "agents.json": AGENTS,
  "answers.yaml": 'steps:\n  say: {reply: "Hello.", delay_ms: 0}\n',
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};

function folderWith(files: Readonly<Record<string, string>> = FILES): string {
  const folder = application(files);
  endOwner(folder);
  return folder;
}

interface Listed {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: object;
}

async function listNamed(client: Client, title: string): Promise<Listed | undefined> {
  return (await client.listTools()).tools.find((tool) => tool.title === title);
}

const isRun = { status: "completed", run_id: expect.any(String) };

test.each(ERAS)("a workflow of any dialect is a tool that takes its input, for a client of %s", async (_, era) => {
  const { client, call } = await connectService(folderWith(), era);
  expect(await listNamed(client, "greet")).toMatchObject({
    name: "greet",
    description: "Greets someone.",
    inputSchema: { type: "object", required: ["who"], properties: { who: { description: "Whom to greet." } } },
  });
  const order = await listNamed(client, "order.total");
  expect(order).toMatchObject({
    name: expect.stringMatching(/^order_total_[0-9a-f]{8}$/),
    inputSchema: { type: "object", properties: { price: {}, count: {} } },
  });
  const shell = await listNamed(client, "hello_shell");
  expect(shell?.inputSchema).toMatchObject({ properties: { who: { type: ["string", "number", "boolean"] } } });
  expect(JSON.stringify(shell?.inputSchema)).not.toContain("session_id");
  expect(await listNamed(client, "Line of verse")).toMatchObject({
    description: "Writes a line.",
    inputSchema: { required: ["message"] },
  });
  expect(await call("greet", { who: "Ada" })).toMatchObject({ ...isRun, outputs: { say: "Hello." } });
  expect(await call(order?.name ?? "", { price: 2, count: 3 })).toMatchObject({
    ...isRun,
    outputs: { data: { total: 6 } },
  });
  expect(await call("hello_shell", { who: "Ada" })).toMatchObject(isRun);
});

test("input that does not fit is refused as run_workflow refuses it", async () => {
  const { refusal } = await connectService(folderWith());
  const refused = await refusal("greet", { whom: "Ada" });
  expect(refused).toMatch(/^INPUT_INVALID: /);
  expect(refused).toBe(await refusal("run_workflow", { workflow_name: "greet", input_data: { whom: "Ada" } }));
});

test("no workflow takes the name of another tool, and its input means nothing else", async () => {
  const names = ["run_workflow", "open_terminal", "Grüße an alle", "a".repeat(100), "a.b", "a b", "a_b"];
  const files = names.map((name, index): [string, string] => [`workflows/${index}.yaml`, named(name)]);
  const { client, call } = await connectService(folderWith({ ...FILES, ...Object.fromEntries(files) }));
  const { tools } = await client.listTools();
  const listed = names.map((name) => tools.find(({ title }) => title === name)?.name ?? "");
  expect(listed.at(-1)).toBe("a_b");
  for (const name of listed) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
  expect(listed).not.toContain("run_workflow");
  expect(await call(listed[0] ?? "", { request: { who: "Ada" } })).toMatchObject({
    ...isRun,
    workflow_name: "run_workflow",
    outputs: { say: "Hello." },
  });
  const { run_id = null } = await call(listed[0] ?? "", { request: "of Ada" });
  const prompt = await call("get_run_step", { run_id, path: "say" });
  expect(JSON.stringify(prompt)).toContain("of Ada");
  expect(await call("run_workflow", { workflow_name: "greet", input_data: { who: "Ada" } })).toMatchObject({
    run_id: expect.any(String),
  });
});

/** Counts the notices that a client gets of another list of tools. */
async function listening(connect: (client: Client) => Promise<void>, era: (typeof ERAS)[number][1]) {
  let heard = 0;
  const tools = { autoRefresh: false, debounceMs: 0, onChanged: () => (heard += 1) };
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: era, listChanged: { tools } });
  onTestFinished(() => client.close());
  await connect(client);
  return { client, heard: () => heard };
}

async function soon(heard: () => number, wanted: number): Promise<void> {
  await expect.poll(heard, { timeout: 1_500, interval: 20 }).toBe(wanted);
}

describe.each(ERAS)("a client of %s", (_, era) => {
  test("hears over stdio when a file is written and removed, and when one is saved by a server beside it", async () => {
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    const folder = folderWith();
    const { command, env } = pawlCommand(["mcp"], { cwd: folder });
    const [program = "", ...args] = command;
    const transport = new StdioClientTransport({ command: program, args, env, cwd: folder, stderr: "ignore" });
    const { client, heard } = await listening((each) => each.connect(transport), era);
    await client.listTools();
    const file = join(folder, "workflows", "later.yaml");
    writeFileSync(file, named("later"));
    expect(await listNamed(client, "later")).toMatchObject({ name: "later" });
    await soon(heard, 1);
    rmSync(file);
    expect(await listNamed(client, "later")).toBeUndefined();
    await soon(heard, 2);
    const server = await startServer([], { cwd: folder });
    const at = `${server.url}/workflows/sent`;
    await fetch(at, { method: "PUT", headers: JSON_TYPE, body: JSON.stringify({ text: named("sent") }) });
    expect(await listNamed(client, "sent")).toMatchObject({ name: "sent" });
    await soon(heard, 3);
    await fetch(at, { method: "DELETE" });
    expect(await listNamed(client, "sent")).toBeUndefined();
    await soon(heard, 4);
  });

  test("sees at /mcp what has just been saved, and hears of it", async () => {
    const folder = folderWith();
    const { url } = await startServer([], { cwd: folder });
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`));
    const { client, heard } = await listening((each) => each.connect(transport), era);
    await client.listTools();
    writeFileSync(join(folder, "workflows", "later.yaml"), named("later"));
    await expect.poll(() => listNamed(client, "later"), { timeout: 1_000 }).toMatchObject({ name: "later" });
    await client.callTool({ name: "save_workflow", arguments: { yaml_content: named("sent") } });
    expect(await listNamed(client, "sent")).toMatchObject({ name: "sent" });
    await expect.poll(heard, { timeout: 1_500 }).toBeGreaterThanOrEqual(1);
    await client.callTool({ name: "delete_workflow", arguments: { workflow_name: "sent" } });
    expect(await listNamed(client, "sent")).toBeUndefined();
  });
});

const JSON_TYPE = { "content-type": "application/json" };

test("of hundreds of workflows the usual list has the latest within 5,000 tokens, and a set has all in pages", async () => {
  const many = Array.from({ length: 250 }, (_, i): [string, string] => [`workflows/w${i}.yaml`, named(`w${i}`)]);
  const folder = folderWith({ ...FILES, ...Object.fromEntries(many) });
  const { client, call } = await connectService(folder);
  await client.listTools();
  writeFileSync(join(folder, "workflows", "later.yaml"), named("later"));
  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name)).toContain("later");
  expect(JSON.stringify(tools).length).toBeLessThan(4 * 5_000);
  expect(tools.map((tool) => tool.name)).toContain("run_workflow");
  // Not all of them are listed, and all are there.
  expect(await call("w0", { request: "?" })).toMatchObject({ ...isRun, workflow_name: "w0" });
  expect(await call("w249", { request: "?" })).toMatchObject({ ...isRun, workflow_name: "w249" });
  const { url } = await startServer([], { cwd: folder });
  const ask = async (params: JsonObject) => {
    const body = { jsonrpc: "2.0", id: 1, method: "tools/list", params };
    const headers = { ...JSON_TYPE, accept: "application/json, text/event-stream" };
    const answer = await fetch(`${url}/mcp?tools=workflows`, { method: "POST", headers, body: JSON.stringify(body) });
    const text = await answer.text();
    return (JSON.parse(/\{.*\}/.exec(text)?.[0] ?? "") as { readonly result: Page }).result;
  };
  const names: string[] = [];
  let page = await ask({});
  while (page.nextCursor !== undefined) {
    names.push(...page.tools.map((tool) => tool.name));
    page = await ask({ cursor: page.nextCursor });
  }
  names.push(...page.tools.map((tool) => tool.name));
  for (let i = 0; i < 250; i += 1) expect(names).toContain(`w${i}`);
  expect(new Set(names).size).toBe(names.length);
});

interface Page {
  readonly tools: readonly { readonly name: string }[];
  readonly nextCursor?: string;
}

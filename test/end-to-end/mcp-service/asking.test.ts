import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { ERAS, type TerminalClient, toTerminalClient } from "../mcp-terminal/terminal-client.ts";
import { AT_ONCE, application, REVIEW } from "../support/application.ts";
import { pawlCommand } from "../support/pawl.ts";
import { startServer } from "../support/server.ts";
import { connectService, endOwner } from "./service-client.ts";

type Era = (typeof ERAS)[number][1];

/** What a person says, each time that they are asked. */
type Person = (asked: JsonObject) => Promise<JsonObject> | JsonObject;

const NEEDY = `
name: needy
input_schema:
  type: object
  required: [who, tags]
  properties:
    who: { type: string, description: Whom to greet. }
    tags: { type: array, items: { type: string } }
steps:
  - id: draft
    prompt: "Greet {input.who} of {input.tags}"
`;

const COSTLY = `
name: costly
limits: { max_cost_usd: 0.015, on_exceeded: ask }
steps:
  - id: answer
    prompt: "One"
  - id: draft
    depends_on: [answer]
    prompt: "Two"
  - id: last
    depends_on: [draft]
    prompt: "Three"
`;

const FILES = {
  "workflows/review.yaml": REVIEW,
  "workflows/needy.yaml": NEEDY,
  "answers.yaml": AT_ONCE,
  "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
};

function newFolder(more: Readonly<Record<string, string>> = {}): string {
  const folder = application({ ...FILES, ...more });
  endOwner(folder);
  return folder;
}

/** A client with a person before it, over stdio. */
async function connectPerson(
  folder: string,
  { era, person }: { readonly era: Era; readonly person: Person },
): Promise<TerminalClient & { readonly asked: JsonObject[] }> {
  const { command, env } = pawlCommand(["mcp"], { cwd: folder });
  const [program = "", ...args] = command;
  const transport = new StdioClientTransport({ command: program, args, env, cwd: folder, stderr: "ignore" });
  return withPerson(transport, { era, person });
}

async function withPerson(
  transport: StdioClientTransport | StreamableHTTPClientTransport,
  { era, person }: { readonly era: Era; readonly person: Person },
) {
  const asked: JsonObject[] = [];
  const capabilities = { elicitation: {} };
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: era, capabilities });
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    asked.push(params as unknown as JsonObject);
    return (await person(params as unknown as JsonObject)) as { readonly action: "accept" };
  });
  onTestFinished(() => client.close());
  await client.connect(transport);
  const pid = transport instanceof StdioClientTransport ? (transport.pid ?? 0) : 0;
  return { ...toTerminalClient(client, pid), asked };
}

const approving: Person = () => ({ action: "accept", content: { answer: "approve", comment: "Fine." } });

async function countRuns({ call }: TerminalClient): Promise<number> {
  return ((await call("list_runs"))["items"] as readonly JsonObject[]).length;
}

describe.each(ERAS)("a client of %s", (name, era) => {
  test("asks the person before it for an approval, and the run goes on with the answer", async () => {
    const client = await connectPerson(newFolder(), { era, person: approving });
    expect(await client.call("review")).toMatchObject({ status: "completed" });
    expect(client.asked).toMatchObject([
      {
        message: expect.stringMatching(/review: Is it good\?[\s\S]*A draft\./),
        requestedSchema: { required: ["answer"] },
      },
    ]);
    expect(await countRuns(client)).toBe(1);
  });

  test("may answer with other data, or with no", async () => {
    const answers: JsonObject[] = [
      { action: "accept", content: { answer: "approve", edited: '"Another draft."' } },
      { action: "accept", content: { answer: "reject", comment: "No." } },
    ];
    const person = () => answers.shift() ?? { action: "cancel" };
    const { call } = await connectPerson(newFolder(), { era, person });
    expect(await call("review")).toMatchObject({ status: "completed", outputs: { look: "Another draft." } });
    expect(await call("run_workflow", { workflow_name: "review", wait: true })).toMatchObject({ status: "failed" });
  });

  test.each(["decline", "cancel"])("leaves the question open where the person says %s", async (action) => {
    const client = await connectPerson(newFolder(), { era, person: () => ({ action }) });
    const { run_id, status } = await client.call("review");
    expect(status).toBe("awaiting_approval");
    expect(client.asked).toHaveLength(1);
    expect(await client.call("list_approvals")).toMatchObject({ items: [{ run_id, path: "look" }] });
    expect(await countRuns(client)).toBe(1);
  });

  test("passes on what an MCP server asks of a step, with the form that the answer must fit", async () => {
    const log = join(mkdtempSync(join(tmpdir(), "pawl-log-")), "log");
    onTestFinished(() => rmSync(dirname(log), { recursive: true }));
    const old = fileURLToPath(new URL("../../fakes/mcp-server/old_server.py", import.meta.url));
    const folder = newFolder({
      ".mcp.json": JSON.stringify({ mcpServers: { it: { command: "python3", args: [old] } } }),
      "workflows/book.yaml": `name: book\nsteps:\n  - {id: book, type: mcp, tool: it.book, params: {log: "${log}"}}\n`,
    });
    const content = { answer: "approve", edited: '{"seats": 2}' };
    const client = await connectPerson(folder, { era, person: () => ({ action: "accept", content }) });
    expect(await client.call("book")).toMatchObject({ status: "completed", outputs: { book: 'Booked {"seats": 2}' } });
    expect(JSON.stringify(client.asked)).toMatch(/How many seats\?.*must fit.*seats.*minimum/);
  });

  test("asks for the input that is missing, and what was given stays", async () => {
    const content = { who: "Ada", "tags (JSON)": '["a", "b"]' };
    const client = await connectPerson(newFolder(), { era, person: () => ({ action: "accept", content }) });
    const { run_id = null, status } = await client.call("needy", { who: "Bob" });
    expect(status).toBe("completed");
    const [{ requestedSchema } = {}] = client.asked;
    expect(requestedSchema).toMatchObject({ properties: { "tags (JSON)": { type: "string" } } });
    expect(JSON.stringify(await client.call("get_run_step", { run_id, path: "draft" }))).toContain("Greet Bob of");
    expect(await countRuns(client)).toBe(1);
  });

  test("is refused where the person does not say what is missing", async () => {
    const client = await connectPerson(newFolder(), { era, person: () => ({ action: "decline" }) });
    expect(await client.refusal("needy", { who: "Ada" })).toMatch(/^INPUT_INVALID: /);
    expect(client.asked).toHaveLength(1);
  });

  test("asks for more than the budget", async () => {
    const files = {
      "workflows/costly.yaml": COSTLY,
      "answers.yaml": `${AT_ONCE}  last: {reply: "x", cost_usd: 0.01}\n`,
    };
    const client = await connectPerson(newFolder(files), { era, person: approving });
    expect(await client.call("costly")).toMatchObject({ status: "completed" });
    expect(client.asked.length).toBeGreaterThanOrEqual(1);
  });

  test("that is gone while it asks leaves the question open, for another one to answer, once", async () => {
    const folder = newFolder();
    const reached = Promise.withResolvers<void>();
    const person = () => {
      reached.resolve();
      return new Promise<JsonObject>(() => undefined);
    };
    const first = await connectPerson(folder, { era, person });
    first.call("review").catch(() => undefined);
    await reached.promise;
    process.kill(first.pid, "SIGKILL");
    const second = await connectService(folder, era);
    const { items } = await second.call("list_approvals");
    const [{ run_id = null } = {}] = items as readonly JsonObject[];
    expect(await second.call("respond_to_run", { run_id, answer: "approve" })).toMatchObject({ answer: "approve" });
    expect(await second.refusal("respond_to_run", { run_id, answer: "reject" })).toMatch(/^(RUN_FINISHED|APPROVAL_)/);
    await expect.poll(async () => (await second.call("get_run_status", { run_id }))["status"]).toBe("completed");
    expect(await countRuns(second)).toBe(1);
  });

  test("whose person answers what another one has answered meanwhile is told how the run went", async () => {
    const folder = newFolder();
    const other = await connectService(folder, era);
    const person = async () => {
      const { items } = await other.call("list_approvals");
      const [{ run_id = null } = {}] = items as readonly JsonObject[];
      await other.call("respond_to_run", { run_id, answer: "approve" });
      return { action: "accept", content: { answer: "reject" } };
    };
    const client = await connectPerson(folder, { era, person });
    expect(await client.call("review")).toMatchObject({ status: "completed" });
  });

  test("is asked at /mcp, too, and a server that has begun anew tells it what waits", async () => {
    const folder = newFolder();
    const server = await startServer([], { cwd: folder });
    const port = new URL(server.url).port;
    const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`));
    const client = await withPerson(transport, { era, person: approving });
    expect(await client.call("review")).toMatchObject({ status: "completed" });
    server.kill("SIGTERM");
    await server.ended;
    await startServer(["--port", port], { cwd: folder });
    expect(await client.call("review")).toMatchObject({ status: name === "2026" ? "completed" : "awaiting_approval" });
  });
});

test("a client that cannot ask is told what waits", async () => {
  const folder = newFolder();
  const { call, refusal } = await connectService(folder);
  expect(await call("review")).toMatchObject({ status: "awaiting_approval" });
  expect(await refusal("needy", { who: "Ada" })).toMatch(/^INPUT_INVALID: /);
});

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { application } from "../../end-to-end/support/application.ts";
import { type RunningServer, startServer } from "../../end-to-end/support/server.ts";
import { newTestDatabase } from "../../support/test-database.ts";

/** Speaks MCP over stdin and stdout. Its tool leaves a line in a file, and then works until nobody waits any more. */
const TOOL_SERVER = `
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "pay", version: "1" } }),
  "tools/list": () => ({ tools: [{ name: "charge", inputSchema: { type: "object" } }] }),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "tools/call") appendFileSync(process.env.EFFECTS, "charged\\n");
  else if (answers[method] !== undefined)
    console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method](params) }));
  else if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "Unknown" } }));
});
`;

const CHARGE = (name: string, more: string) => `
name: ${name}
steps:
  - {id: charge, type: mcp, tool: pay.charge, timeout: 300${more}}
`;

const SHELL = `
name: shell
steps:
  - {id: open, type: terminal, tool: open_terminal, params: {shell: "sh", environment: {EFFECTS: "{input.effects}"}}}
  - {id: say, type: terminal, tool: send_input, depends_on: [open],
     params: {session_id: "{steps.open.output.session_id}", input_text: "echo typed >> $EFFECTS\\n"}}
  - {id: look, type: terminal, tool: await_output, depends_on: [say],
     params: {session_id: "{steps.open.output.session_id}", pattern: "never said", timeout: 120}}
`;

interface SeenEvent {
  readonly type: string;
  readonly path?: string;
  readonly code?: string;
}

interface SeenRun {
  readonly status: string;
  readonly error: { readonly code: string } | null;
}

/** Two processes over one database, of which the first one drives the run of the workflow. */
async function begin(workflow: string) {
  const folder = application({
    "server.mjs": TOOL_SERVER,
    "workflows/charge.yaml": CHARGE("charge", ""),
    "workflows/charge-once.yaml": CHARGE("charge-once", ", at_most_once: true"),
    "workflows/shell.yaml": SHELL,
  });
  const effects = join(folder, "effects");
  const env = {
    DATABASE_URL: await newTestDatabase(),
    PAWL_SECRETS__KEY: "0123456789abcdef0123456789abcdef",
    PAWL_DATABASE__LEASE_MS: "2000",
    EFFECTS: effects,
    PAWL_MCP__SERVERS: JSON.stringify({
      pay: { command: process.execPath, args: [join(folder, "server.mjs")], env: { EFFECTS: effects } },
    }),
  };
  const start = (n: number) => startServer(["--data", join(folder, `data-${n}`)], { cwd: folder, env });
  const holder = await start(1);
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ workflow, input: { effects } }),
  };
  const { data } = (await (await fetch(`${holder.url}/workflows/run`, init)).json()) as { data: { run_id: string } };
  const done = () => (existsSync(effects) ? readFileSync(effects, "utf8").trim().split("\n") : []);
  return { holder, other: await start(2), id: data.run_id, done };
}

async function read<T>({ url }: RunningServer, path: string): Promise<T> {
  return ((await (await fetch(url + path)).json()) as { data: T }).data;
}

async function eventsOf(server: RunningServer, id: string): Promise<readonly SeenEvent[]> {
  const { items } = await read<{ items: { event: SeenEvent }[] }>(server, `/runs/${id}/events`);
  return items.map(({ event }) => event);
}

test("the call of a tool server that dies with its worker is interrupted, and one that may run once is not made again", async () => {
  const { holder, other, id, done } = await begin("charge-once");
  await expect.poll(done).toEqual(["charged"]);
  holder.kill("SIGKILL");
  const run = () => read<SeenRun>(other, `/runs/${id}`);
  await expect.poll(run, { timeout: 30_000 }).toMatchObject({ status: "failed", error: { code: "INTERRUPTED" } });
  expect(await eventsOf(other, id)).toContainEqual(
    expect.objectContaining({ type: "stepInterrupted", path: "charge", cause: "crash" }),
  );
  expect(done()).toEqual(["charged"]);
});

test("the call of a tool server that dies with its worker is made again by another one only behind a record of it", async () => {
  const { holder, other, id, done } = await begin("charge");
  await expect.poll(done).toEqual(["charged"]);
  holder.kill("SIGKILL");
  await expect.poll(done, { timeout: 30_000 }).toEqual(["charged", "charged"]);
  const interrupted = (await eventsOf(other, id)).filter(({ type }) => type === "stepInterrupted");
  expect(interrupted).toEqual([expect.objectContaining({ path: "charge", cause: "crash" })]);
  expect((await read<SeenRun>(other, `/runs/${id}`)).status).toBe("running");
});

test("a terminal that dies with its worker is lost for the run: nothing is typed into another one", async () => {
  const { holder, other, id, done } = await begin("shell");
  await expect.poll(done).toEqual(["typed"]);
  await expect
    .poll(async () => (await eventsOf(other, id)).filter(({ type }) => type === "stepSucceeded"))
    .toHaveLength(2);
  holder.kill("SIGKILL");
  const run = () => read<SeenRun>(other, `/runs/${id}`);
  await expect.poll(run, { timeout: 30_000 }).toMatchObject({ status: "failed", error: { code: "SESSION_LOST" } });
  expect(await eventsOf(other, id)).toContainEqual(
    expect.objectContaining({ type: "stepInterrupted", path: "look", cause: "crash" }),
  );
  expect(done()).toEqual(["typed"]);
});

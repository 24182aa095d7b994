import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { JsonObject } from "../../src/core/json.ts";
import { McpServers } from "../../src/executors/mcp-servers/mcp-servers.ts";
import { ServerPool } from "../../src/executors/mcp-servers/server-pool.ts";
import { McpToolbox } from "../../src/executors/mcp-servers/toolbox/toolbox.ts";
import { createOutbound } from "../../src/executors/outbound/outbound.ts";
import { JsonSchemas } from "../../src/schemas/json-schemas.ts";
import { type Comparison, compare, timed } from "../support/compare.ts";
import { heapMib, MIB } from "../support/heap-mib.ts";

const SERVER = fileURLToPath(new URL("../../test/fakes/mcp-server/main.ts", import.meta.url));
const AGENTS = 50;
const SERVERS = 5;
const CALLS = 20;
const NEVER = new AbortController().signal;

/** Calls a tool for a caller and gives back whom the server has answered. */
type Ask = (caller: string) => Promise<string>;

/** 50 agents at once, each calling tools of its server one after another; beside the SDK's bare client doing the same. */
export async function benchAgentTools(rounds: number): Promise<Comparison[]> {
  const bare = await Promise.all(Array.from({ length: SERVERS }, connectBare));
  const pool = new ServerPool({
    version: "0.0.0",
    connectTimeoutMs: 60_000,
    pingIntervalMs: 30_000,
    outbound: createOutbound({ allow: [] }),
    confine: () => Promise.reject(new Error("nothing is confined here")),
  });
  const toolbox = openToolbox(pool);
  try {
    const bareAgents = Array.from({ length: AGENTS }, (_, agent) => toBareAsk(bare[agent % SERVERS]));
    const agents = await Promise.all(Array.from({ length: AGENTS }, (_, agent) => join(toolbox, agent % SERVERS)));
    const before = heapMib();
    const comparison = await compare({
      name: `${AGENTS} agents at once, ${AGENTS * CALLS} tool calls of ${SERVERS} servers`,
      floorName: "the SDK's bare client",
      rounds,
      floor: () => timed(() => askAll(bareAgents)),
      ours: () => timed(() => askAll(agents)),
    });
    const calls = AGENTS * CALLS * (rounds + 1);
    const rss = (process.memoryUsage.rss() / MIB).toFixed(0);
    const note = `heap ${before.toFixed(1)} MiB, after ${calls} calls ${heapMib().toFixed(1)} MiB, ${rss} MiB resident; no answer for anybody else`;
    return [{ ...comparison, note }];
  } finally {
    await pool.close();
    await Promise.all(bare.map((client) => client.close()));
  }
}

async function askAll(agents: readonly Ask[]): Promise<void> {
  await Promise.all(
    agents.map(async (ask, agent) => {
      for (let call = 0; call < CALLS; call += 1) {
        const caller = `agent ${agent}, call ${call}`;
        const answered = await ask(caller);
        if (answered !== caller) throw new Error(`${caller} was given the answer for ${answered}.`);
      }
    }),
  );
}

async function connectBare(): Promise<Client> {
  const client = new Client({ name: "bench", version: "0.0.0" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [SERVER], stderr: "ignore" }));
  return client;
}

function toBareAsk(client: Client | undefined): Ask {
  if (client === undefined) throw new Error("There is no server.");
  return async (caller) => {
    const { content } = await client.callTool({ name: "echo", arguments: { caller } });
    const [first] = content;
    return callerIn(first?.type === "text" ? first.text : "");
  };
}

function openToolbox(pool: ServerPool): McpToolbox {
  const around = { folder: process.cwd(), env: () => undefined, pool, timeoutMs: 60_000 };
  return new McpToolbox({
    own: new McpServers({ ...around, entries: async () => new Map() }),
    pool,
    readPinned: (servers) => {
      const entries = Object.entries(servers).map(([name, settings]) => [name, { origin: "bench", settings }] as const);
      return new McpServers({ ...around, entries: async () => new Map(entries as []) });
    },
    validators: new JsonSchemas(),
  });
}

/** As an agent does at its start. */
async function join(toolbox: McpToolbox, server: number): Promise<Ask> {
  const ids = Array.from({ length: SERVERS }, (_, index) => `server${index}`);
  const servers: JsonObject = Object.fromEntries(ids.map((id) => [id, { command: process.execPath, args: [SERVER] }]));
  const { tools, missing } = await toolbox.offer({ servers, clients: [`server${server}`] }, NEVER);
  const echo = tools.find(({ tool }) => tool === "echo");
  if (echo === undefined) throw new Error(JSON.stringify(missing));
  return async (caller) => {
    const { text } = await echo.call({ caller }, { idempotencyKey: caller }, NEVER);
    return callerIn(text);
  };
}

function callerIn(text: string): string {
  const { args } = JSON.parse(text) as { readonly args: { readonly caller: string } };
  return args.caller;
}

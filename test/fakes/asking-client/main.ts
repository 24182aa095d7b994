/**
 * What the official runner starts as a client whose person says yes to whatever is asked, as it is shown: `node main.ts URL`. It
 * lists the tools of the server and calls each, as a step does that is begun again with the answer.
 */
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { McpServers } from "../../../src/executors/mcp-servers/mcp-servers.ts";
import type { Protocol } from "../../../src/executors/mcp-servers/server-entry.ts";
import { openPool } from "../mcp-server/open-pool.ts";

const NEVER = new AbortController().signal;
const MAX_QUESTIONS = 20;
const url = process.argv.at(-1) ?? "";
const protocol: Protocol = process.env["MCP_CONFORMANCE_PROTOCOL_VERSION"] === "2026-07-28" ? "2026-07-28" : "auto";

let close = async () => {};
const pool = openPool({}, (end) => {
  close = end;
});
const entries = async () => new Map([["it", { origin: "the runner", settings: { url, protocol } }]]);
const servers = new McpServers({ folder: process.cwd(), env: () => undefined, entries, pool, timeoutMs: 10_000 });
try {
  for (const { name, inputSchema } of (await servers.list("it", NEVER)).tools) await callWithYes(name, inputSchema);
} catch (error) {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
} finally {
  await close();
}

async function callWithYes(tool: string, schema: JsonObject): Promise<void> {
  const records = new Map<string, Json>();
  const memory = {
    runId: "run",
    id: tool,
    key: "call",
    record: async (key: string, value: Json) => void records.set(key, value),
    recorded: async (key: string) => records.get(key),
  };
  const args = Object.fromEntries(Object.keys(Object(schema["properties"])).map((key) => [key, 1]));
  const request = { server: "it", tool, arguments: args, meta: { "pawl/idempotency-key": tool } };
  for (let asked = 0; asked < MAX_QUESTIONS; asked += 1) {
    const answer = await servers.callAsking({ ...request, memory, repeats: "always" }, NEVER);
    if (!("key" in answer)) return;
    records.set(answer.key, { answer: "approve" });
  }
}

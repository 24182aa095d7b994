/** A host that connects to a server, says the server's process id, and stays. Killed by its test. */
import { McpServers } from "../../../src/executors/mcp-servers/mcp-servers.ts";
import { ServerPool } from "../../../src/executors/mcp-servers/server-pool.ts";
import { fake } from "./server-entries.ts";

const servers = new McpServers({
  folder: process.cwd(),
  env: () => undefined,
  entries: async () => new Map([["fake", fake()]]),
  pool: new ServerPool({ version: "1.0.0", connectTimeoutMs: 30_000, pingIntervalMs: 30_000 }),
  timeoutMs: 30_000,
});
const request = { server: "fake", tool: "process", arguments: {} };
const { result } = await servers.call(request, new AbortController().signal);
process.stdout.write(JSON.stringify(result.structuredContent));

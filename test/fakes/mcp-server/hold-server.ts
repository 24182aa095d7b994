/** A host that connects to servers, says the process ids of all that it has started, and stays. Killed by its test. */

import { McpServers } from "../../../src/executors/mcp-servers/mcp-servers.ts";
import { ServerPool } from "../../../src/executors/mcp-servers/server-pool.ts";
import { createOutbound } from "../../../src/executors/outbound/outbound.ts";
import { fake } from "./server-entries.ts";

const servers = new McpServers({
  folder: process.cwd(),
  env: () => undefined,
  entries: async () =>
    new Map([
      ["fake", fake()],
      ["stubborn", fake(["ignore-sigterm"])],
    ]),
  pool: new ServerPool({
    version: "1.0.0",
    connectTimeoutMs: 30_000,
    pingIntervalMs: 30_000,
    outbound: createOutbound({ allow: [] }),
    confine: () => Promise.reject(new Error("nothing is confined here")),
  }),
  timeoutMs: 30_000,
});
const pids: unknown[] = [];
for (const server of ["fake", "stubborn"]) {
  for (const tool of ["process", "helper"]) {
    const { result } = await servers.call({ server, tool, arguments: {} }, new AbortController().signal);
    pids.push(Object(result.structuredContent).pid);
  }
}
process.stdout.write(JSON.stringify(pids));

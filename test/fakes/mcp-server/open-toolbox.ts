import { readEntries } from "../../../src/config/read-mcp-servers.ts";
import { McpServers } from "../../../src/executors/mcp-servers/mcp-servers.ts";
import type { ServerPoolOptions } from "../../../src/executors/mcp-servers/server-pool.ts";
import { McpToolbox } from "../../../src/executors/mcp-servers/toolbox/toolbox.ts";
import { JsonSchemas } from "../../../src/schemas/json-schemas.ts";
import { type CloseWith, openPool } from "./open-pool.ts";

interface Options extends Partial<ServerPoolOptions> {
  readonly idleMs?: number;
  readonly timeoutMs?: number;
}

/** A toolbox as the application has it, without servers of its own. */
export function openToolbox(
  variables: Readonly<Record<string, string>> = {},
  options: Options = {},
  closeWith?: CloseWith,
) {
  const { idleMs = 300_000, timeoutMs = 30_000, ...more } = options;
  const pool = openPool(more, closeWith);
  const around = { folder: process.cwd(), env: (name: string) => variables[name], pool, timeoutMs };
  const toolbox = new McpToolbox({
    own: new McpServers({ ...around, entries: async () => new Map() }),
    pool,
    readPinned: (servers, { folder = process.cwd(), reach }) => {
      return new McpServers({
        ...around,
        folder,
        reach,
        idleMs,
        entries: () => readEntries(servers, "the definition"),
      });
    },
    validators: new JsonSchemas(),
  });
  return { toolbox, pool };
}

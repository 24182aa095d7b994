import { describeCommand } from "../../../core/trust/secret-names.ts";
import type { ToolServerState } from "../../../ports/tools/agent-toolbox.ts";
import { createRedactor } from "../../output/redact.ts";
import type { ManagedServer } from "../managed-server.ts";
import { McpFailure } from "../mcp-failure.ts";
import type { McpServers } from "../mcp-servers.ts";
import type { ServerAddress } from "../resolve-server.ts";
import type { ServerPool } from "../server-pool.ts";

/** The application's own servers in their order, then those of definitions that are known now. Nothing is connected. */
export async function listServerStates(own: McpServers, pool: ServerPool): Promise<readonly ToolServerState[]> {
  const states: ToolServerState[] = [];
  const listed = new Set<ManagedServer>();
  for (const [server, { origin }] of await entriesOf(own, states)) {
    try {
      const managed = await own.find(server);
      listed.add(managed);
      states.push(toState(managed));
    } catch (failure) {
      if (!(failure instanceof McpFailure)) throw failure;
      states.push(invalid(server, origin, failure));
    }
  }
  return [...states, ...pool.servers.filter((managed) => !listed.has(managed)).map(toState)];
}

/** A file that cannot be read stands for the servers in it. */
async function entriesOf(own: McpServers, states: ToolServerState[]): ReturnType<McpServers["entries"]> {
  try {
    return await own.entries();
  } catch (failure) {
    states.push(invalid("*", "the configuration", failure));
    return new Map();
  }
}

function invalid(server: string, origin: string, failure: unknown): ToolServerState {
  const lastFailure = failure instanceof Error ? failure.message : String(failure);
  return { server, origin, transport: "unknown", state: "invalid", callsInFlight: 0, restarts: 0, lastFailure };
}

function toState({ address, state }: ManagedServer): ToolServerState {
  const { name, origin, way } = address;
  const transport = way.kind === "process" ? "stdio" : way.kind;
  return { server: name, origin, transport, reached: describeWay(address), ...state };
}

/** An address says who calls in its name and its query. */
function describeWay({ way, secrets }: ServerAddress): string {
  const written =
    way.kind === "process" ? describeCommand([way.command, ...way.args]) : way.url.origin + way.url.pathname;
  return createRedactor(secrets).text(written);
}

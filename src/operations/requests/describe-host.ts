import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import type { AgentToolbox, ToolServerState } from "../../ports/tools/agent-toolbox.ts";
import { missingAgentsFile } from "../agents/missing-agents-file.ts";
import type { Ports, Stores } from "../application/ports.ts";

/** The host of agents, as `GET /status` tells of it. */
export interface HostDescription {
  readonly status: "initialized";
  readonly servers: readonly ServerDescription[];
}

interface ServerDescription {
  readonly server: string;
  readonly state: ToolServerState["state"];
  readonly transport: ToolServerState["transport"];
  readonly origin?: string;
  readonly tools?: number;
  readonly calls_in_flight: number;
  readonly restarts: number;
  readonly last_failure?: string;
  readonly next_try_at?: string;
}

/**
 * Tells what the host knows of the MCP servers of its agents; none is connected for it. A tenant is told how they are, not where
 * they are configured and why they fail. Throws `JOURNAL_IO` where no run could be kept, `FILE_NOT_FOUND` where the configured agents file is missing.
 */
export async function describeHost(
  app: Pick<Ports, "appDir" | "config" | "records" | "toolbox" | "tenantId">,
): Promise<HostDescription> {
  await checkRecords(app);
  const missing = missingAgentsFile(app);
  if (missing !== undefined) throw missing;
  const toolbox: AgentToolbox = await app.toolbox();
  const states = await toolbox.states();
  return { status: "initialized", servers: states.map((state) => describeServer(state, app.tenantId === undefined)) };
}

async function checkRecords(app: Pick<Stores, "records">): Promise<void> {
  try {
    await (await app.records()).journal.listRuns({ limit: 1 });
  } catch (cause) {
    if (isPawlError(cause)) throw cause;
    throw new PawlError("JOURNAL_IO", { message: "The host is not ready: its records cannot be read.", cause });
  }
}

function describeServer(known: ToolServerState, isWhole: boolean): ServerDescription {
  const { server, state, transport, origin, tools, callsInFlight, restarts, lastFailure, nextTryAt } = known;
  return {
    server,
    state,
    transport,
    ...(isWhole ? { origin } : {}),
    ...(tools === undefined ? {} : { tools: tools.length }),
    calls_in_flight: callsInFlight,
    restarts,
    ...(lastFailure === undefined || !isWhole ? {} : { last_failure: lastFailure }),
    ...(nextTryAt === undefined ? {} : { next_try_at: new Date(nextTryAt).toISOString() }),
  };
}

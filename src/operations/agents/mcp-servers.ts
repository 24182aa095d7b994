import { z } from "zod";
import { toIsoTime } from "../../core/iso-time.ts";
import type { ToolServerState } from "../../ports/tools/agent-toolbox.ts";
import type { Execution, Place, Principal } from "../application/ports.ts";
import { refuseTenant } from "../application/refuse-tenant.ts";
import { defineOperation, type OperationContext } from "../operation.ts";
import { type Frozen, listOf, timeSchema } from "../schemas.ts";

const serverSchema = z
  .object({
    name: z.string(),
    origin: z.string().describe("The file that configures it."),
    transport: z.enum(["stdio", "http", "sse", "unknown"]),
    reached: z
      .string()
      .nullable()
      .describe("The command line of its program, or its URL, without secrets; null where its entry cannot be used."),
    state: z
      .enum(["connected", "connecting", "idle", "failed"])
      .describe("`idle`: not connected, as nothing needs it now; the next use connects it."),
    error: z.string().nullable().describe("Its last failure, which may be past."),
    tools: z
      .array(z.object({ name: z.string(), description: z.string().describe("The server's own words.") }))
      .nullable()
      .describe("null where it is not connected."),
    calls_in_flight: z.number().int(),
    restarts: z.number().int().describe("Connections that were made after the first."),
    next_try_at: timeSchema.nullable().describe("It failed again and again, and is left alone until then."),
  })
  .meta({ id: "McpServer" });

/** Whoever waits has a page open. */
const CHECK_MS = 10_000;

export const listMcpServers = defineOperation({
  id: "listMcpServers",
  summary: "List the MCP servers that this process knows: those configured, and those of definitions in use",
  scope: "admin",
  effect: "reads",
  input: z.strictObject({
    check: z
      .boolean()
      .default(false)
      .describe(
        "Connects those configured and lists their tools first, for at most 10 s. Programs are started for it.",
      ),
  }),
  output: listOf(serverSchema),
  errors: ["FORBIDDEN"],
  http: { method: "GET", path: "/mcp-servers" },
  cli: { no: "`pawl doctor` connects each and tells how it is." },
  mcp: { no: "A model has their tools." },
  async handle({ app }: OperationContext<Place & Principal & Execution>, { check }) {
    refuseTenant(app, "The servers are those of the whole application");
    const toolbox = await app.toolbox();
    if (check) await toolbox.offer({}, AbortSignal.timeout(CHECK_MS)).catch(() => undefined);
    return { items: (await toolbox.states()).map((state) => describeServer(state, app.mask)), next_cursor: null };
  },
});

const STATES = {
  off: "idle",
  connecting: "connecting",
  ready: "connected",
  waiting: "failed",
  failed: "failed",
  invalid: "failed",
} as const satisfies Record<ToolServerState["state"], string>;

function describeServer(
  {
    server,
    origin,
    transport,
    reached,
    state,
    tools,
    callsInFlight,
    restarts,
    lastFailure,
    nextTryAt,
  }: ToolServerState,
  mask: (text: string) => string,
): Frozen<z.output<typeof serverSchema>> {
  return {
    name: server,
    origin,
    transport,
    reached: reached === undefined ? null : mask(reached),
    state: STATES[state],
    error: lastFailure === undefined ? null : mask(lastFailure),
    tools: tools ?? null,
    calls_in_flight: callsInFlight,
    restarts,
    next_try_at: nextTryAt === undefined ? null : toIsoTime(nextTryAt),
  };
}

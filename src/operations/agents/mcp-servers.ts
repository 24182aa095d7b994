import { z } from "zod";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import type { ToolServerState } from "../../ports/tools/agent-toolbox.ts";
import type { Execution, Place, Principal } from "../application/ports.ts";
import { refuseTenant } from "../application/refuse-tenant.ts";
import { defineOperation, type OperationContext } from "../operation.ts";
import { type Frozen, listOf, timeSchema } from "../schemas.ts";
import { shellWord } from "../shell-word.ts";

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
    wants_login: z.boolean().describe("Only a person can help, who logs in: `POST /mcp-servers/{name}/login`."),
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

const THEIRS = "The logins are those of the whole application";
const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"];

export const beginMcpLogin = defineOperation({
  id: "beginMcpLogin",
  summary: "Begin a login to an MCP server of the application, which a person goes on with in a browser",
  scope: "write",
  effect: { does: "writes", beyond: true },
  input: z.strictObject({
    name: z.string().describe("The server's name."),
    page: z
      .url({ protocol: /^https?$/ })
      .describe(
        "The address of the pages, where the person comes back to: of this machine, or of `server.cors_origins`.",
      ),
  }),
  output: z.object({ address: z.string().describe("Where the person says yes, within five minutes.") }),
  errors: ["FORBIDDEN", "MCP_SERVER_UNKNOWN", "MCP_LOGIN_FAILED"],
  http: { method: "POST", path: "/mcp-servers/{name}/login" },
  cli: { no: "`pawl mcp login` waits for the person on this machine." },
  mcp: { no: "A person logs in." },
  async handle({ app }: OperationContext<Place & Principal & Execution>, { name, page }) {
    refuseTenant(app, THEIRS);
    const { origin, hostname } = new URL(page);
    // Whoever can begin a login could have other people's answers sent to a place of his own.
    if (!LOOPBACK.includes(hostname) && !app.config.settings.server.cors_origins.includes(origin))
      throw new PawlError("MCP_LOGIN_FAILED", {
        message: `${origin} is not known to be an address of this server, so no login comes back to it.`,
        remedy: `List it under \`server.cors_origins\`, or log in with \`pawl mcp login ${shellWord(name)}\`.`,
      });
    const logins = await app.pageLogins();
    return { address: await logins.begin(name, { redirectUrl: `${origin}/ui/agents`, by: app.key?.id }) };
  },
});

export const finishMcpLogin = defineOperation({
  id: "finishMcpLogin",
  summary: "Finish a login to an MCP server with what the person came back with, for the key that began it",
  scope: "write",
  effect: { does: "writes", beyond: true },
  input: z.strictObject({
    state: z.string().describe("As it came back."),
    code: z.string().optional().describe("As it came back, where the person has said yes."),
    error: z.string().optional().describe("As it came back otherwise."),
    iss: z.string().optional().describe("As it came back: whose answer it is."),
  }),
  output: z.object({ name: z.string().describe("The server's name."), scope: z.string() }),
  errors: ["FORBIDDEN", "MCP_LOGIN_FAILED"],
  http: { method: "POST", path: "/mcp-servers/login" },
  cli: { no: "`pawl mcp login` waits for the person on this machine." },
  mcp: { no: "A person logs in." },
  async handle({ app }: OperationContext<Principal & Execution>, answer) {
    refuseTenant(app, THEIRS);
    const given = Object.entries(answer).filter(([, value]) => value !== undefined);
    return (await app.pageLogins()).finish(new URLSearchParams(given), app.key?.id);
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
  server: ToolServerState,
  mask: (text: string) => string,
): Frozen<z.output<typeof serverSchema>> {
  return {
    name: server.server,
    origin: server.origin,
    transport: server.transport,
    reached: server.reached === undefined ? null : mask(server.reached),
    state: STATES[server.state],
    error: server.lastFailure === undefined ? null : mask(server.lastFailure),
    wants_login: server.wantsLogin ?? false,
    tools: server.tools ?? null,
    calls_in_flight: server.callsInFlight,
    restarts: server.restarts,
    next_try_at: server.nextTryAt === undefined ? null : toIsoTime(server.nextTryAt),
  };
}

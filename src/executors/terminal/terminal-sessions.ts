import type { TerminalToolName, ToolInput, ToolOutput } from "../../ports/terminals/terminal-tools.ts";
import type { LiveTerminals } from "../../ports/terminals/terminal-views.ts";
import { TerminalPolicy } from "./policy/terminal-policy.ts";
import { SessionTable } from "./session/session-table.ts";
import type { TerminalSession } from "./session/terminal-session.ts";
import type { TerminalOptions, TerminalSurroundings } from "./terminal-options.ts";
import { awaitOutput } from "./tools/await-output.ts";
import { createAuditLog, Gate, type ToolCall } from "./tools/gate.ts";
import { getScreenContent } from "./tools/get-screen-content.ts";
import { openTerminal } from "./tools/open-terminal.ts";
import { sendInput } from "./tools/send-input.ts";
import { SESSION_NOT_FOUND, type ToolHandler, type ToolParts } from "./tools/tool-parts.ts";
import { createTerminalViews } from "./view/create-terminal-views.ts";

/** The terminals of this process and the tools over them. */
export interface TerminalSessions {
  /** Does what a tool is asked for: see `ToolHandler`. */
  call<Name extends TerminalToolName>(tool: Name, request: ToolInput<Name>, call?: ToolCall): Promise<ToolOutput<Name>>;
  /** Takes up the sessions that an earlier process has left, where the terminals outlive one. Before anything else. */
  takeUp(): Promise<void>;
  /** For views and recordings. `tenantId`: only if it is that tenant's. */
  find(sessionId: string, tenantId?: string): TerminalSession | undefined;
  /** For people who look at them, and type. */
  readonly views: LiveTerminals;
  /** Ends the sessions that somebody has opened. */
  exitOwned(owner: string): Promise<void>;
  /** Ends all sessions and everything in them, except those that outlive this process. */
  close(): Promise<void>;
}

export function createTerminalSessions(options: TerminalOptions, surroundings: TerminalSurroundings): TerminalSessions {
  const table = new SessionTable(options, surroundings.holder);
  const parts = toParts(options, surroundings, table);
  const tableFor = (tenantId: string | undefined) => (tenantId === undefined ? table : table.ofTenant(tenantId));
  return {
    call: (tool, request, call = {}) => HANDLERS[tool]({ ...parts, table: tableFor(call.tenantId) }, request, call),
    takeUp: () => table.takeUp((id) => surroundings.toWebUrl?.(id) ?? null),
    find: (sessionId, tenantId) => tableFor(tenantId).find(sessionId),
    views: createTerminalViews(parts),
    async exitOwned(owner) {
      const owned = table.list().filter(({ facts }) => facts.owner === owner);
      await Promise.all(owned.map(({ facts }) => table.destroy(facts.id)));
    },
    close: () => table.close(),
  };
}

function toParts(options: TerminalOptions, surroundings: TerminalSurroundings, table: SessionTable): ToolParts {
  const { homeDir, temporaryDir, currentDir, mask } = surroundings;
  const roots = [homeDir, temporaryDir, currentDir];
  const policy = new TerminalPolicy({ ...options, roots, now: () => performance.now() });
  const { auditLogPath } = options;
  const auditLog = auditLogPath === undefined ? undefined : createAuditLog(auditLogPath, mask);
  return {
    options,
    surroundings,
    policy,
    table,
    gate: new Gate(policy, auditLog),
  };
}

const HANDLERS: { readonly [Name in TerminalToolName]: ToolHandler<Name> } = {
  open_terminal: openTerminal,
  send_input: sendInput,
  await_output: awaitOutput,
  get_screen_content: getScreenContent,
  async list_terminal_sessions({ gate, table }, _, call) {
    gate.admit(call, { tool: "list_terminal_sessions" });
    const sessions = table.list().map(toListed);
    return { success: true, sessions, total_sessions: sessions.length };
  },
  async exit_terminal({ gate, table }, { session_id }, call) {
    gate.admit(call, { tool: "exit_terminal", session_id });
    const success = await table.destroy(session_id);
    return { success, session_id, message: success ? "Session destroyed" : SESSION_NOT_FOUND };
  },
};

function toListed(session: TerminalSession): ToolOutput<"list_terminal_sessions">["sessions"][number] {
  const { facts, exitCode } = session;
  return {
    session_id: facts.id,
    command: facts.command,
    state: session.state,
    created_at: facts.createdAt.toISOString(),
    last_activity: session.lastActivityAt.toISOString(),
    web_url: facts.webUrl,
    exit_code: exitCode,
  };
}

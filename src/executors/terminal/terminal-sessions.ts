import type { LiveTerminals } from "../../ports/terminal-views.ts";
import { createAuditLog } from "./policy/audit-log.ts";
import { TerminalPolicy } from "./policy/terminal-policy.ts";
import { SessionTable } from "./session/session-table.ts";
import type { TerminalSession } from "./session/terminal-session.ts";
import type { TerminalOptions, TerminalSurroundings } from "./terminal-options.ts";
import type {
  AwaitOutputRequest,
  AwaitOutputResult,
  ExitTerminalRequest,
  ExitTerminalResult,
  GetScreenContentRequest,
  GetScreenContentResult,
  ListedSession,
  ListTerminalSessionsResult,
  OpenTerminalRequest,
  OpenTerminalResult,
  SendInputRequest,
  SendInputResult,
  ToolCall,
} from "./tool-types.ts";
import { awaitOutput } from "./tools/await-output.ts";
import { Gate } from "./tools/gate.ts";
import { getScreenContent } from "./tools/get-screen-content.ts";
import { openTerminal } from "./tools/open-terminal.ts";
import { SESSION_NOT_FOUND } from "./tools/process-fields.ts";
import { sendInput } from "./tools/send-input.ts";
import type { ToolParts } from "./tools/tool-parts.ts";
import { createTerminalViews } from "./view/create-terminal-views.ts";

/**
 * The terminals of this process and the six tools over them. A tool answers `success: false` where it could not do what
 * was asked, rejects with `TERMINAL_REFUSED` where it may not, and with the signal's reason where it was broken off.
 */
export interface TerminalSessions {
  openTerminal(request: OpenTerminalRequest, call?: ToolCall): Promise<OpenTerminalResult>;
  sendInput(request: SendInputRequest, call?: ToolCall): Promise<SendInputResult>;
  awaitOutput(request: AwaitOutputRequest, call?: ToolCall): Promise<AwaitOutputResult>;
  getScreenContent(request: GetScreenContentRequest, call?: ToolCall): Promise<GetScreenContentResult>;
  listTerminalSessions(call?: ToolCall): Promise<ListTerminalSessionsResult>;
  exitTerminal(request: ExitTerminalRequest, call?: ToolCall): Promise<ExitTerminalResult>;

  /** Takes up the sessions that an earlier process has left, where the terminals outlive one. Before anything else. */
  takeUp(): Promise<void>;
  /** For views and recordings. */
  find(sessionId: string): TerminalSession | undefined;
  /** For people who look at them, and type. */
  readonly views: LiveTerminals;
  /** Ends the sessions that somebody has opened. */
  exitOwned(owner: string): Promise<void>;
  /** Ends all sessions and everything in them, except those that outlive this process. */
  close(): Promise<void>;
}

export function createTerminalSessions(options: TerminalOptions, surroundings: TerminalSurroundings): TerminalSessions {
  const parts = toParts(options, surroundings);
  const { table, gate } = parts;
  return {
    openTerminal: (request, call = {}) => openTerminal(parts, request, call),
    sendInput: (request, call = {}) => sendInput(parts, request, call),
    awaitOutput: (request, call = {}) => awaitOutput(parts, request, call),
    getScreenContent: (request, call = {}) => getScreenContent(parts, request, call),
    async listTerminalSessions(call = {}) {
      gate.admit(call, { tool: "list_terminal_sessions" });
      const sessions = table.list().map(toListed);
      return { success: true, sessions, total_sessions: sessions.length };
    },
    async exitTerminal({ session_id }, call = {}) {
      gate.admit(call, { tool: "exit_terminal", session_id });
      const success = await table.destroy(session_id);
      return { success, session_id, message: success ? "Session destroyed" : SESSION_NOT_FOUND };
    },
    takeUp: () => table.takeUp((id) => surroundings.toWebUrl?.(id) ?? null),
    find: (sessionId) => table.find(sessionId),
    views: createTerminalViews(parts),
    async exitOwned(owner) {
      const owned = table.list().filter(({ facts }) => facts.owner === owner);
      await Promise.all(owned.map(({ facts }) => table.destroy(facts.id)));
    },
    close: () => table.close(),
  };
}

function toParts(options: TerminalOptions, surroundings: TerminalSurroundings): ToolParts {
  const { homeDir, temporaryDir, currentDir, mask } = surroundings;
  const roots = [homeDir, temporaryDir, currentDir];
  const policy = new TerminalPolicy({ ...options, roots, now: () => performance.now() });
  const { auditLogPath } = options;
  const auditLog = auditLogPath === undefined ? undefined : createAuditLog(auditLogPath, mask);
  return {
    options,
    surroundings,
    policy,
    table: new SessionTable(options, surroundings.holder),
    gate: new Gate(policy, auditLog),
  };
}

function toListed(session: TerminalSession): ListedSession {
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

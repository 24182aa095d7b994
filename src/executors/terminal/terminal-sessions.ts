import { PawlError } from "../../core/errors/pawl-error.ts";
import type { JsonObject } from "../../core/json.ts";
import { REDACTED } from "../../core/trust/secret-names.ts";
import type { ContentMode, TerminalToolName, ToolInput, ToolOutput } from "../../ports/terminals/terminal-tools.ts";
import type { LiveTerminals, OutputView, TerminalSummary } from "../../ports/terminals/terminal-views.ts";
import { toPlainText } from "./command/cut-output.ts";
import { TerminalPolicy } from "./policy/terminal-policy.ts";
import type { OutputStream } from "./session/output-stream.ts";
import { type Sessions, SessionTable } from "./session/session-table.ts";
import type { TerminalSession } from "./session/terminal-session.ts";
import type { TerminalOptions, TerminalSurroundings } from "./terminal-options.ts";
import { awaitOutput } from "./tools/await-output.ts";
import { createAuditLog, Gate, type ToolCall } from "./tools/gate.ts";
import { openTerminal } from "./tools/open-terminal.ts";
import { runCommand } from "./tools/run-command.ts";
import { sendInput } from "./tools/send-input.ts";
import { lookAt, SESSION_NOT_FOUND, type ToolHandler, type ToolParts, toTyping } from "./tools/tool-parts.ts";
import { LiveOutput, Repainter, terminalNotFound } from "./view/live-output.ts";
import { LiveScreen } from "./view/live-screen.ts";

/** The terminals of this process and the tools over them. */
export interface TerminalSessions {
  call<Name extends TerminalToolName>(tool: Name, request: ToolInput<Name>, call?: ToolCall): Promise<ToolOutput<Name>>;
  /** Takes up the sessions that an earlier process has left, where the terminals outlive one. Before anything else. */
  takeUp(): Promise<void>;
  /** For views and recordings. `tenantId`: only if it is that tenant's. */
  find(sessionId: string, tenantId?: string): TerminalSession | undefined;
  /** For people who look at them, and type. */
  readonly views: LiveTerminals;
  /** Ends the opened sessions. */
  exitOwned(owner: string): Promise<void>;
  /** Ends all sessions and everything in them, except those that outlive this process. */
  close(): Promise<void>;
}

export function createTerminalSessions(options: TerminalOptions, surroundings: TerminalSurroundings): TerminalSessions {
  const table = new SessionTable(options, surroundings.holder);
  const parts = toParts(options, surroundings, table);
  const tableFor = (tenantId: string | undefined) =>
    tenantId === undefined ? table : table.ofTenant(tenantId, options.maxSessionsOfTenant);
  return {
    async call(tool, request, call = {}) {
      const table = tableFor(call.tenantId);
      const result = await HANDLERS[tool]({ ...parts, table }, request, call);
      return { ...result, ...(await tellHidden(table, { ...request, ...result })) };
    },
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

/** Those who answer know that what they type is not shown, and need not be kept. A command that has ended asks for nothing. */
async function tellHidden(table: Sessions, of: JsonObject): Promise<{ readonly hidden_prompt?: true }> {
  const { session_id: id, still_running: isRunning } = of;
  if (typeof id !== "string" || isRunning === false) return {};
  return (await table.find(id)?.asksHidden()) === true ? { hidden_prompt: true } : {};
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

const getScreenContent: ToolHandler<"get_screen_content"> = async ({ gate, table }, request, call) => {
  const { session_id, content_mode = "screen" } = request;
  const line_count = request.line_count ?? null;
  gate.admit(call, { tool: "get_screen_content", session_id, content_mode, line_count });
  const session = table.find(session_id);
  const fail = (error: string) => ({ success: false, session_id, ...lookAt(session), screen_content: null, error });
  if (session === undefined) return fail(`${SESSION_NOT_FOUND}: there is no session '${session_id}'.`);
  if (line_count !== null && !(Number.isInteger(line_count) && line_count > 0))
    return fail("The line_count must be a whole number from 1 on.");

  await session.flush();
  if (request.offset != null && !(Number.isInteger(request.offset) && request.offset >= 0))
    return fail("The offset must be a whole number from 0 on.");
  const from = request.offset ?? undefined;
  const { text, isTruncated, next } =
    from === undefined ? readContent(session, content_mode, line_count) : readFrom(session.stream, from);
  return {
    success: true,
    session_id,
    ...lookAt(session),
    screen_content: text,
    ...(isTruncated ? { truncated: true } : {}),
    ...(next === undefined ? {} : { next_offset: next }),
    error: null,
  };
};

interface Content {
  readonly text: string;
  readonly isTruncated?: boolean;
  /** The offset behind it. */
  readonly next?: number;
}

/** So much of the output is read at once, in bytes. */
const PART_BYTES = 16 * 1024;

/** The output from an offset on: whole lines, where one fits. */
function readFrom(stream: OutputStream, offset: number): Content {
  const from = Math.min(Math.max(offset, stream.start), stream.end);
  const part = stream.read(from, from + PART_BYTES);
  const lines = from + part.length < stream.end ? part.lastIndexOf("\n") + 1 : 0;
  const bytes = lines > 0 ? part.subarray(0, lines) : part;
  return { text: toPlainText(bytes.toString()), isTruncated: from > offset, next: from + bytes.length };
}

function readContent(session: TerminalSession, mode: ContentMode, lineCount: number | null): Content {
  const { screen } = session;
  switch (mode) {
    case "screen":
      return { text: screen.readScreen() };
    case "since_input":
      return session.readOutput();
    case "history":
      return { text: screen.readHistory() };
    case "tail":
      return { text: lineCount === null ? screen.readScreen() : screen.readTail(lineCount) };
  }
}

const HANDLERS: { readonly [Name in TerminalToolName]: ToolHandler<Name> } = {
  open_terminal: openTerminal,
  send_input: sendInput,
  run_command: runCommand,
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

/** The name under which a person's actions stand in the audit log. */
const CALLER = "person";

function createTerminalViews(parts: ToolParts): LiveTerminals {
  const { table, gate } = parts;
  const repainters = new WeakMap<TerminalSession, Repainter>();

  function find(id: string): TerminalSession {
    const session = table.find(id);
    if (session === undefined) throw terminalNotFound(id);
    return session;
  }

  function admit(tool: string, id: string): TerminalSession {
    const session = find(id);
    gate.admit({ isInternal: true }, { tool, session_id: id, caller: CALLER });
    return session;
  }

  function watchOutput(id: string): OutputView {
    const session = admit("view_terminal", id);
    const repainter = repainters.get(session) ?? new Repainter(session);
    repainters.set(session, repainter);
    return new LiveOutput(session, repainter);
  }

  return {
    list: async () => table.list().map(toSummary),
    watchOutput,
    watchScreen: async (id, window) => new LiveScreen(admit("view_terminal", id), window),
    type: async (id, data) => typeLive(parts, find(id), data),
    async kill(id) {
      admit("exit_terminal", id);
      await table.destroy(id);
    },
  };
}

function toSummary({ facts, screen, state, lastActivityAt, exitCode }: TerminalSession): TerminalSummary {
  return {
    session_id: facts.id,
    command: facts.command,
    title: screen.title,
    state,
    columns: screen.columns,
    rows: screen.rows,
    tenant_id: facts.tenantId ?? null,
    run_id: facts.owner ?? null,
    step_path: facts.stepPath ?? null,
    created_at: facts.createdAt.toISOString(),
    last_activity: lastActivityAt.toISOString(),
    web_url: facts.webUrl,
    exit_code: exitCode,
  };
}

/** Types what a person types: as it is, by the rules for tools, but not counted as calls. Recorded before it is done. */
async function typeLive({ gate, policy }: ToolParts, session: TerminalSession, data: string): Promise<void> {
  const isHidden = await session.asksHidden();
  const input_text = isHidden ? REDACTED : data;
  const facts = { tool: "live_input", session_id: session.facts.id, input_text, caller: "person" };
  gate.admit({ isInternal: true }, facts, () => {
    policy.checkTyping(toTyping(session, { input: data, length: data.length, isHidden }));
    if (session.isClogged) throw new PawlError("TERMINAL_REFUSED", { message: "The program does not read its input." });
  });
  await session.type(data, isHidden);
}

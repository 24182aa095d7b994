import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { LiveTerminals, OutputView, TerminalSummary } from "../../../ports/terminals/terminal-views.ts";
import type { TerminalSession } from "../session/terminal-session.ts";
import type { ToolParts } from "../tools/tool-parts.ts";
import { LiveOutput, Repainter } from "./live-output.ts";
import { LiveScreen } from "./live-screen.ts";
import { terminalNotFound } from "./terminal-not-found.ts";

/** The name under which a person's actions stand in the audit log. */
const CALLER = "person";

/** The terminals of this process for people who look at them. */
export function createTerminalViews(parts: ToolParts): LiveTerminals {
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
  const facts = { tool: "live_input", session_id: session.facts.id, input_text: data, caller: "person" };
  gate.admit({ isInternal: true }, facts, () => {
    const shown = session.screen.readCursorLine();
    policy.checkTyping({
      input: data,
      length: data.length,
      begun: session.typedLine,
      shown,
      isSandboxed: session.facts.isSandboxed === true,
    });
    if (session.isClogged) throw new PawlError("TERMINAL_REFUSED", { message: "The program does not read its input." });
  });
  await session.type(data);
}

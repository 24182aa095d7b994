import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { TerminalSession } from "../session/terminal-session.ts";
import type { ToolParts } from "../tools/tool-parts.ts";

/** Types what a person types: as it is, by the rules for tools, but not counted as calls. Recorded before it is done. */
export async function typeLive({ gate, policy }: ToolParts, session: TerminalSession, data: string): Promise<void> {
  const facts = { tool: "live_input", session_id: session.facts.id, input_text: data, caller: "person" };
  gate.admit({ isInternal: true }, facts, () => {
    const shown = session.screen.readCursorLine();
    policy.checkTyping({ input: data, length: data.length, begun: session.typedLine, shown });
    if (session.isClogged) throw new PawlError("TERMINAL_REFUSED", { message: "The program does not read its input." });
  });
  await session.type(data);
}

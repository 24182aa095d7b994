import type {
  ProcessFields,
  TerminalToolName,
  ToolInput,
  ToolOutput,
} from "../../../ports/terminals/terminal-tools.ts";
import { findFront, mayLeadToShell } from "../command/front-program.ts";
import type { TerminalPolicy, Typing } from "../policy/terminal-policy.ts";
import type { Sessions } from "../session/session-table.ts";
import type { TerminalSession } from "../session/terminal-session.ts";
import type { TerminalOptions, TerminalSurroundings } from "../terminal-options.ts";
import type { Gate, ToolCall } from "./gate.ts";

export interface ToolParts {
  readonly options: TerminalOptions;
  readonly surroundings: TerminalSurroundings;
  readonly table: Sessions;
  readonly policy: TerminalPolicy;
  readonly gate: Gate;
}

/** Does what a tool is asked for. Answers `success: false` if it could not; rejects with `TERMINAL_REFUSED`, or the signal's reason. */
export type ToolHandler<Name extends TerminalToolName> = (
  parts: ToolParts,
  request: ToolInput<Name>,
  call: ToolCall,
) => Promise<ToolOutput<Name>>;

export const SESSION_NOT_FOUND = "Session not found";

/** The fields of a result that say how a session is now. Undefined: there is none. */
export function lookAt(
  session: TerminalSession | undefined,
): ProcessFields & { screen_content: string | null; timestamp: string } {
  const exitCode = session?.exitCode;
  return {
    screen_content: session?.screen.readScreen() ?? null,
    timestamp: new Date().toISOString(),
    process_running: session !== undefined && exitCode === undefined,
    ...(exitCode === undefined ? {} : { exit_code: exitCode }),
  };
}

/** What is to be typed into a session, for the rules. */
export function toTyping(
  { typedLine: begun, screen, facts, pid }: TerminalSession,
  { input, length, isHidden }: { readonly input: string; readonly length: number; readonly isHidden: boolean },
): Typing {
  const isForShell = () => {
    const front = pid === undefined ? undefined : findFront(pid);
    return !isHidden && (front === undefined || mayLeadToShell(front));
  };
  return { input, length, begun, shown: screen.readCursorLine(), isForShell, isSandboxed: facts.isSandboxed === true };
}

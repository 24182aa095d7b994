import type { ProcessFields } from "../../../ports/terminals/terminal-tools.ts";
import type { TerminalSession } from "../session/terminal-session.ts";

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

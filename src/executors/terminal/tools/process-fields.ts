import type { TerminalSession } from "../session/terminal-session.ts";
import type { ProcessFields } from "../tool-types.ts";

export function toProcessFields(session: TerminalSession): ProcessFields {
  const { exitCode } = session;
  return exitCode === undefined ? { process_running: true } : { process_running: false, exit_code: exitCode };
}

export const SESSION_NOT_FOUND = "Session not found";

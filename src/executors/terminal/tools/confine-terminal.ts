import { realpathSync } from "node:fs";
import { relative, sep } from "node:path";
import { isPawlError } from "../../../core/errors/pawl-error.ts";
import type { StandingProgram } from "../../sandbox/sandbox.ts";
import type { PtySpec } from "../pty-host/messages.ts";
import type { TerminalSession } from "../session/terminal-session.ts";
import type { ToolCall } from "./gate.ts";
import type { ToolParts } from "./tool-parts.ts";

/** Where programs of a sandboxed terminal are looked for. */
export const PATH_INSIDE = "/usr/local/bin:/usr/bin:/bin";

export type ConfinedPty = { readonly spec: PtySpec; readonly program: StandingProgram } | { readonly error: string };

/**
 * Puts the program of a terminal into the sandbox. It may work in the application's folder and below only: another folder would
 * be shown to it as a whole.
 */
export async function confineTerminal(
  { surroundings }: ToolParts,
  spec: PtySpec,
  { reach }: ToolCall,
): Promise<ConfinedPty> {
  const { confine, currentDir } = surroundings;
  if (confine === undefined) return { error: "There is no sandbox for terminals here." };
  const folder = realpathSync(currentDir);
  const cwd = realpathSync(spec.cwd);
  const below = relative(folder, cwd);
  if (below === ".." || below.startsWith(`..${sep}`) || below.startsWith(".")) {
    return { error: `A terminal in the sandbox opens in ${folder}, or in a folder below that is not hidden.` };
  }
  const [command, ...args] = spec.command;
  try {
    const program = await confine({ command, args, env: spec.env, cwd, folder, reach });
    return { spec: { ...spec, command: program.command, env: program.env, cwd: program.cwd }, program };
  } catch (error) {
    if (!isPawlError(error)) throw error;
    return { error: `${error.message} ${error.remedy}` };
  }
}

/** Holds the program to its limits as long as the session lives. */
export function holdToSandbox(session: TerminalSession, program: StandingProgram): void {
  if (session.pid === undefined || !session.isRunning) return program.release();
  program.attach(session.pid);
  session.watch(() => session.isRunning || program.release());
}

import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { OpenApplication } from "../../../operations/application/ports.ts";
import { findTerminal } from "../../../operations/terminals/find-terminals.ts";
import type { CommonOptions } from "../cli-context.ts";
import { tell } from "../print.ts";

export interface AttachOptions extends CommonOptions {
  readonly view?: true;
}

/** `pawl terminals attach`. */
export async function attachTerminal(app: OpenApplication, id: string, options: AttachOptions): Promise<number> {
  const { stdin, stdout } = process;
  if (stdin.isTTY !== true || stdout.isTTY !== true) {
    throw new PawlError("USAGE", {
      message: "`pawl terminals attach` needs a terminal to show the other one in.",
      remedy: "Run it at a terminal; `pawl terminals ls --json` lists the sessions for programs.",
    });
  }
  const { terminals, session } = await findTerminal(app, id);
  const { attach } = await import("../attach/attach.ts");
  const outcome = await attach({ terminals, session, isViewOnly: options.view === true, stdin, stdout });
  tell(`pawl: ${outcome.text}`);
  return outcome.exitCode;
}

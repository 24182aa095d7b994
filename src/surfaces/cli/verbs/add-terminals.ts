import type { Command } from "commander";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { OpenApplication } from "../../../operations/application/ports.ts";
import type { CommonOptions } from "../cli-context.ts";
import { tell } from "../print.ts";
import { withCommon } from "./common-options.ts";
import type { Perform } from "./perform.ts";

interface AttachOptions extends CommonOptions {
  readonly view?: true;
}

/** `pawl terminals attach`. */
export function addTerminals(program: Command, perform: Perform): void {
  const terminals = program.command("terminals").description("see and steer open terminals");
  withCommon(terminals.command("attach").description("look at one and type into it; Ctrl-] detaches"))
    .argument("<id>")
    .option("--view", "only look")
    .action((id: string, options: AttachOptions) => perform(options, (app) => attachTo(app, id, options)));
}

async function attachTo(app: OpenApplication, id: string, { view }: AttachOptions): Promise<number> {
  const { stdin, stdout } = process;
  if (stdin.isTTY !== true || stdout.isTTY !== true)
    throw new PawlError("USAGE", {
      message: "`pawl terminals attach` needs a terminal to show the other one in.",
      remedy: "Run it at a terminal; `pawl terminals ls --json` lists the sessions for programs.",
    });
  const [{ findTerminal }, { attach }] = await Promise.all([
    import("../../../operations/terminals/find-terminals.ts"),
    import("../attach/attach.ts"),
  ]);
  const { terminals, session } = await findTerminal(app, id);
  const outcome = await attach({ terminals, session, isViewOnly: view === true, stdin, stdout });
  tell(`pawl: ${outcome.text}`);
  return outcome.exitCode;
}

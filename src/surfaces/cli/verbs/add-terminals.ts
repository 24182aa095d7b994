import type { Command } from "commander";
import type { AttachOptions } from "../commands/terminals.ts";
import { withCommon } from "./common-options.ts";
import type { Perform } from "./perform.ts";

/** `pawl terminals attach`. */
export function addTerminals(program: Command, perform: Perform): void {
  const terminals = program.command("terminals").description("see and steer open terminals");
  withCommon(terminals.command("attach").description("look at one and type into it; Ctrl-] detaches"))
    .argument("<id>")
    .option("--view", "only look")
    .action(async (id: string, options: AttachOptions) => {
      await perform(options, async (app) =>
        (await import("../commands/terminals.ts")).attachTerminal(app, id, options),
      );
    });
}

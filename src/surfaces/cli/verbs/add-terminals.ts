import type { Command } from "commander";
import type { CommonOptions } from "../cli-context.ts";
import type { AttachOptions, KillOptions } from "../commands/terminals.ts";
import { withCommon } from "./common-options.ts";
import type { Perform } from "./perform.ts";

/** `pawl terminals`. */
export function addTerminals(program: Command, perform: Perform): void {
  const terminals = program.command("terminals").description("see and steer open terminals");
  withCommon(terminals.command("ls").description("list them")).action(async (options: CommonOptions) => {
    await perform(options, async (app) => (await import("../commands/terminals.ts")).listTerminals(app, options));
  });
  withCommon(terminals.command("attach").description("look at one and type into it; Ctrl-] detaches"))
    .argument("<id>")
    .option("--view", "only look")
    .action(async (id: string, options: AttachOptions) => {
      await perform(options, async (app) =>
        (await import("../commands/terminals.ts")).attachTerminal(app, id, options),
      );
    });
  withCommon(terminals.command("kill").description("end one and everything that runs in it"))
    .argument("[id]")
    .option("--all", "all of them")
    .action(async (id: string | undefined, options: KillOptions) => {
      await perform(options, async (app) => (await import("../commands/terminals.ts")).killTerminals(app, id, options));
    });
}

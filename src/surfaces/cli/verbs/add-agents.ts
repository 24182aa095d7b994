import type { Command } from "commander";
import type { CommonOptions } from "../cli-context.ts";
import { withCommon } from "./common-options.ts";
import type { Perform } from "./perform.ts";

/** `pawl agents`. */
export function addAgents(program: Command, perform: Perform): void {
  const agents = program.command("agents").description("agents of this application");
  withCommon(agents.command("ls").description("list them")).action(async (options: CommonOptions) => {
    await perform(options, async (app) => (await import("../commands/agents.ts")).listAgents(app, options));
  });
  withCommon(agents.command("show").description("show what one is run with, and where that comes from"))
    .argument("<name>")
    .action(async (name: string, options: CommonOptions) => {
      await perform(options, async (app) =>
        (await import("../commands/agents.ts")).showAgentCommand(app, name, options),
      );
    });
  withCommon(agents.command("validate").description("show every problem of their files")).action(
    async (options: CommonOptions) => {
      await perform(options, async (app) => (await import("../commands/agents.ts")).validateAgents(app, options));
    },
  );
}

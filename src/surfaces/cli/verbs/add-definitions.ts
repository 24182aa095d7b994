import type { Command } from "commander";
import type { CommonOptions } from "../cli-context.ts";
import { withCommon } from "./common-options.ts";
import type { Perform } from "./perform.ts";

/** Verbs over definitions that are files: `validate`, `graph`. */
export function addDefinitions(program: Command, perform: Perform): void {
  withCommon(program.command("validate").description("show every problem of definitions"))
    .argument("<file...>")
    .action(async (files: string[], options: CommonOptions) => {
      await perform(options, async (app) => (await import("../commands/validate.ts")).validate(app, files, options));
    });
  withCommon(program.command("graph").description("show what a workflow does, in which order"))
    .argument("<workflow>")
    .option("--mermaid", "as a Mermaid diagram")
    .action(async (workflow: string, options: CommonOptions & { mermaid?: true }) => {
      await perform(options, async (app) => (await import("../commands/graph.ts")).graph(app, workflow, options));
    });
}

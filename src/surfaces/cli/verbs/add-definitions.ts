import type { Command } from "commander";
import type { CommonOptions } from "../cli-context.ts";
import type { GraphOptions } from "../commands/graph.ts";
import { withCommon } from "./common-options.ts";
import type { Perform } from "./perform.ts";

/** Verbs over definitions that are files: `validate`, `graph`. */
export function addDefinitions(program: Command, perform: Perform): void {
  const validating = () => import("../commands/validate.ts");
  withCommon(program.command("validate").description("show every problem of definitions"))
    .argument("<file...>")
    .action(async (files: string[], options: CommonOptions) => {
      await perform(
        options,
        async (app) => (await validating()).validate(files, (await validating()).checkHere(app), options),
        async (parts) => (await validating()).validate(files, (await validating()).checkThere(parts), options),
      );
    });
  const graphing = () => import("../commands/graph.ts");
  withCommon(program.command("graph").description("show what a workflow does, in which order"))
    .argument("<workflow>", "a file, FILE#NAME, or the name of a registered workflow")
    .option("--mermaid", "as a Mermaid diagram")
    .action(async (workflow: string, options: GraphOptions) => {
      await perform(
        options,
        async (app) => (await graphing()).graph(await (await graphing()).explainHere(app, workflow), options),
        async (parts) => (await graphing()).graph(await (await graphing()).explainThere(parts, workflow), options),
      );
    });
}

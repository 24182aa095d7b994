import type { Command } from "commander";
import type { RenderOptions } from "../commands/prompt.ts";
import { collect, withCommon } from "./common-options.ts";
import type { Perform } from "./perform.ts";

/** `pawl prompt`. */
export function addPrompt(program: Command, perform: Perform): void {
  const prompt = program.command("prompt").description("work on prompt templates");
  withCommon(prompt.command("render").description("show what a model would be asked"))
    .argument("<prompt>", "a prompt file, or WORKFLOW:STEP")
    .option("-i <key=value>", "one value; key=@FILE reads a file", collect)
    .option("--input <file>", "all values as a JSON file")
    .action(async (reference: string, options: RenderOptions) => {
      await perform(options, async (app) =>
        (await import("../commands/prompt.ts")).renderPromptCommand(app, reference, options),
      );
    });
}

import type { Command } from "commander";
import type { CommonOptions } from "../cli-context.ts";
import type { DeadLettersOptions, ResolveOptions } from "../commands/dead-letter.ts";
import { withCommon } from "./common-options.ts";
import { toCount } from "./option-values.ts";
import type { Perform } from "./perform.ts";

/** `pawl dead-letter`. */
export function addDeadLetters(program: Command, perform: Perform): void {
  const deadLetters = program.command("dead-letter").description("steps that have failed for good");
  withCommon(deadLetters.command("ls").description("list those that are open, oldest first"))
    .option("--all", "also those that were retried or resolved")
    .option("--workflow <name>")
    .option("--limit <n>", "at most so many", toCount, 50)
    .option("--cursor <id>", "go on after this one")
    .action(async (options: DeadLettersOptions) => {
      await perform(
        options,
        async (app) => (await import("../commands/dead-letter.ts")).listDeadLettersCommand(app, options),
        async (parts) => (await import("../remote/care.ts")).listDeadLetters(parts, options),
      );
    });
  withCommon(deadLetters.command("retry").description("do the run again from the step that has failed"))
    .argument("<id>", "RUN:PATH")
    .action(async (id: string, options: CommonOptions) => {
      await perform(
        options,
        async (app, voice) => (await import("../commands/dead-letter.ts")).retryDeadLetter({ app, voice }, id, options),
        async (parts) => (await import("../remote/care.ts")).retryDeadLetter(parts, id, options),
      );
    });
  withCommon(deadLetters.command("resolve").description("note that nothing more is to be done"))
    .argument("<id>", "RUN:PATH")
    .option("--note <text>")
    .action(async (id: string, options: ResolveOptions) => {
      await perform(
        options,
        async (app) => (await import("../commands/dead-letter.ts")).resolveDeadLetterCommand(app, id, options),
        async (parts) => (await import("../remote/care.ts")).resolveDeadLetter(parts, id, options),
      );
    });
}

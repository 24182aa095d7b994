import type { Command } from "commander";
import type { AnswerOptions } from "../commands/runs-drive.ts";
import { withCommon } from "./common-options.ts";
import type { Perform } from "./perform.ts";

/** `approve` and `reject`, which stand at the top and below `runs`. */
export function addAnswers(parent: Command, perform: Perform): void {
  for (const verdict of ["approve", "reject", "skip"] as const) {
    const command = withCommon(parent.command(verdict).description(`${verdict} what a run asks for`))
      .argument("<run>", "RUN, or RUN:PATH where it asks for several things")
      .option("--comment <text>");
    if (verdict === "approve") command.option("--edit <json>", "replace the data: JSON, or @FILE");
    command.action(async (address: string, options: AnswerOptions) => {
      await perform(
        options,
        async (app, voice) => {
          const { answer } = await import("../commands/runs-drive.ts");
          return answer({ app, voice }, { address, verdict }, options);
        },
        async (parts) => (await import("../remote/runs.ts")).answer(parts, { address, verdict }, options),
      );
    });
  }
}

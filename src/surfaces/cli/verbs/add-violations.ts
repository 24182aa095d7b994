import { type Command, Option } from "commander";
import type { ViolationsOptions } from "../commands/violations.ts";
import { withCommon } from "./common-options.ts";
import { toCount, toTime } from "./option-values.ts";
import type { Perform } from "./perform.ts";

/** `pawl violations`. */
export function addViolations(program: Command, perform: Perform): void {
  withCommon(program.command("violations").description("list what policies had to say, newest first"))
    .option("--run <id>")
    .option("--workflow <name>")
    .option("--policy <id>")
    .addOption(new Option("--action <what>").choices(["redact", "block", "approve", "alert"]))
    .option("--since <time>", "judged then or later", toTime)
    .option("--until <time>", "judged before", toTime)
    .option("--limit <n>", "at most so many", toCount, 50)
    .option("--cursor <id>", "go on after this one")
    .action(async (options: ViolationsOptions) => {
      await perform(
        options,
        async (app) => (await import("../commands/violations.ts")).listViolationsCommand(app, options),
        async (parts) => (await import("../remote/care.ts")).listViolations(parts, options),
      );
    });
}

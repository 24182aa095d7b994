import { type Command, Option } from "commander";
import type { CostsOptions } from "../commands/costs.ts";
import { withCommon } from "./common-options.ts";
import { toTime } from "./option-values.ts";
import type { Perform } from "./perform.ts";

/** `pawl costs`. */
export function addCosts(program: Command, perform: Perform): void {
  withCommon(program.command("costs").description("show what runs have cost"))
    .addOption(new Option("--by <what>").choices(["workflow", "model", "day", "tenant"]).default("workflow"))
    .option("--since <time>", "of runs that were started then or later (default: 30 days ago)", toTime)
    .option("--until <time>", "of runs that were started before", toTime)
    .action(async (options: CostsOptions) => {
      await perform(
        options,
        async (app) => (await import("../commands/costs.ts")).costs(app, options),
        async (parts) => (await import("../remote/care.ts")).sumCosts(parts, options),
      );
    });
}

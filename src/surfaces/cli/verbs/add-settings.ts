import type { Command } from "commander";
import type { CommonOptions } from "../cli-context.ts";
import { withCommon } from "./common-options.ts";
import type { Perform } from "./perform.ts";

/** `doctor` and `config`. */
export function addSettings(program: Command, perform: Perform): void {
  withCommon(program.command("doctor").description("check what runs need")).action(async (options: CommonOptions) => {
    await perform(options, async (app) => (await import("../commands/doctor.ts")).doctor(app, options));
  });
  withCommon(program.command("config").description("show every setting"))
    .option("--origin", "and where it comes from")
    .action(async (options: CommonOptions & { origin?: true }) => {
      await perform(options, async (app) => (await import("../commands/config.ts")).config(app, options));
    });
}

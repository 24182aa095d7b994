import type { Command } from "commander";
import type { CommonOptions } from "../cli-context.ts";
import type { ForkOptions } from "../commands/fork.ts";
import type { LogsOptions } from "../commands/run-logs.ts";
import type { ResumeOptions } from "../commands/runs.ts";
import { collect, withCommon } from "./common-options.ts";
import { asking, type Perform } from "./perform.ts";

/** What of `pawl runs` is written by hand: it prints what comes, follows, or chooses between two operations. */
export function addRuns(program: Command, perform: Perform): void {
  const runs = program.command("runs").description("see and steer runs");
  withCommon(runs.command("events").description("show a run's journal"))
    .argument("<id>")
    .action(async (id: string, options: CommonOptions) => {
      const command = asking(async (caller) => (await import("../commands/runs.ts")).showEvents(caller, id, options));
      await perform(options, ...command);
    });
  withCommon(runs.command("logs").description("show what agents said, as JSON lines"))
    .argument("<id>")
    .argument("[step]", "a step's id, or the path of one instance")
    .option("--follow", "go on with what they say until the run has ended")
    .action(async (id: string, step: string | undefined, options: LogsOptions) => {
      const command = asking(async (caller) =>
        (await import("../commands/run-logs.ts")).showLogs(caller, { id, step }, options),
      );
      await perform(options, ...command);
    });
  withCommon(runs.command("watch").description("show a run that is under way until it ends; Ctrl-C leaves it"))
    .argument("<id>")
    .action(async (id: string, options: CommonOptions) => {
      const command = asking(async (caller, voice) =>
        (await import("../commands/runs.ts")).watchRun(caller, id, options, voice),
      );
      await perform(options, ...command);
    });
  withCommon(runs.command("resume").description("resume a run that was parked or interrupted"))
    .argument("[id]")
    .option("--all", "with every run that can go on")
    .action(async (id: string | undefined, options: ResumeOptions) => {
      const command = asking(async (caller, voice) =>
        (await import("../commands/runs.ts")).resume(caller, id, options, voice),
      );
      await perform(options, ...command);
    });
  withCommon(runs.command("fork").description("run again from a step, with changes"))
    .argument("<id>")
    .option("--from <step>", "a step's id, or the path of one instance (default: the first that failed)")
    .option("--current", "with the definition as its file is now, instead of the one that the run began with")
    .option(
      "--set <change>",
      "STEP.FIELD=VALUE, input.NAME=VALUE, limits.NAME=VALUE, max_cost_usd=N or timeout=SECONDS",
      collect,
    )
    .option("--changes <file>", "all changes as a JSON file")
    .action(async (id: string, options: ForkOptions) => {
      const command = asking(async (caller, voice) =>
        (await import("../commands/fork.ts")).fork(caller, id, options, voice),
      );
      await perform(options, ...command);
    });
}

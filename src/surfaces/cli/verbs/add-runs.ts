import type { Command } from "commander";
import type { CommonOptions } from "../cli-context.ts";
import type { CancelOptions, ResumeOptions, SignalOptions } from "../commands/runs-drive.ts";
import type { ShowOptions } from "../commands/runs-read.ts";
import type { ForkOptions, RerunOptions } from "../commands/runs-repeat.ts";
import type { LogsOptions } from "../commands/runs-watch.ts";
import { addAnswers } from "./add-answers.ts";
import { collect, withCommon } from "./common-options.ts";
import type { Perform } from "./perform.ts";

/** `pawl runs`. */
export function addRuns(program: Command, perform: Perform): void {
  const runs = program.command("runs").description("see and steer runs");
  withCommon(runs.command("show").description("show a run and its steps"))
    .argument("<id>")
    .option("--prompts", "with what each step was asked")
    .action(async (id: string, options: ShowOptions) => {
      await perform(
        options,
        async (app) => (await import("../commands/runs-read.ts")).showRun(app, id, options),
        async (parts) => (await import("../remote/runs.ts")).showRun(parts, id, options),
      );
    });
  withCommon(runs.command("events").description("show a run's journal"))
    .argument("<id>")
    .action(async (id: string, options: CommonOptions) => {
      await perform(
        options,
        async (app) => (await import("../commands/runs-read.ts")).showEvents(app, id, options),
        async (parts) => (await import("../remote/runs.ts")).showEvents(parts, id, options),
      );
    });
  withCommon(runs.command("logs").description("show what agents said, as JSON lines"))
    .argument("<id>")
    .argument("[step]", "a step's id, or the path of one instance")
    .option("--follow", "go on with what they say until the run has ended")
    .action(async (id: string, step: string | undefined, options: LogsOptions) => {
      await perform(
        options,
        async (app) => (await import("../commands/runs-watch.ts")).showLogs(app, { id, step }, options),
        async (parts) => (await import("../remote/runs.ts")).showLogs(parts, { id, step }, options),
      );
    });
  withCommon(runs.command("watch").description("show a run that is under way until it ends; Ctrl-C leaves it"))
    .argument("<id>")
    .action(async (id: string, options: CommonOptions) => {
      await perform(
        options,
        async (app, voice) => (await import("../commands/runs-watch.ts")).watchRun({ app, voice }, id, options),
        async (parts) => (await import("../remote/runs.ts")).watchRun(parts, id, options),
      );
    });
  withCommon(runs.command("resume").description("go on with a run that was laid down or cut off"))
    .argument("[id]")
    .option("--all", "with every run that can go on")
    .action(async (id: string | undefined, options: ResumeOptions) => {
      await perform(
        options,
        async (app, voice) => (await import("../commands/runs-drive.ts")).resume({ app, voice }, id, options),
        async (parts) => (await import("../remote/runs.ts")).resumeRun(parts, id, options),
      );
    });
  withCommon(runs.command("cancel").description("end a run before its end"))
    .argument("<id>")
    .option("--reason <text>")
    .action(async (id: string, options: CancelOptions) => {
      await perform(
        options,
        async (app, voice) => (await import("../commands/runs-drive.ts")).cancel({ app, voice }, id, options),
        async (parts) => (await import("../remote/runs.ts")).cancelRun(parts, id, options),
      );
    });
  withCommon(runs.command("signal").description("tell a run that the event it waits for has happened"))
    .argument("<id>")
    .argument("<event>")
    .option("--payload <json>", "what the waiting step gets as its output: JSON, or @FILE")
    .action(async (id: string, name: string, options: SignalOptions) => {
      await perform(
        options,
        async (app, voice) => (await import("../commands/runs-drive.ts")).signal({ app, voice }, { id, name }, options),
        async (parts) => (await import("../remote/runs.ts")).signalRun(parts, { id, name }, options),
      );
    });
  addRepetitions(runs, perform);
  addAnswers(runs, perform);
}

function addRepetitions(runs: Command, perform: Perform): void {
  withRepetition(
    runs.command("rerun").alias("replay").description("do a run again from a step; the rest is taken over"),
  ).action(async (id: string, options: RerunOptions) => {
    await perform(
      options,
      async (app, voice) => (await import("../commands/runs-repeat.ts")).rerun({ app, voice }, id, options),
      async (parts) => (await import("../remote/runs.ts")).rerun(parts, id, options),
    );
  });
  withRepetition(runs.command("fork").description("do a run again from a step, with something changed"))
    .option(
      "--set <change>",
      "STEP.FIELD=VALUE, input.NAME=VALUE, limits.NAME=VALUE, max_cost_usd=N or timeout=SECONDS",
      collect,
    )
    .option("--changes <file>", "all changes as a JSON file")
    .action(async (id: string, options: ForkOptions) => {
      await perform(
        options,
        async (app, voice) => (await import("../commands/runs-repeat.ts")).fork({ app, voice }, id, options),
        async (parts) => (await import("../remote/runs.ts")).fork(parts, id, options),
      );
    });
}

function withRepetition(command: Command): Command {
  return withCommon(command)
    .argument("<id>")
    .option("--from <step>", "a step's id, or the path of one instance (default: the first that failed)")
    .option("--current", "with the definition as its file is now, instead of the one that the run began with");
}

import { type Command, InvalidArgumentError, Option } from "commander";
import type { CommonOptions } from "../cli-context.ts";
import type { CreateScheduleOptions } from "../commands/schedules.ts";
import { collect, withCommon } from "./common-options.ts";
import type { Perform } from "./perform.ts";

/** `pawl schedules`. */
export function addSchedules(program: Command, perform: Perform): void {
  const schedules = program.command("schedules").description("workflows that start by the clock");
  const load = () => import("../commands/schedules.ts");
  withCommon(schedules.command("ls").description("list them")).action(async (options: CommonOptions) => {
    await perform(
      options,
      async (app) => (await load()).listSchedulesCommand(app, options),
      async (parts) => (await import("../remote/schedules.ts")).listSchedules(parts, options),
    );
  });
  withCommon(schedules.command("create").description("start a workflow by the clock from now on"))
    .argument("<workflow>", "the name of a registered workflow")
    .argument("<cron>", "five fields, for example '0 6 * * 1-5'")
    .option("-i <key=value>", "one input; key=@FILE reads a file", collect)
    .option("--input <file>", "the whole input as a JSON file")
    .option("--timezone <name>", "a name of the IANA database", "UTC")
    .addOption(
      new Option("--overlap <way>", "while the run before is under way")
        .choices(["skip", "queue", "cancel_previous"])
        .default("skip"),
    )
    .addOption(
      new Option("--catch-up <which>", "of slots that passed while nobody served")
        .choices(["none", "one", "all"])
        .default("one"),
    )
    .option("--jitter <seconds>", "start up to so much later", toJitter)
    .option("--notify-webhook <url>", "tell this address what became of its runs")
    .option("--notify-slack <url>", "tell a channel, by its incoming webhook")
    .option("--notify-email <address>", "tell by e-mail (SMTP_URL); may be given more than once", collect)
    .addOption(new Option("--notify-on <outcome>", "of which runs").choices(["always", "failure", "success"]))
    .action(async (workflow: string, cron: string, options: CreateScheduleOptions) => {
      await perform(
        options,
        async (app) => (await load()).createScheduleCommand(app, { workflow, cron }, options),
        async (parts) => (await import("../remote/schedules.ts")).createSchedule(parts, { workflow, cron }, options),
      );
    });
  for (const [verb, text] of [
    ["pause", "fire it no more until it is resumed"],
    ["resume", "fire it again, from the next slot on"],
    ["next", "show its next five times"],
    ["slots", "tell what became of its slots, newest first"],
    ["rm", "remove it; its runs stay"],
    ["run", "start a run of it now"],
  ] as const) {
    withCommon(schedules.command(verb).description(text))
      .argument("<id>", "its id, or the beginning of it")
      .action(async (id: string, options: CommonOptions) => {
        await perform(
          options,
          async (app) => (await load()).scheduleCommands[verb](app, id, options),
          async (parts) => (await import("../remote/schedules.ts")).scheduleCommands[verb](parts, id, options),
        );
      });
  }
}

function toJitter(text: string): number {
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds >= 0 && seconds <= 3_600) return seconds;
  throw new InvalidArgumentError("It must be a number of seconds from 0 to 3,600.");
}

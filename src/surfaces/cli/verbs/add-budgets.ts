import { type Command, Option } from "commander";
import type { CommonOptions } from "../cli-context.ts";
import type { SetBudgetOptions } from "../commands/budgets.ts";
import { withCommon } from "./common-options.ts";
import { toAmount, toWhole } from "./option-values.ts";
import type { Perform } from "./perform.ts";

/** `pawl budgets`. */
export function addBudgets(program: Command, perform: Perform): void {
  const budgets = program.command("budgets").description("what runs of a workflow, a tenant or all may use together");
  const load = () => import("../commands/budgets.ts");
  const loadRemote = () => import("../remote/budgets.ts");
  withCommon(budgets.command("ls").description("list them, with what is used")).action(
    async (options: CommonOptions) => {
      await perform(
        options,
        async (app) => (await load()).listBudgetsCommand(app, options),
        async (parts) => (await loadRemote()).listBudgets(parts, options),
      );
    },
  );
  withCommon(budgets.command("show").description("one of them"))
    .argument("<id>")
    .action(async (id: string, options: CommonOptions) => {
      await perform(
        options,
        async (app) => (await load()).showBudgetCommand(app, id, options),
        async (parts) => (await loadRemote()).showBudget(parts, id, options),
      );
    });
  withCommon(budgets.command("set").description("set one; set again for the same, it is changed"))
    .option("--workflow <name>", "of this workflow alone")
    .option("--tenant <id>", "of this tenant alone")
    .addOption(new Option("--per <period>", "a day in UTC, or in all").choices(["day", "total"]).default("day"))
    .option("--max-cost <usd>", "US dollars", toAmount)
    .option("--max-tokens <n>", "of models, in and out", toWhole)
    .option("--max-steps <n>", "tries of steps", toWhole)
    .option("--max-seconds <n>", "that tries took, added up", toWhole)
    .addOption(
      new Option("--on-exceeded <what>", "stop runs, or ask a person").choices(["stop", "ask"]).default("stop"),
    )
    .option("--webhook <url>", "is told when 80 % are used")
    .action(async (options: SetBudgetOptions) => {
      await perform(
        options,
        async (app) => (await load()).setBudgetCommand(app, options),
        async (parts) => (await loadRemote()).setBudget(parts, options),
      );
    });
  withCommon(budgets.command("rm").description("it limits nothing any more; what was counted is gone"))
    .argument("<id>")
    .action(async (id: string, options: CommonOptions) => {
      await perform(
        options,
        async (app) => (await load()).removeBudgetCommand(app, id, options),
        async (parts) => (await loadRemote()).removeBudget(parts, id, options),
      );
    });
}

import { type Command, Option } from "commander";
import type { CommonOptions } from "../cli-context.ts";
import type { PlanOptions } from "../commands/plan.ts";
import type { RunOptions } from "../commands/run.ts";
import type { ServeOptions } from "../commands/serve.ts";
import { collect, withCommon } from "./common-options.ts";
import { toAmount, toPort, toPriority, toWhole } from "./option-values.ts";
import type { Perform } from "./perform.ts";

/** Verbs that start work: `run`, `plan`, `step`, `serve`, `worker`. */
export function addRun(program: Command, perform: Perform): void {
  withCommon(program.command("run").description("start a workflow and follow it to its end"))
    .argument("<workflow>", "a file, FILE#NAME, or the name of a registered workflow")
    .option("-i <key=value>", "one input; key=@FILE reads a file", collect)
    .option("--input <file>", "the whole input: a JSON file, or the JSON")
    .option("--request <file>", "a whole request of `POST /execute` as a JSON file, for UHLP workflows")
    .option("--agent <name>", "who answers agent steps: sandstorm, simulated, simulated:SCRIPT.yaml")
    .option("--max-cost <usd>", "stop when this much is spent", toAmount)
    .option("--max-tokens <n>", "stop when models have used so many tokens", toWhole)
    .option("--max-steps <n>", "stop after so many tries of steps", toWhole)
    .option("--max-seconds <n>", "stop when it takes longer, waiting included", toWhole)
    .addOption(new Option("--on-exceeded <what>", "at a limit: stop, or ask a person").choices(["stop", "ask"]))
    .option("--priority <n>", "-10 to 10: where runs wait for one server, the highest goes first", toPriority)
    .option("--detach", "run it in the background and print its id")
    .action(async (workflow: string, options: RunOptions) => {
      await perform(
        options,
        async (app, voice) => (await import("../commands/run.ts")).run({ app, voice }, workflow, options),
        async (parts) => (await import("../remote/start-run.ts")).run(parts, workflow, options),
      );
    });
  addPlan(program, perform);
  withCommon(program.command("step").description("run one step of a workflow alone"))
    .argument("<workflow>", "a file, FILE#NAME, or the name of a registered workflow")
    .argument("<step>", "its id")
    .option(
      "-i <key=value>",
      "one value of its mapped input, or `item` and `index` of the loop around it; key=@FILE reads a file",
      collect,
    )
    .option("--input <file>", "its whole mapped input: a JSON file, or the JSON")
    .option("--agent <name>", "who answers agent steps: sandstorm, simulated, simulated:SCRIPT.yaml")
    .option("--max-cost <usd>", "stop when this much is spent", toAmount)
    .action(async (workflow: string, id: string, options: RunOptions) => {
      await perform(options, async (app, voice) =>
        (await import("../commands/run.ts")).step({ app, voice }, workflow, id, options),
      );
    });
  withCommon(program.command("serve").description("serve HTTP requests and run triggers"))
    .option("--host <address>", "where to listen: 127.0.0.1, localhost or ::1")
    .option("--port <n>", "0 picks a free one", toPort)
    .option("--role <name>", "with a database: all, api, worker or scheduler (server.role)")
    .option("--concurrency <n>", "how many runs it drives (worker.concurrency)")
    .option("--web", "let people watch terminals in a browser (terminal.web_enabled)")
    .action(async (options: ServeOptions) => {
      await perform(options, async (app, voice) =>
        (await import("../commands/serve.ts")).serve({ app, voice }, options),
      );
    });
  withCommon(program.command("worker").description("drive runs of a database that several processes share"))
    .option("--concurrency <n>", "how many runs it drives (worker.concurrency)")
    .option("--host <address>", "where it tells of its health: 127.0.0.1, localhost or ::1")
    .option("--port <n>", "0, the default, picks a free one", toPort)
    .option(
      "--restate",
      "drive those that Restate (RESTATE_URL) calls it for; --port, by default 9080, is where it is called",
    )
    .action(async (options: WorkerOptions) => {
      const worker = toWorker(options);
      await perform(worker, async (app, voice) => (await import("../commands/serve.ts")).serve({ app, voice }, worker));
    });
  withCommon(program.command("own", { hidden: true })).action(async (options: CommonOptions) => {
    await perform(options, async (app) => (await import("../commands/own.ts")).own(app));
  });
}

interface WorkerOptions extends ServeOptions {
  readonly restate?: true;
}

/** The endpoint of Restate has the port that is named, and what tells of its health any. */
function toWorker({ restate, host, port, ...options }: WorkerOptions): ServeOptions {
  const worker = { ...options, role: "worker" };
  if (restate === true) return { ...worker, port: 0, endpoint: { host, port } };
  return { ...worker, port: port ?? 0, ...(host === undefined ? {} : { host }) };
}

function addPlan(program: Command, perform: Perform): void {
  withCommon(program.command("plan").description("show what a run would cost at worst, and run nothing"))
    .argument("<workflow>", "a file, FILE#NAME, or the name of a registered workflow")
    .option("-i <key=value>", "one input; key=@FILE reads a file", collect)
    .option("--input <file>", "the whole input: a JSON file, or the JSON")
    .option("--agent <name>", "who would answer agent steps")
    .option("--max-cost <usd>", "the budget that the run would have", toAmount)
    .option("--output-tokens <n>", "of an answer, where no limit is set", toWhole)
    .option("--tool-tokens <n>", "that the result of a tool adds to a conversation", toWhole)
    .action(async (workflow: string, options: PlanOptions) => {
      await perform(
        options,
        async (app) => (await import("../commands/plan.ts")).plan(app, workflow, options),
        async (parts) => (await import("../remote/start-run.ts")).plan(parts, workflow, options),
      );
    });
}

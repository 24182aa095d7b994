import { Command, InvalidArgumentError, Option } from "commander";
import type { OpenApplication } from "../../operations/application.ts";
import type { KeyScope } from "../../ports/api-keys.ts";
import type { DeliveryStatus } from "../../ports/deliveries.ts";
import type { CommonOptions, OpenApp } from "./cli-context.ts";
import type { CostsOptions } from "./commands/costs.ts";
import type { DeadLettersOptions, ResolveOptions } from "./commands/dead-letter.ts";
import type { CreateKeyOptions } from "./commands/keys.ts";
import type { McpCoreOptions, McpTerminalOptions } from "./commands/mcp.ts";
import type { PlanOptions } from "./commands/plan.ts";
import type { RenderOptions } from "./commands/prompt.ts";
import type { RunOptions } from "./commands/run.ts";
import type { AnswerOptions, CancelOptions, ResumeOptions, SignalOptions } from "./commands/runs-drive.ts";
import type { ListOptions, ShowOptions } from "./commands/runs-read.ts";
import type { ForkOptions, RerunOptions } from "./commands/runs-repeat.ts";
import type { CreateScheduleOptions } from "./commands/schedules.ts";
import type { ServeOptions } from "./commands/serve.ts";
import type { StorageOptions } from "./commands/storage.ts";
import type { AttachOptions, KillOptions } from "./commands/terminals.ts";
import type { ListWebhooksOptions, VerifyOptions } from "./commands/webhooks.ts";
import type { ShowWorkflowOptions, WorkflowOptions } from "./commands/workflows.ts";
import type { Voice } from "./voice.ts";
import { withApp } from "./with-app.ts";

type Perform = <Options extends CommonOptions>(
  options: Options,
  command: (app: OpenApplication, voice: Voice) => Promise<number>,
) => Promise<void>;

/** The commands and their options. What a command does is loaded when it is called. */
export function buildProgram(openApp: OpenApp, exitWith: (code: number) => void): Command {
  const perform: Perform = async (options, command) => exitWith(await withApp(openApp, options, command));
  const program = new Command("pawl")
    .description("Durable agent workflows. Every finished step stays finished, whatever crashes.")
    .option("-V, --version", "show which Pawl this is")
    .helpCommand(true)
    .showSuggestionAfterError();
  addInit(program.command("init").description("begin with examples"), exitWith);
  addRun(program, perform);
  addDefinitionCommands(program, perform);
  addWorkflows(program.command("workflows").description("workflows that go by a name"), perform);
  addAgents(program.command("agents").description("agents of this application"), perform);
  addPrompt(program.command("prompt").description("work on prompt templates"), perform);
  addRunsCommands(program.command("runs").description("see and steer runs"), perform);
  addAnswers(program, perform);
  addApprovals(program.command("approvals").description("questions that wait for a person"), perform);
  addDeadLetters(program.command("dead-letter").description("steps that have failed for good"), perform);
  addCosts(withCommon(program.command("costs").description("show what runs have cost")), perform);
  addSchedules(program.command("schedules").description("workflows that start by the clock"), perform);
  addKeys(program.command("keys").description("who may use the service over HTTP"), perform);
  addWebhooks(program.command("webhooks").description("what is told to other servers"), perform);
  addTerminals(program.command("terminals").description("see and steer open terminals"), perform);
  const mcp = program.command("mcp").description("offer tools to other programs");
  addMcp(mcp, perform);
  addMcpTerminal(mcp, perform);
  addStorage(program.command("storage").description("the application's own files"), perform);
  addSettings(program, perform);
  for (const command of allOf(program)) command.exitOverride().configureOutput({ outputError: () => undefined });
  return program;
}

function addInit(init: Command, exitWith: (code: number) => void): void {
  init
    .command("terminal")
    .description("lay out examples of terminal workflows; nothing that is there is touched")
    .argument("[dir]", "the folder for them", ".")
    .option("--json", "answer with one JSON envelope")
    .action(async (dir: string, options: { json?: true }) => {
      exitWith(await (await import("./commands/init.ts")).initTerminal(dir, options));
    });
}

function addRun(program: Command, perform: Perform): void {
  withCommon(program.command("run").description("start a workflow and follow it to its end"))
    .argument("<workflow>", "a file, FILE#NAME, or the name of a registered workflow")
    .option("-i <key=value>", "one input; key=@FILE reads a file", collect)
    .option("--input <file>", "the whole input as a JSON file")
    .option("--request <file>", "a whole request of `POST /execute` as a JSON file, for UHLP workflows")
    .option("--agent <name>", "who answers agent steps: sandstorm, simulated, simulated:SCRIPT.yaml")
    .option("--max-cost <usd>", "stop when this much is spent", toAmount)
    .option("--detach", "run it in the background and print its id")
    .action(async (workflow: string, options: RunOptions) => {
      await perform(options, async (app, voice) =>
        (await import("./commands/run.ts")).run({ app, voice }, workflow, options),
      );
    });
  addPlan(
    withCommon(program.command("plan").description("show what a run would cost at worst, and run nothing")),
    perform,
  );
  withCommon(program.command("step").description("run one step of a workflow alone"))
    .argument("<workflow>", "a file, FILE#NAME, or the name of a registered workflow")
    .argument("<step>", "its id")
    .option("-i <key=value>", "one value of its mapped input; key=@FILE reads a file", collect)
    .option("--input <file>", "its whole mapped input as a JSON file")
    .option("--agent <name>", "who answers agent steps: sandstorm, simulated, simulated:SCRIPT.yaml")
    .option("--max-cost <usd>", "stop when this much is spent", toAmount)
    .action(async (workflow: string, id: string, options: RunOptions) => {
      await perform(options, async (app, voice) =>
        (await import("./commands/run.ts")).step({ app, voice }, workflow, id, options),
      );
    });
  withCommon(program.command("serve").description("take HTTP requests, and start what triggers say"))
    .option("--host <address>", "where to listen: 127.0.0.1, localhost or ::1")
    .option("--port <n>", "0 picks a free one", toPort)
    .option("--web", "let people watch terminals in a browser (terminal.web_enabled)")
    .action(async (options: ServeOptions) => {
      await perform(options, async (app, voice) =>
        (await import("./commands/serve.ts")).serve({ app, voice }, options),
      );
    });
  withCommon(program.command("own", { hidden: true })).action(async (options: CommonOptions) => {
    await perform(options, async (app) => (await import("./commands/own.ts")).own(app));
  });
}

function addPlan(plan: Command, perform: Perform): void {
  plan
    .argument("<workflow>", "a file, FILE#NAME, or the name of a registered workflow")
    .option("-i <key=value>", "one input; key=@FILE reads a file", collect)
    .option("--input <file>", "the whole input as a JSON file")
    .option("--agent <name>", "who would answer agent steps")
    .option("--max-cost <usd>", "the budget that the run would have", toAmount)
    .option("--output-tokens <n>", "of an answer, where no limit is set", toTokens)
    .option("--tool-tokens <n>", "that the result of a tool adds to a conversation", toTokens)
    .action(async (workflow: string, options: PlanOptions) => {
      await perform(options, async (app) => (await import("./commands/plan.ts")).plan(app, workflow, options));
    });
}

function addDefinitionCommands(program: Command, perform: Perform): void {
  withCommon(program.command("validate").description("show every problem of definitions"))
    .argument("<file...>")
    .action(async (files: string[], options: CommonOptions) => {
      await perform(options, async (app) => (await import("./commands/validate.ts")).validate(app, files, options));
    });
  withCommon(program.command("graph").description("show what a workflow does, in which order"))
    .argument("<workflow>")
    .option("--mermaid", "as a Mermaid diagram")
    .action(async (workflow: string, options: CommonOptions & { mermaid?: true }) => {
      await perform(options, async (app) => (await import("./commands/graph.ts")).graph(app, workflow, options));
    });
}

function addWorkflows(workflows: Command, perform: Perform): void {
  const load = () => import("./commands/workflows.ts");
  const own = (command: Command) => withCommon(command).option("--tenant <id>", "those of this tenant");
  own(workflows.command("ls").description("list what can be run by its name, and the terminal library")).action(
    async (options: WorkflowOptions) => {
      await perform(options, async (app) => (await load()).listWorkflowsCommand(app, options));
    },
  );
  own(workflows.command("show").description("show a definition"))
    .argument("<name>")
    .option("--version <n>", "of one that was saved through the service", toCount)
    .action(async (name: string, options: ShowWorkflowOptions) => {
      await perform(options, async (app) => (await load()).showWorkflowCommand(app, name, options));
    });
  own(workflows.command("save").description("save a definition, to be run by its name; an older one stays a version"))
    .argument("<file>", "where it is; - is stdin")
    .action(async (file: string, options: WorkflowOptions) => {
      await perform(options, async (app) => (await load()).saveWorkflowCommand(app, file, options));
    });
  own(workflows.command("versions").description("list the versions of a saved one, newest first"))
    .argument("<name>")
    .action(async (name: string, options: WorkflowOptions) => {
      await perform(options, async (app) => (await load()).listVersionsCommand(app, name, options));
    });
  own(workflows.command("rm").description("remove a saved one with its versions, or one of the terminal library"))
    .argument("<name>")
    .action(async (name: string, options: WorkflowOptions) => {
      await perform(options, async (app) => (await load()).removeWorkflowCommand(app, name, options));
    });
  withCommon(workflows.command("rename").description("give one of the terminal library another name"))
    .argument("<name>")
    .argument("<to>")
    .action(async (name: string, to: string, options: CommonOptions) => {
      await perform(options, async (app) =>
        (await import("./commands/workflows.ts")).renameWorkflow(app, { name, to }, options),
      );
    });
}

function addAgents(agents: Command, perform: Perform): void {
  withCommon(agents.command("ls").description("list them")).action(async (options: CommonOptions) => {
    await perform(options, async (app) => (await import("./commands/agents.ts")).listAgents(app, options));
  });
  withCommon(agents.command("show").description("show what one is run with, and where that comes from"))
    .argument("<name>")
    .action(async (name: string, options: CommonOptions) => {
      await perform(options, async (app) =>
        (await import("./commands/agents.ts")).showAgentCommand(app, name, options),
      );
    });
  withCommon(agents.command("validate").description("show every problem of their files")).action(
    async (options: CommonOptions) => {
      await perform(options, async (app) => (await import("./commands/agents.ts")).validateAgents(app, options));
    },
  );
}

function addPrompt(prompt: Command, perform: Perform): void {
  withCommon(prompt.command("render").description("show what a model would be asked"))
    .argument("<prompt>", "a prompt file, or WORKFLOW:STEP")
    .option("-i <key=value>", "one value; key=@FILE reads a file", collect)
    .option("--input <file>", "all values as a JSON file")
    .action(async (reference: string, options: RenderOptions) => {
      await perform(options, async (app) =>
        (await import("./commands/prompt.ts")).renderPromptCommand(app, reference, options),
      );
    });
}

function addRunsCommands(runs: Command, perform: Perform): void {
  withCommon(runs.command("ls").description("list runs, newest first"))
    .option("--status <list>", "only these, separated by commas")
    .option("--workflow <name>")
    .option("--limit <n>", "at most so many", toCount, 20)
    .option("--cursor <id>", "go on after this run")
    .action(async (options: ListOptions) => {
      await perform(options, async (app) => (await import("./commands/runs-read.ts")).listRunsCommand(app, options));
    });
  withCommon(runs.command("show").description("show a run and its steps"))
    .argument("<id>")
    .option("--prompts", "with what each step was asked")
    .action(async (id: string, options: ShowOptions) => {
      await perform(options, async (app) => (await import("./commands/runs-read.ts")).showRun(app, id, options));
    });
  withCommon(runs.command("events").description("show a run's journal"))
    .argument("<id>")
    .action(async (id: string, options: CommonOptions) => {
      await perform(options, async (app) => (await import("./commands/runs-read.ts")).showEvents(app, id, options));
    });
  withCommon(runs.command("logs").description("show what agents said, as JSON lines"))
    .argument("<id>")
    .argument("[step]", "a step's id, or the path of one instance")
    .action(async (id: string, step: string | undefined, options: CommonOptions) => {
      await perform(options, async (app) => (await import("./commands/runs-read.ts")).showLogs(app, id, step));
    });
  withCommon(runs.command("resume").description("go on with a run that was laid down or cut off"))
    .argument("[id]")
    .option("--all", "with every run that can go on")
    .action(async (id: string | undefined, options: ResumeOptions) => {
      await perform(options, async (app, voice) =>
        (await import("./commands/runs-drive.ts")).resume({ app, voice }, id, options),
      );
    });
  withCommon(runs.command("cancel").description("end a run before its end"))
    .argument("<id>")
    .option("--reason <text>")
    .action(async (id: string, options: CancelOptions) => {
      await perform(options, async (app, voice) =>
        (await import("./commands/runs-drive.ts")).cancel({ app, voice }, id, options),
      );
    });
  withCommon(runs.command("signal").description("tell a run that the event it waits for has happened"))
    .argument("<id>")
    .argument("<event>")
    .option("--payload <json>", "what the waiting step gets as its output: JSON, or @FILE")
    .action(async (id: string, name: string, options: SignalOptions) => {
      await perform(options, async (app, voice) =>
        (await import("./commands/runs-drive.ts")).signal({ app, voice }, { id, name }, options),
      );
    });
  addRepetitions(runs, perform);
  withCommon(runs.command("diff").description("compare two runs"))
    .argument("<a>")
    .argument("<b>")
    .action(async (a: string, b: string, options: CommonOptions) => {
      await perform(options, async (app) => (await import("./commands/runs-keep.ts")).diffRuns(app, { a, b }, options));
    });
  withCommon(runs.command("rm").description("delete a run that has ended"))
    .argument("<id>")
    .action(async (id: string, options: CommonOptions) => {
      await perform(options, async (app) => (await import("./commands/runs-keep.ts")).removeRun(app, id, options));
    });
  addAnswers(runs, perform);
}

function addRepetitions(runs: Command, perform: Perform): void {
  withRepetition(
    runs.command("rerun").alias("replay").description("do a run again from a step; the rest is taken over"),
  ).action(async (id: string, options: RerunOptions) => {
    await perform(options, async (app, voice) =>
      (await import("./commands/runs-repeat.ts")).rerun({ app, voice }, id, options),
    );
  });
  withRepetition(runs.command("fork").description("do a run again from a step, with something changed"))
    .option("--set <change>", "STEP.FIELD=VALUE, input.NAME=VALUE, max_cost_usd=N or timeout=SECONDS", collect)
    .option("--changes <file>", "all changes as a JSON file")
    .action(async (id: string, options: ForkOptions) => {
      await perform(options, async (app, voice) =>
        (await import("./commands/runs-repeat.ts")).fork({ app, voice }, id, options),
      );
    });
}

function withRepetition(command: Command): Command {
  return withCommon(command)
    .argument("<id>")
    .option("--from <step>", "a step's id, or the path of one instance (default: the first that failed)")
    .option("--current", "with the definition as its file is now, instead of the one that the run began with");
}

function addAnswers(parent: Command, perform: Perform): void {
  for (const verdict of ["approve", "reject"] as const) {
    const command = withCommon(parent.command(verdict).description(`${verdict} what a run asks for`))
      .argument("<run>", "RUN, or RUN:PATH where it asks for several things")
      .option("--comment <text>");
    if (verdict === "approve") command.option("--edit <json>", "replace the data: JSON, or @FILE");
    command.action(async (address: string, options: AnswerOptions) => {
      await perform(options, async (app, voice) => {
        const { answer } = await import("./commands/runs-drive.ts");
        return answer({ app, voice }, { address, verdict }, options);
      });
    });
  }
}

function addApprovals(approvals: Command, perform: Perform): void {
  withCommon(approvals.command("ls").description("list them")).action(async (options: CommonOptions) => {
    await perform(options, async (app) => (await import("./commands/runs-read.ts")).listApprovalsCommand(app, options));
  });
}

function addDeadLetters(deadLetters: Command, perform: Perform): void {
  withCommon(deadLetters.command("ls").description("list those that are open, oldest first"))
    .option("--all", "also those that were retried or resolved")
    .option("--workflow <name>")
    .option("--limit <n>", "at most so many", toCount, 50)
    .option("--cursor <id>", "go on after this one")
    .action(async (options: DeadLettersOptions) => {
      await perform(options, async (app) =>
        (await import("./commands/dead-letter.ts")).listDeadLettersCommand(app, options),
      );
    });
  withCommon(deadLetters.command("retry").description("do the run again from the step that has failed"))
    .argument("<id>", "RUN:PATH")
    .action(async (id: string, options: CommonOptions) => {
      await perform(options, async (app, voice) =>
        (await import("./commands/dead-letter.ts")).retryDeadLetter({ app, voice }, id, options),
      );
    });
  withCommon(deadLetters.command("resolve").description("note that nothing more is to be done"))
    .argument("<id>", "RUN:PATH")
    .option("--note <text>")
    .action(async (id: string, options: ResolveOptions) => {
      await perform(options, async (app) =>
        (await import("./commands/dead-letter.ts")).resolveDeadLetterCommand(app, id, options),
      );
    });
}

function addWebhooks(webhooks: Command, perform: Perform): void {
  withCommon(webhooks.command("ls").description("list deliveries, newest first"))
    .option("--run <id>", "of this run")
    .option("--status <list>", "pending, delivered, failed, skipped, separated by commas", toDeliveryStatuses)
    .option("--limit <n>", "at most so many", toCount, 20)
    .option("--cursor <id>", "go on after this one")
    .action(async (options: ListWebhooksOptions) => {
      await perform(options, async (app) => (await import("./commands/webhooks.ts")).listWebhooksCommand(app, options));
    });
  withCommon(webhooks.command("show").description("show a delivery and its tries"))
    .argument("<id>")
    .action(async (id: string, options: CommonOptions) => {
      await perform(options, async (app) =>
        (await import("./commands/webhooks.ts")).showWebhookCommand(app, id, options),
      );
    });
  withCommon(webhooks.command("resend").description("deliver it again, with the same id"))
    .argument("<id>")
    .action(async (id: string, options: CommonOptions) => {
      await perform(options, async (app) =>
        (await import("./commands/webhooks.ts")).resendWebhookCommand(app, id, options),
      );
    });
  withCommon(webhooks.command("verify").description("check a message that was received, with WEBHOOK_SECRET"))
    .argument("[file]", "its body, byte for byte; - reads it from stdin", "-")
    .option("-H, --header <header>", "'name: value', as received; more than once", collect, [])
    .action(async (file: string, options: VerifyOptions) => {
      await perform(options, async (app) =>
        (await import("./commands/webhooks.ts")).verifyWebhookCommand(app, file, options),
      );
    });
}

function addCosts(costs: Command, perform: Perform): void {
  costs
    .addOption(new Option("--by <what>").choices(["workflow", "model", "day", "tenant"]).default("workflow"))
    .option("--since <time>", "of runs that were started then or later (default: 30 days ago)", toTime)
    .option("--until <time>", "of runs that were started before", toTime)
    .action(async (options: CostsOptions) => {
      await perform(options, async (app) => (await import("./commands/costs.ts")).costs(app, options));
    });
}

function addSchedules(schedules: Command, perform: Perform): void {
  const load = () => import("./commands/schedules.ts");
  withCommon(schedules.command("ls").description("list them")).action(async (options: CommonOptions) => {
    await perform(options, async (app) => (await load()).listSchedulesCommand(app, options));
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
    .action(async (workflow: string, cron: string, options: CreateScheduleOptions) => {
      await perform(options, async (app) => (await load()).createScheduleCommand(app, { workflow, cron }, options));
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
        await perform(options, async (app) => (await load()).scheduleCommands[verb](app, id, options));
      });
  }
}

function addKeys(keys: Command, perform: Perform): void {
  withCommon(keys.command("ls").description("list them")).action(async (options: CommonOptions) => {
    await perform(options, async (app) => (await import("./commands/keys.ts")).listKeysCommand(app, options));
  });
  withCommon(keys.command("create").description("make a key; it is shown this once"))
    .argument("<name>", "who it is for")
    .option("--scopes <list>", "read, run, write, admin; each includes those before it", toScopes, ["run"])
    .option("--tenant <id>", "it sees and starts runs of this tenant only")
    .option("--max-cost <usd>", "what one run that it starts may cost", toAmount)
    .option("--days <n>", "it expires after so many", toCount)
    .action(async (name: string, options: CreateKeyOptions) => {
      await perform(options, async (app) => (await import("./commands/keys.ts")).createKeyCommand(app, name, options));
    });
  withCommon(keys.command("revoke").description("from now on it opens nothing"))
    .argument("<id>")
    .action(async (id: string, options: CommonOptions) => {
      await perform(options, async (app) => (await import("./commands/keys.ts")).revokeKeyCommand(app, id, options));
    });
}

function addTerminals(terminals: Command, perform: Perform): void {
  withCommon(terminals.command("ls").description("list them")).action(async (options: CommonOptions) => {
    await perform(options, async (app) => (await import("./commands/terminals.ts")).listTerminals(app, options));
  });
  withCommon(terminals.command("attach").description("look at one and type into it; Ctrl-] detaches"))
    .argument("<id>")
    .option("--view", "only look")
    .action(async (id: string, options: AttachOptions) => {
      await perform(options, async (app) => (await import("./commands/terminals.ts")).attachTerminal(app, id, options));
    });
  withCommon(terminals.command("kill").description("end one and everything that runs in it"))
    .argument("[id]")
    .option("--all", "all of them")
    .action(async (id: string | undefined, options: KillOptions) => {
      await perform(options, async (app) => (await import("./commands/terminals.ts")).killTerminals(app, id, options));
    });
}

function addMcp(mcp: Command, perform: Perform): void {
  withCommon(mcp.command("core").description("the built-in tools `core.*` as an MCP server over stdin and stdout"))
    .option("--http", "over HTTP, on this machine only")
    .option("--port <n>", "with --http; 0, the default, picks a free one", toPort)
    .option("--plain-names", "name tools with `_` in place of `.`")
    .action(async (options: McpCoreOptions) => {
      await perform(options, async (app) => (await import("./commands/mcp.ts")).mcpCore(app, options));
    });
}

function addMcpTerminal(mcp: Command, perform: Perform): void {
  withCommon(mcp.command("terminal").description("terminals and `run_workflow` as an MCP server over stdin and stdout"))
    .option("--http", "over HTTP, on this machine only unless --host says more")
    .option("--host <address>", "with --http; beyond this machine only with a token")
    .option("--port <n>", "with --http; 0, the default, picks a free one", toPort)
    .option("--token <text>", "what HTTP requests must bear (default: server.api_key)")
    .option("--web", "let people watch the terminals in a browser (terminal.web_enabled)")
    .option("--tools <list>", "`runs`: also get_run, list_runs, cancel_run, respond_to_run", toToolsets)
    .action(async (options: McpTerminalOptions) => {
      await perform(options, async (app) => (await import("./commands/mcp.ts")).mcpTerminal(app, options));
    });
}

function addStorage(storage: Command, perform: Perform): void {
  const load = () => import("./commands/storage.ts");
  const own = (command: Command) => withCommon(command).option("--tenant <id>", "of this tenant");
  own(storage.command("ls").description("list stored files"))
    .argument("[prefix]", "how their paths begin", "")
    .action(async (prefix: string, options: StorageOptions) => {
      await perform(options, async (app) => (await load()).listStorage(app, prefix, options));
    });
  own(storage.command("get").description("write a stored file to stdout"))
    .argument("<path>")
    .action(async (path: string, options: StorageOptions) => {
      await perform(options, async (app) => (await load()).getStorage(app, path, options));
    });
  own(storage.command("put").description("store a file"))
    .argument("<path>")
    .argument("<file>", "where it is; - is stdin")
    .action(async (path: string, source: string, options: StorageOptions) => {
      await perform(options, async (app) => (await load()).putStorage(app, { path, source }, options));
    });
  own(storage.command("rm").description("remove a stored file"))
    .argument("<path>")
    .action(async (path: string, options: StorageOptions) => {
      await perform(options, async (app) => (await load()).removeStorage(app, path, options));
    });
}

function addSettings(program: Command, perform: Perform): void {
  withCommon(program.command("doctor").description("check what runs need")).action(async (options: CommonOptions) => {
    await perform(options, async (app) => (await import("./commands/doctor.ts")).doctor(app, options));
  });
  withCommon(program.command("config").description("show every setting"))
    .option("--origin", "and where it comes from")
    .action(async (options: CommonOptions & { origin?: true }) => {
      await perform(options, async (app) => (await import("./commands/config.ts")).config(app, options));
    });
}

function withCommon(command: Command): Command {
  return command
    .option("--app <dir>", "the application", ".")
    .option("--data <dir>", "where runs are kept (default: .pawl in the application)")
    .option("--json", "answer with one JSON envelope (--json=lines: every event as it happens)")
    .addOption(new Option("--json-lines").hideHelp());
}

function allOf(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allOf)];
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function toAmount(text: string): number {
  const amount = Number(text);
  if (text.trim() !== "" && Number.isFinite(amount) && amount >= 0) return amount;
  throw new InvalidArgumentError("It must be a number of US dollars, 0 or more.");
}

function toScopes(text: string): readonly KeyScope[] {
  const names = text.split(",").map((name) => name.trim());
  const scopes = KEY_SCOPES.filter((scope) => names.includes(scope));
  if (names.length > 0 && scopes.length === new Set(names).size) return scopes;
  throw new InvalidArgumentError(`It must be some of ${KEY_SCOPES.join(", ")}, separated by commas.`);
}

const KEY_SCOPES: readonly KeyScope[] = ["read", "run", "write", "admin"];

function toDeliveryStatuses(text: string): readonly DeliveryStatus[] {
  const names = text.split(",").map((name) => name.trim());
  const statuses = DELIVERY_STATUSES.filter((status) => names.includes(status));
  if (statuses.length === new Set(names).size) return statuses;
  throw new InvalidArgumentError(`It must be some of ${DELIVERY_STATUSES.join(", ")}, separated by commas.`);
}

const DELIVERY_STATUSES: readonly DeliveryStatus[] = ["pending", "delivered", "failed", "skipped"];

function toCount(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 1_000) return count;
  throw new InvalidArgumentError("It must be a number from 1 to 1,000.");
}

function toTime(text: string): number {
  const at = Date.parse(text);
  if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(at)) return at;
  throw new InvalidArgumentError("It must be a day or a time in ISO 8601, such as 2026-05-01.");
}

function toTokens(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && count <= 10_000_000) return count;
  throw new InvalidArgumentError("It must be a whole number of tokens, 0 or more.");
}

function toJitter(text: string): number {
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds >= 0 && seconds <= 3_600) return seconds;
  throw new InvalidArgumentError("It must be a number of seconds from 0 to 3,600.");
}

function toToolsets(text: string): readonly string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.every((name) => name === "terminal" || name === "runs")) return names;
  throw new InvalidArgumentError("The sets of tools are `terminal`, which is always there, and `runs`.");
}

function toPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError("It must be a number from 0 to 65,535.");
}

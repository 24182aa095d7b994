import { Command, type CommanderError } from "commander";
import type { Operation } from "../../operations/operation.ts";
import { loadOperations, loadTopic } from "../../operations/operations.ts";
import type { OpenApp } from "./cli-context.ts";
import { performCommand } from "./perform-command.ts";
import { io } from "./process-io.ts";
import { UsageFailure } from "./usage-failure.ts";
import { addCompletion } from "./verbs/add-completion.ts";
import { addDefinitions } from "./verbs/add-definitions.ts";
import { addDev } from "./verbs/add-dev.ts";
import { addInit } from "./verbs/add-init.ts";
import { addMcp } from "./verbs/add-mcp.ts";
import { addRun } from "./verbs/add-run.ts";
import { addRuns } from "./verbs/add-runs.ts";
import { addTerminals } from "./verbs/add-terminals.ts";
import type { Perform } from "./verbs/perform.ts";

/** The verbs that a command line may be about, all of them where it names none. What a verb does is loaded when it is called. */
export async function buildProgram(
  args: readonly string[],
  openApp: OpenApp,
  exitWith: (code: number) => void,
): Promise<Command> {
  const perform: Perform = async (options, local, remote) =>
    exitWith(await performCommand(openApp, options, { local, remote }));
  const program = new Command("pawl")
    .description("Durable agent workflows. Every finished step stays finished, whatever crashes.")
    .option("-V, --version", "show which Pawl this is")
    .helpCommand(true)
    .showSuggestionAfterError();
  addInit(program, exitWith);
  addRun(program, perform);
  addDefinitions(program, perform);
  addRuns(program, perform);
  addTerminals(program, perform);
  const operations = await operationsFor(args);
  // Its schemas are most of what a command without an operation would cost.
  if (operations.length > 0) (await import("./verbs/add-operations.ts")).addOperations(program, perform, operations);
  addMcp(program, perform);
  addDev(program, openApp, exitWith);
  addCompletion(program, exitWith);
  for (const command of allOf(program)) {
    const refuse = (error: CommanderError) => {
      throw new UsageFailure(error, command);
    };
    command.exitOverride(refuse).configureOutput({
      writeOut: (text) => void io().stdout.write(text),
      writeErr: (text) => void io().stderr.write(text),
      outputError: () => undefined,
    });
  }
  return program;
}

/** Help and a misspelt verb need every verb. */
async function operationsFor([word = ""]: readonly string[]): Promise<readonly Operation[]> {
  if (BY_HAND.has(word)) return [];
  return (await loadTopic(word)) ?? loadOperations();
}

/** First words of verbs that are written by hand. */
const BY_HAND: ReadonlySet<string> = new Set([
  "init",
  "serve",
  "dev",
  "own",
  "run",
  "step",
  "plan",
  "validate",
  "graph",
  "mcp",
  "completion",
]);

function allOf(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allOf)];
}

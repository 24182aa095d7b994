import { Command, type CommanderError } from "commander";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Operation } from "../../operations/operation.ts";
import { loadOperations, loadTopic } from "../../operations/operations.ts";
import { type CommonOptions, formatOf, type OpenApp } from "./cli-context.ts";
import { tell } from "./print.ts";
import { io } from "./process-io.ts";
import { type ChosenServer, chooseServer } from "./remote/choose-server.ts";
import type { RemoteCommand } from "./remote/perform-remotely.ts";
import { reportError } from "./report-error.ts";
import { UsageFailure } from "./usage-failure.ts";
import type { LocalCommand, Perform } from "./verbs/perform.ts";
import { withApp } from "./with-app.ts";

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
  const { groups, operations } = await verbsFor(args);
  for (const add of groups) await add(program, { perform, openApp, exitWith });
  // Its schemas are most of what a command without an operation would cost.
  if (operations.length > 0) (await import("./verbs/add-operations.ts")).addOperations(program, perform, operations);
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

interface VerbParts {
  readonly perform: Perform;
  readonly openApp: OpenApp;
  exitWith(code: number): void;
}

type AddVerbs = (program: Command, parts: VerbParts) => Promise<void>;

/** Verbs that are written by hand, by their first words. */
const BY_HAND: readonly { readonly words: readonly string[]; readonly add: AddVerbs }[] = [
  { words: ["init"], add: async (program, { exitWith }) => (await authoring()).addInit(program, exitWith) },
  {
    words: ["run", "plan", "step", "serve", "worker", "own"],
    add: async (program, { perform }) => (await import("./verbs/add-run.ts")).addRun(program, perform),
  },
  {
    words: ["validate", "graph"],
    add: async (program, { perform }) => (await authoring()).addDefinitions(program, perform),
  },
  {
    words: ["runs"],
    add: async (program, { perform }) => (await import("./verbs/add-runs.ts")).addRuns(program, perform),
  },
  {
    words: ["terminals"],
    add: async (program, { perform }) => (await import("./verbs/add-terminals.ts")).addTerminals(program, perform),
  },
  {
    words: ["mcp"],
    add: async (program, { perform }) => (await import("./verbs/add-mcp.ts")).addMcp(program, perform),
  },
  {
    words: ["dev"],
    add: async (program, { openApp, exitWith }) => (await authoring()).addDev(program, openApp, exitWith),
  },
  {
    words: ["test"],
    add: async (program, { openApp, exitWith }) => (await authoring()).addTest(program, openApp, exitWith),
  },
  { words: ["completion"], add: async (program, { exitWith }) => (await authoring()).addCompletion(program, exitWith) },
];

const authoring = () => import("./verbs/add-authoring.ts");

/** Help and a misspelt verb need every verb. */
async function verbsFor([word = ""]: readonly string[]): Promise<{
  readonly groups: readonly AddVerbs[];
  readonly operations: readonly Operation[];
}> {
  const topic = await loadTopic(word);
  const named = BY_HAND.filter(({ words }) => words.includes(word));
  if (topic === undefined && named.length === 0)
    return { groups: BY_HAND.map(({ add }) => add), operations: await loadOperations() };
  return { groups: named.map(({ add }) => add), operations: topic ?? [] };
}

function allOf(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allOf)];
}

interface Forms {
  readonly local: LocalCommand;
  /** Absent: it works on this machine only. */
  readonly remote: RemoteCommand | undefined;
}

/** Does a command where the command line or the environment says, and returns the exit code. Never rejects. */
async function performCommand(openApp: OpenApp, options: CommonOptions, { local, remote }: Forms): Promise<number> {
  let server: ChosenServer | undefined;
  try {
    server = chooseServer(options, io().env);
    if (server !== undefined && remote === undefined) refuseOrTell(server);
  } catch (error) {
    return reportError(error, formatOf(options));
  }
  if (server === undefined || remote === undefined) return withApp(openApp, options, local);
  const { performRemotely } = await import("./remote/perform-remotely.ts");
  return performRemotely(server, options, remote);
}

/** Who has only set the variable goes on here, and is told so. */
function refuseOrTell({ url, isAsked }: ChosenServer): void {
  if (!isAsked) return tell(`This command works on this machine only: ${url} (PAWL_URL) is not asked.`);
  throw new PawlError("LOCAL_ONLY", { message: `This command works on this machine only, and not through ${url}.` });
}

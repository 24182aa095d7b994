import type { Argument, Command, Option } from "commander";
import { type Operation, verbsOf, type Word } from "../../../operations/operation.ts";
import { loadTopic } from "../../../operations/operations.ts";
import { listedBy } from "../../../operations/schemas.ts";
import { callHere } from "../call-here.ts";
import type { CommonOptions, OpenApp } from "../cli-context.ts";
import { print } from "../print.ts";
import { io } from "../process-io.ts";
import { buildProgram } from "../program.ts";
import { chooseServer } from "../remote/choose-server.ts";
import { sanitize } from "../render/text/sanitize.ts";
import { Voice } from "../voice.ts";
import { toOpenOptions } from "../with-app.ts";

/** Tells a shell that files may stand there as well. */
const FILES = ":files";

/** Verbs that list what an argument or option of this name stands for, whatever its topic. */
const LISTS: Readonly<Record<string, string>> = { workflow: "workflows ls", run: "runs ls", template: "init" };

/**
 * Prints what may stand in place of the last of these words, a line each: the word, a tab and its meaning. Shells ask for
 * it, so it never fails and says nothing else: what cannot be read is left out.
 */
export async function complete(words: readonly string[], openApp: OpenApp): Promise<void> {
  const lines = await findWords(words, openApp).catch(() => []);
  if (lines.length > 0) print(lines.join("\n"));
}

async function findWords(words: readonly string[], openApp: OpenApp): Promise<readonly string[]> {
  const program = await buildProgram(words, openApp, () => undefined);
  const typed = words.at(-1) ?? "";
  const place = findPlace(program, words.slice(0, -1));
  const { command, option, taken } = place;
  const [, flag = "", value] = /^(--[\w-]+)=(.*)$/s.exec(typed) ?? [];
  if (value !== undefined) {
    const given = optionWithValue(command, flag);
    const found = given === undefined ? [] : await wordsFor(given, place, openApp);
    return found.filter((line) => line !== FILES).map((line) => `${flag}=${line}`);
  }
  if (option !== undefined) return wordsFor(option, place, openApp);
  if (typed.startsWith("-")) return optionsOf(command);
  if (command.commands.length > 0) return commandsOf(command);
  const { registeredArguments: all } = command;
  const last = all.at(-1);
  const argument = all[taken] ?? (last?.variadic === true ? last : undefined);
  return argument === undefined ? [] : wordsFor(argument, place, openApp);
}

interface Place {
  readonly command: Command;
  /** As it is typed, after `pawl`. */
  readonly verb: string;
  /** How many arguments stand before. */
  readonly taken: number;
  /** The option whose value comes next. */
  readonly option: Option | undefined;
  readonly options: Readonly<Record<string, string>>;
}

/** Reads the words before the one that is asked for. They need not be a whole command line. */
function findPlace(program: Command, words: readonly string[]): Place {
  let command = program;
  const verb: string[] = [];
  let taken = 0;
  let option: Option | undefined;
  const options: Record<string, string> = {};
  for (const word of words) {
    const [flag = "", value] = word.split(/=(.*)/s);
    const below = command.commands.find((each) => each.name() === word || each.aliases().includes(word));
    if (option !== undefined) {
      options[option.attributeName()] = word;
      option = undefined;
    } else if (word.startsWith("-")) {
      option = optionWithValue(command, flag);
      if (option === undefined || value === undefined) continue;
      options[option.attributeName()] = value;
      option = undefined;
    } else if (below !== undefined) {
      command = below;
      verb.push(below.name());
    } else {
      taken += 1;
    }
  }
  return { command, verb: verb.join(" "), taken, option, options };
}

function optionWithValue({ options }: Command, flag: string): Option | undefined {
  return options.find(
    (option) => (option.required || option.optional) && (option.long === flag || option.short === flag),
  );
}

function optionsOf(command: Command): readonly string[] {
  const options = command.createHelp().visibleOptions(command);
  return options.flatMap(({ long, description: meaning }) => (long == null ? [] : [toLine({ text: long, meaning })]));
}

function commandsOf(command: Command): readonly string[] {
  const below = command.createHelp().visibleCommands(command);
  return below
    .filter((each) => each.name() !== "help")
    .map((each) => toLine({ text: each.name(), meaning: each.description() }));
}

/** What an argument or the value of an option may be. */
async function wordsFor(taker: Argument | Option, place: Place, openApp: OpenApp): Promise<readonly string[]> {
  const name = taker.name();
  if (taker.argChoices !== undefined) return taker.argChoices.map((text) => toLine({ text, meaning: "" }));
  const isArgument = !("long" in taker);
  const list = LISTS[name] ?? (isArgument ? await listOf(place.verb, name) : undefined);
  if (list === undefined) return [FILES];
  const words = await readList(list, place.options, openApp).catch(() => []);
  const lines = words.filter(({ text }) => IS_HARMLESS.test(text)).map(toLine);
  return isArgument && name === "workflow" ? [...lines, FILES] : lines;
}

/** Names come from files that nobody vouches for. What a shell could take for a quotation or an expansion is left out. */
const IS_HARMLESS = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._:/@+,#=()[\]-]{0,299}$/u;

const MAX_MEANING = 80;

function toLine({ text, meaning }: Word): string {
  return `${text}\t${sanitize(meaning)
    .replaceAll(/["'`\\$]/g, "")
    .slice(0, MAX_MEANING)}`;
}

/** The verb that lists what an argument of a verb stands for. Undefined: none does. */
async function listOf(verb: string, argument: string): Promise<string | undefined> {
  const operations = (await operationsAt(verb)).filter((each) => hasVerb(each, verb));
  const fields = operations.flatMap(({ input }) => input.shape[argument] ?? []);
  return fields.map(listedBy).find((list) => list !== undefined);
}

/** What such a verb lists, as other verbs take it, newest first where the list has a page. Nobody becomes the owner of the data for it. */
async function readList(
  verb: string,
  given: Readonly<Record<string, string>>,
  openApp: OpenApp,
): Promise<readonly Word[]> {
  const list = (await operationsAt(verb)).find((each) => each.word !== undefined && hasVerb(each, verb));
  if (list === undefined) return [];
  const { items } = (await callFor(list, { app: ".", ...given }, openApp)) as { readonly items: readonly never[] };
  return items.flatMap((item) => list.word?.(item) ?? []);
}

async function operationsAt(verb: string): Promise<readonly Operation[]> {
  return (await loadTopic(verb.split(" ")[0] ?? "")) ?? [];
}

function hasVerb({ cli }: Operation, name: string): boolean {
  return "byHand" in cli ? cli.byHand.includes(name) : verbsOf({ cli }).some(({ verb }) => verb === name);
}

async function callFor(list: Operation, options: CommonOptions, openApp: OpenApp): Promise<unknown> {
  const page = "limit" in list.input.shape ? { limit: PAGE } : {};
  const server = chooseServer(options, io().env);
  if (server !== undefined && !("no" in list.http)) {
    const { createPawlClient } = await import("../../../client/pawl-client.ts");
    // A shell waits for the answer.
    const soon: typeof fetch = (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(SERVER_TIME_MS) });
    return createPawlClient({ ...server, fetch: soon }).send(`${list.http.method} ${list.http.path}`, page);
  }
  const silent = { tell: () => undefined, onDefect: () => undefined };
  const app = await openApp({ ...toOpenOptions(options, new Voice()), ...silent, makesNothing: true });
  try {
    return await callHere(app, { starts: "here" }).call(list, page);
  } finally {
    await app.close();
  }
}

const PAGE = 100;
const SERVER_TIME_MS = 2_000;

import { type Command, Option } from "commander";
import { writeExact } from "../../../core/exact-json.ts";
import { type Field, fieldsOf } from "../../../operations/fields.ts";
import { type CliVerb, type Operation, verbsOf } from "../../../operations/operation.ts";
import { type Described, performVerb, type Written } from "../perform-verb.ts";
import { collect, withCommon } from "./common-options.ts";
import { flagsOf } from "./option-names.ts";
import { asking, type Perform } from "./perform.ts";

/** What stands above the verbs of a topic in the help. */
const TOPICS: Readonly<Record<string, string>> = {
  approvals: "questions that wait for a person",
  db: "the database that processes share",
  "dead-letter": "steps that have failed for good",
  workflows: "workflows that go by a name",
  storage: "the application's own files",
  agents: "agents of this application",
  prompt: "work on prompt templates",
  budgets: "what runs of a workflow, a tenant or all may use together",
  schedules: "workflows that start by the clock",
  keys: "who may use the service over HTTP",
  webhooks: "messages to other servers, and what became of them",
};

export function addOperations(program: Command, perform: Perform, operations: readonly Operation[]): void {
  for (const operation of operations) {
    for (const verb of verbsOf(operation)) addVerb(program, perform, { operation, verb });
  }
}

function addVerb(program: Command, perform: Perform, described: Described): void {
  const { operation, verb } = described;
  const { args = [], optional = [], files = [], parts = [], alias, example } = verb;
  const command = commandAt(program, verb.verb.split(" "));
  withCommon(command.description(verb.summary ?? lowerFirst(operation.summary)));
  if (alias !== undefined) command.alias(alias);
  const fields = fieldsOf(operation.input);
  for (const name of args) {
    const field = fields.find((each) => each.name === name);
    const [shown, help] = files.includes(name) ? ["file", "where it is; - is stdin"] : [name, toHelp(field?.sentence)];
    command.argument(optional.includes(name) ? `[${shown}]` : `<${shown}>`, help);
  }
  for (const field of fields) addOption(command, verb, field);
  for (const { flags, summary, isList, choices } of parts) {
    const option = new Option(flags, summary);
    if (choices !== undefined) option.choices([...choices]);
    if (isList === true) option.argParser(collect);
    command.addOption(option);
  }
  if ("input" in operation.input.shape && verb.options !== "none") {
    command.option("-i <key=value>", "one input; key=@FILE reads a file", collect);
    command.option("--input <file>", "the whole input as a JSON file");
  }
  if (verb.perTenant === true) command.option("--tenant <id>", "those of this tenant");
  if (example !== undefined) command.addHelpText("after", `\nExample:\n  pawl ${example}`);
  command.action(async (...called: readonly unknown[]) => {
    const options = called[args.length] as Written["options"];
    const written: Written = { args: called.slice(0, args.length) as (string | undefined)[], options };
    const [local, remote] = asking(
      async (caller, voice) => {
        if (verb.follows === undefined) return performVerb(caller, described, written);
        return (await import("../follow/follow-verb.ts")).followVerb(caller, described, { written, voice });
      },
      {
        starts: verb.follows === undefined ? "in the background" : "here",
        tenant: verb.perTenant === true ? (options["tenant"] as string | undefined) : undefined,
      },
    );
    await perform(options, local, "no" in operation.http ? undefined : remote);
  });
}

function addOption(command: Command, verb: CliVerb, field: Field): void {
  const flags = flagsOf(verb, field);
  if (flags === undefined) return;
  const value = verb.usual?.[field.name] ?? field.usual;
  const usual = value === undefined || field.kind === "boolean" ? "" : ` (default: ${writeExact(value)})`;
  const option = new Option(flags, toHelp(field.sentence) + usual);
  if (field.choices !== undefined) option.choices([...field.choices]);
  if (field.kind === "list") option.argParser(collect);
  command.addOption(option);
}

/** The command at these words; those above it are made where they are missing. */
function commandAt(parent: Command, [word = "", ...rest]: readonly string[]): Command {
  const known = parent.commands.find((each) => each.name() === word);
  if (rest.length === 0) return parent.command(word);
  return commandAt(known ?? parent.command(word).description(TOPICS[word] ?? ""), rest);
}

function toHelp(sentence = ""): string {
  return lowerFirst(sentence).replace(/\.$/, "");
}

function lowerFirst(text: string): string {
  return /^[A-Z](?![A-Z])/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

// Writes docs/every-operation.md from the operations, and the table of verbs in docs/reference.md from the command line.
// `--check` only says whether they are up to date.
import { readFile, writeFile } from "node:fs/promises";
import type { Command } from "commander";
import { isJsonObject, type JsonObject } from "../src/core/json.ts";
import { type Field, fieldsOf, toPlainSchema } from "../src/operations/fields.ts";
import { effectOf, type Operation, verbsOf } from "../src/operations/operation.ts";
import { type ListedOperation, loadOperations } from "../src/operations/operations.ts";
import { buildProgram } from "../src/surfaces/cli/program.ts";

/** Of every verb, or of nearly every one. */
const COMMON: ReadonlySet<string> = new Set(["--app", "--data", "--lenient", "--url", "--api-key", "--json", "--help"]);

const operations = await loadOperations();
const program = await buildProgram(
  [],
  () => Promise.reject(new Error("Nothing is run here.")),
  () => undefined,
);

const VERBS = { begin: "<!-- verbs -->", end: "<!-- end of verbs -->" };

await put("every-operation.md", () => renderOperationsDocs(operations));
await put("reference.md", (before) => {
  const [head, rest = ""] = before.split(VERBS.begin);
  const [, tail = ""] = rest.split(VERBS.end);
  return `${head}${VERBS.begin}\n\n${renderVerbs(program)}\n\n${VERBS.end}${tail}`;
});

async function put(page: string, render: (before: string) => string): Promise<void> {
  const path = new URL(`../docs/${page}`, import.meta.url);
  const before = await readFile(path, "utf8").catch(() => "");
  const text = render(before);
  if (!process.argv.includes("--check")) await writeFile(path, text);
  else if (before !== text) {
    console.error(`docs/${page} is not up to date: run \`npm run docs:operations\`.`);
    process.exitCode = 1;
  }
}

function renderVerbs(all: Command): string {
  const rows = leavesOf(all, "pawl").map(({ verb, command }) => {
    const own = command.options.filter(({ long, hidden }) => !hidden && !COMMON.has(long ?? ""));
    const options = own.map(({ short, long }) => code(long ?? short ?? ""));
    const usage = [verb, ...command.registeredArguments.map(usageOf)].join(" ");
    return `| \`${usage}\` | ${command.description().replaceAll("|", "\\|")} | ${options.join(" ")} |`;
  });
  return ["| verb | | options |", "|---|---|---|", ...rows].join("\n");
}

function leavesOf(command: Command, verb: string): readonly { readonly verb: string; readonly command: Command }[] {
  const inner = command.commands.flatMap((each) =>
    command.createHelp().visibleCommands(command).includes(each) ? leavesOf(each, `${verb} ${each.name()}`) : [],
  );
  return inner.length === 0 ? [{ verb, command }] : inner;
}

function usageOf(argument: Command["registeredArguments"][number]): string {
  const name = upper(argument.name()) + (argument.variadic ? "..." : "");
  return argument.required ? name : `[${name}]`;
}

function renderOperationsDocs(operations: readonly ListedOperation[]): string {
  const topics = Map.groupBy(operations, ({ topic }) => topic);
  return `# Every operation

<!-- Made by scripts/generate-operations-docs.ts from src/operations. Do not edit. -->

All that Pawl can be asked for, with where: as a route of the [HTTP API](http-api.md), as a verb of the [command line](reference.md),
as a tool of [\`pawl mcp\`](mcp.md#pawl-mcp). \`call\` of [\`pawl/client\`](client.md) takes every route with these fields. A field of a route is in its
path, else in the query of GET and DELETE, and in the JSON body of all others. \`--help\` of a verb tells its options.
${[...topics].map(([topic, those]) => renderTopic(topic, those)).join("")}`;
}

function renderTopic(topic: string, operations: readonly Operation[]): string {
  return `\n## ${topic.charAt(0).toUpperCase()}${topic.slice(1)}\n${operations.map(renderOperation).join("")}`;
}

function renderOperation(operation: Operation): string {
  const { summary, scope, errors = [] } = operation;
  const { does } = effectOf(operation);
  const needs = scope === "open" ? "needs no key" : `needs a key with the scope \`${scope}\``;
  const fields = fieldsOf(operation.input).map(renderField);
  return `
### ${summary}

- Route: ${routeOf(operation)}
- Verb: ${showVerbs(operation)}
- Tool: ${toolOf(operation)}${answerOf(operation)}
- It ${does}, and ${needs}.${errors.length === 0 ? "" : ` It may answer with ${errors.map(code).join(", ")}.`}
${fields.length === 0 ? "" : `\n| field | | |\n|---|---|---|\n${fields.join("\n")}\n`}`;
}

function routeOf({ http }: Operation): string {
  if ("no" in http) return `none. ${http.no}`;
  const { method, path: at, alias, answers, takes, status = 200, otherStatuses = [] } = http;
  const also = alias === undefined ? "" : `, also at \`${alias.path}\``;
  const body = takes === undefined ? "" : "; the body is the file";
  const statuses = [status, ...otherStatuses].join(" or ");
  const answer = `; answers ${statuses}${answers === undefined ? "" : ` with \`${answers}\``}`;
  return `\`${method} ${at}\`${also}${body}${answer}`;
}

/** The fields of the answer, or of each item of a list. */
function answerOf({ output }: Operation): string {
  const schema = toPlainSchema(output, "output");
  const list = propertyOf(schema, "items");
  const item = list === undefined ? schema : resolve(list["items"], schema);
  const names = isJsonObject(item["properties"]) ? Object.keys(item["properties"]) : [];
  if (names.length === 0) return "";
  return `\n- Answer: ${list === undefined ? "" : "a list of "}${names.map(code).join(", ")}`;
}

function propertyOf({ properties }: JsonObject, name: string): JsonObject | undefined {
  const property = isJsonObject(properties) ? properties[name] : undefined;
  return isJsonObject(property) ? property : undefined;
}

function resolve(schema: unknown, { $defs }: JsonObject): JsonObject {
  if (!isJsonObject(schema)) return {};
  const { $ref: reference } = schema;
  const named =
    typeof reference === "string" && isJsonObject($defs) ? $defs[reference.replace("#/$defs/", "")] : undefined;
  return isJsonObject(named) ? named : schema;
}

function showVerbs({ cli }: Operation): string {
  if ("no" in cli) return `none. ${cli.no}`;
  if ("byHand" in cli) return cli.byHand.map((verb) => code(`pawl ${verb}`)).join(", ");
  const described = verbsOf({ cli });
  const verbs = described.map(({ verb, args = [], optional = [] }) => {
    const shown = args.map((name) => (optional.includes(name) ? `[${upper(name)}]` : upper(name)));
    return code(["pawl", verb, ...shown].join(" "));
  });
  const examples = described.flatMap(({ example }) => (example === undefined ? [] : [code(`pawl ${example}`)]));
  return `${verbs.join(", ")}${examples.length === 0 ? "" : `; for example ${examples.join(", ")}`}`;
}

function toolOf({ mcp }: Operation): string {
  if ("no" in mcp) return `none. ${mcp.no}`;
  if ("byHand" in mcp) return mcp.byHand.map(code).join(", ");
  const { tool, names = {}, without = [] } = mcp;
  const renamed = Object.entries(names).map(([field, name]) => `\`${field}\` is \`${name}\``);
  const left = without.length === 0 ? [] : [`it takes no ${without.map(code).join(", ")}`];
  return [code(tool), ...renamed, ...left].join("; ");
}

function renderField({ name, kind, isRequired, usual, choices, sentence }: Field): string {
  const what = [sentence ?? "", usual === undefined ? "" : `Default: ${code(JSON.stringify(usual))}.`];
  const is = choices === undefined ? kind : choices.map(code).join(", ");
  return `| \`${name}\`${isRequired ? "" : "?"} | ${is} | ${what.join(" ").trim().replaceAll("|", "\\|")} |`;
}

function upper(field: string): string {
  return field.toUpperCase().replaceAll("_", "-");
}

function code(written: string): string {
  return `\`${written}\``;
}

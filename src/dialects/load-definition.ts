import type { Problem } from "../core/errors/problem.ts";
import type { Dialect } from "../core/graph/graph.ts";
import { hasAgentsShape } from "./agents/component.ts";
import { isAgentFile } from "./agents/front-matter.ts";
import type { Compiled, Definition, LoadOptions } from "./definition.ts";
import { didYouMean, suggest } from "./did-you-mean.ts";
import { ProblemList } from "./problem-list.ts";
import { compileSandcastle } from "./sandcastle/compile.ts";
import { findJsonFault } from "./source/find-json-fault.ts";
import { toExcerpt } from "./source/printable.ts";
import { startOf, type YamlMap, type YamlNode } from "./source/yaml-node.ts";
import { readYaml } from "./source/yaml-source.ts";
import { unwrapSaved } from "./terminal/unwrap-saved.ts";

/** Compiles a definition of any dialect. Never throws on bad input: everything that is wrong is a problem with its place. */
export async function loadDefinition(definition: Definition, options: LoadOptions = {}): Promise<Compiled> {
  if (isAgentFile(definition)) return loadAgentFile(definition, options);
  const problems = new ProblemList(definition, options);
  const written = readYaml(problems);
  if (written === undefined && isJsonFile(definition)) return { problems: inWordsOfJson(definition, problems) };
  const root = written?.kind === "map" ? unwrapSaved(written) : written;
  const dialect = root && detectDialect(root, problems);
  if (root === undefined || dialect === undefined) return { problems: problems.toArray() };
  if (dialect === "agents" || root.kind !== "map") {
    const { compileAgents } = await import("./agents/compile.ts");
    // Such a file is read by others too, which take nothing but JSON.
    if (isJsonFile(definition)) reportJsonFault(problems);
    return compileAgents(root, problems, options);
  }
  if (dialect === "sandcastle") return compileSandcastle(root, problems, options);
  if (dialect === "uhlp") {
    const { compileUhlp } = await import("./uhlp/compile.ts");
    return compileUhlp(root, problems, options);
  }
  const { compileTerminal } = await import("./terminal/compile.ts");
  return compileTerminal(root, problems, options);
}

function isJsonFile({ file = "" }: Definition): boolean {
  return file.endsWith(".json");
}

/** Problems of a JSON file are told in words of JSON, not of YAML. */
function inWordsOfJson(definition: Definition, found: ProblemList): readonly Problem[] {
  const problems = found.toArray();
  const own = new ProblemList(definition);
  if (problems.every(({ code }) => code === "YAML_SYNTAX")) reportJsonFault(own);
  return own.hasErrors ? own.toArray() : problems;
}

function reportJsonFault(problems: ProblemList): void {
  const fault = findJsonFault(problems.source.text);
  if (fault === undefined) return;
  const { start, end, message, remedy } = fault;
  problems.error({ code: "JSON_SYNTAX", at: { start, end }, message, remedy });
}

/** An agent that other programs read too: Markdown with its settings at the top. */
async function loadAgentFile(definition: Definition, { select }: LoadOptions): Promise<Compiled> {
  const { compileAgentFile } = await import("./agents/compile.ts");
  return compileAgentFile(definition, select);
}

type WrittenDialect = Exclude<Dialect, "direct">;

const DIALECTS: readonly WrittenDialect[] = ["sandcastle", "uhlp", "terminal", "agents"];

function detectDialect(root: YamlNode, problems: ProblemList): WrittenDialect | undefined {
  if (root.kind !== "map") {
    if (hasAgentsShape(root)) return "agents";
    const isEmpty = root.kind === "scalar" && root.value === null;
    reportUnknown(root, isEmpty ? "The definition is empty." : "A definition is a map of keys.", problems);
    return undefined;
  }
  const named = root.entries.get("dialect")?.value;
  if (named !== undefined) return readDialect(named, problems);
  const dialect = dialectByShape(root);
  if (dialect === undefined) reportUnknown(root, isCommented(root) ? COMMENTED : NO_SHAPE, problems);
  return dialect;
}

const NO_SHAPE = "The definition has none of the four shapes.";
const COMMENTED = "JSON has no comments: what stands behind `//` and between `/*` and `*/` is read as a key.";

/** The first key swallows a comment, and then nothing is called what it should be. */
function isCommented(root: YamlMap): boolean {
  return root.inBraces && [...root.entries.keys()].some((key) => /^\s*\/[/*]/.test(key));
}

function readDialect(named: YamlNode, problems: ProblemList): WrittenDialect | undefined {
  const written = named.kind === "scalar" ? named.written : "";
  const dialect = DIALECTS.find((name) => name === written);
  if (dialect !== undefined) return dialect;
  const message = `\`dialect\` cannot be \`${toExcerpt(written)}\`; it is one of ${DIALECTS.join(", ")}.`;
  problems.error({ code: "VALUE_INVALID", at: named, message, remedy: suggest(written, DIALECTS) });
  return undefined;
}

function dialectByShape(root: YamlMap): WrittenDialect | undefined {
  const { entries } = root;
  const steps = entries.get("steps")?.value;
  if ((entries.has("startAt") || entries.has("workflowId")) && steps?.kind === "map") return "uhlp";
  if (entries.has("initial_state")) return "terminal";
  if (hasAgentsShape(root)) return "agents";
  // `steps:` with nothing under it is a Sandcastle file that somebody has just begun.
  if (steps?.kind === "list" || (steps?.kind === "scalar" && steps.value === null)) return "sandcastle";
  return undefined;
}

function reportUnknown(root: YamlNode, message: string, problems: ProblemList): void {
  const hint = root.kind === "map" ? hintAtSteps(root) : "";
  problems.error({ code: "DIALECT_UNKNOWN", at: startOf(root), message, remedy: `${hint}${SHAPES}` });
}

function hintAtSteps({ entries }: YamlMap): string {
  if (entries.has("steps")) return "Write `steps` as a list (`- id: ...`), or add `startAt` to a map. ";
  const near = [...entries.keys()].find((key) => didYouMean(key, ["steps"]) !== undefined);
  return near === undefined ? "" : `Did you mean \`steps\` instead of \`${toExcerpt(near)}\`? `;
}

const SHAPES = [
  "A definition is one of:",
  "sandcastle (`name`, and a list `steps` of `{id, prompt}`);",
  "uhlp (`startAt`, and a map `steps`);",
  "terminal (`initial_state`, and `states`);",
  "agents (`agents`, `clients` or `components`, or a list of components with a `type`).",
].join(" ");

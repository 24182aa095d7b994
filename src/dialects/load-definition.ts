import type { Problem } from "../core/errors/problem.ts";
import { WRITTEN_DIALECTS } from "../core/graph/dialects.ts";
import { agents } from "./agents/dialect.ts";
import type { Compiled, Definition, LoadOptions } from "./definition.ts";
import type { Dialect } from "./dialect.ts";
import { didYouMean, suggest } from "./did-you-mean.ts";
import { ProblemList } from "./problem-list.ts";
import { sandcastle } from "./sandcastle/dialect.ts";
import { findJsonFault } from "./source/find-json-fault.ts";
import { toExcerpt } from "./source/printable.ts";
import { startOf, type YamlMap, type YamlNode } from "./source/yaml-node.ts";
import { readYaml } from "./source/yaml-source.ts";
import { terminal, unwrapSaved } from "./terminal/dialect.ts";
import { uhlp } from "./uhlp/dialect.ts";

/** In the order in which they are asked whether a text has their shape. */
const DIALECTS: readonly Dialect[] = [uhlp, terminal, agents, sandcastle];

export function dialectNamed(name: string): Dialect | undefined {
  return DIALECTS.find((dialect) => dialect.name === name);
}

/** Compiles a definition of any dialect. Never throws on bad input: everything that is wrong is a problem with its place. */
export async function loadDefinition(definition: Definition, options: LoadOptions = {}): Promise<Compiled> {
  const [ofFile] = DIALECTS.flatMap(({ compileFile }) => compileFile?.(definition, options) ?? []);
  if (ofFile !== undefined) return ofFile;
  const problems = new ProblemList(definition, options);
  const written = readYaml(problems);
  if (written === undefined && isJsonFile(definition)) return { problems: inWordsOfJson(definition, problems) };
  const root = written?.kind === "map" ? unwrapSaved(written) : written;
  const dialect = root && detectDialect(root, problems);
  if (root === undefined || dialect === undefined) return { problems: problems.toArray() };
  if (dialect.isStrictJson === true && isJsonFile(definition)) reportJsonFault(problems);
  return dialect.compile(root, problems, options);
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

function detectDialect(root: YamlNode, problems: ProblemList): Dialect | undefined {
  const named = root.kind === "map" ? root.entries.get("dialect")?.value : undefined;
  if (named !== undefined) return readDialect(named, problems);
  const dialect = DIALECTS.find((each) => each.hasShape(root));
  if (dialect === undefined) reportUnknown(root, whyUnknown(root), problems);
  return dialect;
}

function whyUnknown(root: YamlNode): string {
  if (root.kind === "scalar" && root.value === null) return "The definition is empty.";
  if (root.kind !== "map") return "A definition is a map of keys.";
  return isCommented(root) ? COMMENTED : NO_SHAPE;
}

const NO_SHAPE = "The definition has none of the four shapes.";
const COMMENTED = "JSON has no comments: what stands behind `//` and between `/*` and `*/` is read as a key.";

/** The first key swallows a comment, and then nothing is called what it should be. */
function isCommented(root: YamlMap): boolean {
  return root.inBraces && [...root.entries.keys()].some((key) => /^\s*\/[/*]/.test(key));
}

function readDialect(named: YamlNode, problems: ProblemList): Dialect | undefined {
  const written = named.kind === "scalar" ? named.written : "";
  const dialect = dialectNamed(written);
  if (dialect !== undefined) return dialect;
  const message = `\`dialect\` cannot be \`${toExcerpt(written)}\`; it is one of ${WRITTEN_DIALECTS.join(", ")}.`;
  problems.error({ code: "VALUE_INVALID", at: named, message, remedy: suggest(written, WRITTEN_DIALECTS) });
  return undefined;
}

function reportUnknown(root: YamlNode, message: string, problems: ProblemList): void {
  const hint = root.kind === "map" ? hintAtSteps(root) : "";
  problems.error({ code: "DIALECT_UNKNOWN", at: startOf(root), message, remedy: `${hint}${listShapes()}` });
}

function hintAtSteps({ entries }: YamlMap): string {
  if (entries.has("steps")) return "Write `steps` as a list (`- id: ...`), or add `startAt` to a map. ";
  const near = [...entries.keys()].find((key) => didYouMean(key, ["steps"]) !== undefined);
  return near === undefined ? "" : `Did you mean \`steps\` instead of \`${toExcerpt(near)}\`? `;
}

function listShapes(): string {
  const shapes = WRITTEN_DIALECTS.map((name) => `${name} (${dialectNamed(name)?.looksLike})`);
  return `A definition is one of: ${shapes.join("; ")}.`;
}

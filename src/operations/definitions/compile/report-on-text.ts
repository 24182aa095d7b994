import { existsSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import type { Problem } from "../../../core/errors/problem.ts";
import type { GraphProblem } from "../../../core/graph/check-controls.ts";
import { checkGraph } from "../../../core/graph/check-graph.ts";
import { remedyOf, traitsOf } from "../../../core/graph/dialects.ts";
import type { Graph } from "../../../core/graph/graph.ts";
import { liftControls } from "../../../core/graph/lift-controls.ts";
import { isJsonObject, type Json, ownField } from "../../../core/json.ts";
import { type Grant, withGrant } from "../../../core/trust/grant.ts";
import type { Compiled, DefinitionPart, LoadOptions, NeededFile, Selection } from "../../../dialects/definition.ts";
import { loadDefinition } from "../../../dialects/load-definition.ts";
import { renderProblem } from "../../../dialects/render-problem.ts";
import { reportLacks } from "../../../dialects/report-lacks.ts";
import type { CompiledDefinition, ShownProblem } from "../../../hosts/compiled-definition.ts";
import { type Surroundings, surroundingsOf } from "../agents/agent-surroundings.ts";
import { pinFiles } from "../pin-files.ts";

export interface DefinitionReport {
  /** Absent where a problem is an error. */
  readonly definition?: CompiledDefinition;
  readonly problems: readonly ShownProblem[];
}

/** The origin of a text, and the defaults for what it leaves open. */
export interface TextOrigin extends Omit<LoadOptions, "select" | "agentFiles" | "hasWorkflow"> {
  /** What it may reach. The compiled graph keeps it, so that executors hold to it too. */
  readonly grant: Grant;
  /** Its name for people, shown with every problem. */
  readonly source?: string;
  /** The folders of scripts and prompts that steps name, in this order. If empty, none are found. */
  readonly folders: readonly string[];
  /** Fetches them from where the text comes from, instead of from folders. */
  read?(path: string): Promise<string>;
  /** Which part of a file of agents is meant. */
  readonly select?: Exclude<Selection, "all">;
  /** Definitions that a file of agents may name beside its own. Absent: none. */
  readonly around?: Surroundings;
}

/** A text with everything in it that can be run by its name. */
export interface WholeReport {
  /** The workflows of a file of agents, else the only one. Empty if a problem is an error. */
  readonly definitions: readonly CompiledDefinition[];
  /** The parts of a file of agents. */
  readonly parts?: readonly DefinitionPart[];
  readonly isValid: boolean;
  readonly problems: readonly ShownProblem[];
}

/** Checks and compiles a text, with the files that its steps name; everything that is wrong is in the report. */
export async function reportOnText(text: string, origin: TextOrigin): Promise<DefinitionReport> {
  const { select } = origin;
  const compiled = await load(text, origin, select === undefined ? {} : { select });
  return finish(text, origin, compiled);
}

/** Checks all of a text. Of a file of agents every workflow is compiled. */
export async function checkWholeText(text: string, origin: TextOrigin): Promise<WholeReport> {
  const compiled = await load(text, origin, { select: "all" });
  const { parts } = compiled;
  if (parts === undefined) {
    const { definition, problems } = await finish(text, origin, compiled);
    return { definitions: definition === undefined ? [] : [definition], isValid: definition !== undefined, problems };
  }
  const workflows = parts.filter(({ kind }) => kind === "workflow");
  const reports = await Promise.all(
    workflows.map((part) => finish(text, origin, { graph: part.toGraph(), problems: [], files: compiled.files ?? [] })),
  );
  const ofAll = showProblems(compiled.problems, text);
  const definitions = reports.flatMap(({ definition }) =>
    definition === undefined ? [] : [{ ...definition, warnings: [...ofAll, ...(definition.warnings ?? [])] }],
  );
  // Several workflows may use a server whose file is missing.
  const ofParts = new Map(reports.flatMap((report) => report.problems.map((problem) => [problem.rendered, problem])));
  const problems = [...ofAll, ...ofParts.values()];
  return { definitions, parts, isValid: definitions.length === reports.length, problems };
}

function load(text: string, origin: TextOrigin, selection: Pick<LoadOptions, "select">): Promise<Compiled> {
  const { source, maxSteps, around } = origin;
  const definition = { text, ...(source === undefined ? {} : { file: source }) };
  return loadDefinition(definition, {
    ...(maxSteps === undefined ? {} : { maxSteps }),
    envAllowed: origin.envAllowed ?? [],
    isLenient: origin.isLenient ?? false,
    hasInlineAgents: origin.hasInlineAgents ?? false,
    hasChromium: origin.hasChromium ?? (() => true),
    ...(around === undefined ? {} : surroundingsOf(around)),
    ...selection,
  });
}

export function showProblems(problems: readonly Problem[], text: string): readonly ShownProblem[] {
  return problems.map((problem) => ({ ...problem, rendered: renderProblem(problem, text) }));
}

async function finish(
  text: string,
  { source, grant, folders, read, isLenient }: TextOrigin,
  { graph: written, problems, files }: Compiled,
): Promise<DefinitionReport> {
  if (written === undefined) return { problems: showProblems(problems, text) };
  const inconsistent = checkGraph(written).map((problem) => toProblem(problem, written));
  const wrong = [...inconsistent, ...reportLacks(written, grant, { text, file: source })];
  const shown = showProblems([...problems, ...wrong], text);
  if (wrong.length > 0) return { problems: shown };
  const graph = { ...written, settings: withGrant(written.settings, grant) };
  const located = locateServers(graph, folders);
  const pinned = await pinFiles(located, {
    text,
    files: (files ?? []).filter((file) => file.kind !== "server" || isMissingServer(file, located)),
    folders,
    ...(isLenient === undefined ? {} : { isLenient }),
    ...(read === undefined ? {} : { read }),
  });
  const all = [...shown, ...pinned.problems];
  if (pinned.graph === undefined) return { problems: all };
  const compiled = { text, graph: liftControls(pinned.graph), ...(source !== undefined && { source }), warnings: all };
  return { definition: compiled, problems: all };
}

/** Problems that a dialect has let through and the interpreter cannot handle, at their steps. */
function toProblem({ code, message, path }: GraphProblem, { flow, dialect }: Graph): Problem {
  const place = flow.steps.find(({ id }) => id === path?.split("/")[0])?.place;
  const remedy = remedyOf(code, dialect);
  return { code, severity: "error", message, remedy, ...(place === undefined ? {} : { place }) };
}

/**
 * Writes into the graph which folder the relative paths of its MCP servers start from: the one that has most of them, the
 * first where several have as many. So files beside the agents file are found, and those of the application are.
 */
function locateServers(graph: Graph, folders: readonly string[]): Graph {
  const { mcp_servers: servers } = graph.settings;
  const [first] = folders;
  if (!traitsOf(graph).namesServers || first === undefined) return graph;
  const paths = isJsonObject(servers) ? Object.values(servers).flatMap(pathsOf) : [];
  let folder = first;
  let most = 0;
  for (const each of folders) {
    const found = paths.filter((path) => existsSync(join(each, path))).length;
    if (found <= most) continue;
    folder = each;
    most = found;
  }
  return { ...graph, settings: { ...graph.settings, folder } };
}

/** Whether the graph uses a server whose file is not there. A text without a folder is at home wherever it runs. */
function isMissingServer({ path }: NeededFile, { settings }: Graph): boolean {
  const { mcp_servers: servers, folder } = settings;
  if (!isJsonObject(servers) || typeof folder !== "string") return false;
  const isUsed = Object.values(servers).some((server) => isJsonObject(server) && server["server_path"] === path);
  return isUsed && !existsSync(resolve(folder, path));
}

function pathsOf(server: Json): readonly string[] {
  if (!isJsonObject(server)) return [];
  const { args } = server;
  const named = [...["server_path", "command", "cwd", "venv"].map((key) => ownField(server, key)), ...listOf(args)];
  return named.filter((path): path is string => typeof path === "string" && isRelativePath(path));
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** A bare word is a command or an argument, unless it has the ending of a file. */
function isRelativePath(text: string): boolean {
  if (text === "" || text.includes("\0") || text.includes("${") || text.startsWith("-") || isAbsolute(text))
    return false;
  return /[\\/]/.test(text) ? !/^[a-z]+:\/\//i.test(text) : /\.[A-Za-z0-9]{1,5}$/.test(text);
}

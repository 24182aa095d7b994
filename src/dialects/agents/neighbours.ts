import type { Definition } from "../definition.ts";
import { ProblemList } from "../problem-list.ts";
import { Reader } from "../shape/shape.ts";
import { readYaml } from "../source/yaml-source.ts";
import type { AgentDefinition } from "./agents-file.ts";
import { checkAgentsFile, type SharedParts } from "./check.ts";
import { isAgentFile } from "./front-matter.ts";
import { type AgentsFile, parseAgentsFile } from "./parse.ts";
import { parseAgentFile } from "./parse-agent-file.ts";
import { rules } from "./shape/parts.ts";

export interface Neighbours {
  /** The servers and models of all files. Of two of one name the first counts, and a file's own before all. */
  readonly shared: SharedParts;
  readonly otherAgents: readonly AgentDefinition[];
  /** Names of those that cannot be used, with the files that they stand in. */
  readonly brokenAgents: ReadonlyMap<string, string>;
}

/** Reads the other files of agents of the application. Their problems are told where they are checked themselves. */
export function readNeighbours(own: AgentsFile, definitions: readonly Definition[]): Neighbours {
  const lone = definitions.filter((each) => isAgentFile(each)).map((each) => parseAgentFile(each));
  const parsed = definitions.filter((each) => !isAgentFile(each)).flatMap((each) => parseFile(each) ?? []);
  const files = [own, ...parsed.map(({ file }) => file)];
  const servers = files.flatMap((file) => file.servers ?? []);
  const shared: SharedParts = {
    models: files.flatMap(({ models }) => models),
    // No file says anything of servers: agents use those of the application.
    servers: files.some((file) => file.servers !== undefined) ? firstOfEach(servers) : undefined,
  };
  const { broken = [], whole = [] } = Object.groupBy(parsed, (each) => (isBroken(each, shared) ? "broken" : "whole"));
  return {
    shared,
    otherAgents: [...whole.flatMap(({ file }) => file.agents), ...lone.flatMap(({ agent }) => agent ?? [])],
    brokenAgents: new Map([
      ...broken.flatMap(({ file, definition }) =>
        file.agents.map(({ name }) => [name, definition.file ?? ""] as const),
      ),
      ...lone.flatMap(({ agent, name, file }) => (agent === undefined ? [[name, file] as const] : [])),
    ]),
  };
}

interface Parsed {
  readonly definition: Definition;
  readonly file: AgentsFile;
  readonly isReadable: boolean;
}

function isBroken({ definition, file, isReadable }: Parsed, shared: SharedParts): boolean {
  const problems = new ProblemList(definition);
  checkAgentsFile(file, shared, problems);
  return !isReadable || problems.hasErrors;
}

/** Each file of a workspace is a neighbour of all others. */
const known = new WeakMap<Definition, Parsed | "no YAML">();

function parseFile(definition: Definition): Parsed | undefined {
  const found = known.get(definition) ?? parse(definition);
  known.set(definition, found);
  return found === "no YAML" ? undefined : found;
}

function parse(definition: Definition): Parsed | "no YAML" {
  const problems = new ProblemList(definition);
  const root = readYaml(problems);
  if (root === undefined) return "no YAML";
  const parsed = parseAgentsFile(root, new Reader({ problems, rules }));
  const { folder } = definition;
  const file = folder === undefined ? parsed : { ...parsed, servers: fromFolder(parsed.servers, folder) };
  return { definition, file, isReadable: !problems.hasErrors };
}

type Servers = AgentsFile["servers"];
type Server = NonNullable<Servers>[number];

/** A server's files are beside the project that it stands in, not beside the one that uses it. */
function fromFolder(servers: Servers, folder: string): Servers {
  return servers?.map((server) => {
    const { server_path: path, cwd } = server.settings;
    return {
      ...server,
      settings: {
        ...server.settings,
        ...(typeof path === "string" ? { server_path: within(folder, path) } : {}),
        ...(typeof cwd === "string" ? { cwd: within(folder, cwd) } : {}),
      },
    };
  });
}

function within(folder: string, path: string): string {
  return /^(?:[\\/~$]|[A-Za-z]:)/.test(path) ? path : `${folder}/${path}`;
}

function firstOfEach(servers: readonly Server[]): Server[] {
  return servers.filter(({ name }, index) => servers.findIndex((each) => each.name === name) === index);
}

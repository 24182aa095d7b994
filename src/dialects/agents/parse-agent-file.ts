import type { Problem } from "../../core/errors/problem.ts";
import type { Json } from "../../core/json.ts";
import type { Definition } from "../definition.ts";
import { isMisspelt, suggest } from "../did-you-mean.ts";
import { ProblemList } from "../problem-list.ts";
import { ignored, optional } from "../shape/fields.ts";
import { object } from "../shape/object.ts";
import { integer, text } from "../shape/scalars.ts";
import { Reader, TOP } from "../shape/shape.ts";
import { toExcerpt } from "../source/printable.ts";
import type { Range } from "../source/source-text.ts";
import { reportWrongEncoding } from "../source/yaml-source.ts";
import type { AgentDefinition, AgentSettingName, Named, Setting } from "./agents-file.ts";
import { readName } from "./component.ts";
import { type FrontMatter, readFrontMatter } from "./front-matter.ts";
import { names, rules, setting } from "./shape/parts.ts";

/** An agent in a Markdown file, as `.claude/agents/*.md` are. */
export interface AgentFile {
  readonly file: string;
  /** The name that it says, else that of the file. */
  readonly name: string;
  /** Absent where a problem is an error. */
  readonly agent?: AgentDefinition;
  readonly problems: readonly Problem[];
}

const MAX_CHARS = 1_048_576;
const NOTHING_THERE: Range = { start: 0, end: 0 };

/**
 * Reads the settings at the top, and the rest as the system prompt. A file without settings is no agent: among others it is
 * passed over with a warning, as the programs do that made the format.
 */
export function parseAgentFile(definition: Definition, isAmongOthers = false): AgentFile {
  const { text, file = "" } = definition;
  const problems = new ProblemList(definition);
  const reader = new Reader({ problems, rules });
  const agent = text.length > MAX_CHARS ? reportSize(problems) : parse(definition, reader, isAmongOthers);
  const name = agent?.name ?? file.replace(/^.*[\\/]/, "").replace(/\.md$/, "");
  const isUsable = agent !== undefined && !problems.hasErrors;
  return { file, name, ...(isUsable ? { agent } : {}), problems: problems.toArray() };
}

function reportSize(problems: ProblemList): undefined {
  problems.error({ code: "TOO_LARGE", at: NOTHING_THERE, message: "The file is larger than 1 MB." });
}

function parse(definition: Definition, reader: Reader, isAmongOthers: boolean): AgentDefinition | undefined {
  const { problems } = reader;
  reportWrongEncoding(problems);
  const matter = readFrontMatter(definition);
  if (matter === undefined) {
    const remedy = "Begin it with `---`, the lines `name:` and `description:`, and `---` again.";
    const finding = { code: "KEY_MISSING", at: NOTHING_THERE, remedy } as const;
    const message = "The file has no settings at its top";
    if (isAmongOthers) problems.warning({ ...finding, message: `${message}: it is no agent, and is passed over.` });
    else problems.error({ ...finding, message: `${message}.` });
    return undefined;
  }
  if (matter.isLoose) reportLoose(matter, problems);
  return toAgent(matter, reader);
}

function reportLoose({ head }: FrontMatter, problems: ProblemList): void {
  const message = "The settings are no YAML; they were read line by line.";
  problems.warning({ code: "YAML_SYNTAX", at: { start: head.start, end: head.start + 1 }, message });
}

/** The settings at the top of such a file. */
const matterShape = object(
  {
    name: ignored("read with the file."),
    // These concern Claude's own programs and screens.
    color: ignored("it is for screens."),
    permissionMode: ignored("it is of other programs."),
    description: optional(text(), "For people and other agents."),
    model: optional(text(), "The model; `inherit`: that of the caller."),
    maxTurns: optional(setting(integer(1, 10_000)), "Turns of the model."),
    tools: optional(names(), "Tools that it may have."),
    disallowedTools: optional(names(), "Tools that it does not get."),
  },
  { title: "an agent of `.claude/agents`" },
);

function toAgent({ head, body }: FrontMatter, reader: Reader): AgentDefinition | undefined {
  const named = readName({ map: head }, { what: "Agent", keys: ["name"] }, reader);
  const opening = `Invalid parameter type for agent '${toExcerpt(named?.name ?? "")}'`;
  const read = matterShape.read(head, TOP, reader.within(opening));
  if (read === undefined) return undefined;
  const { source } = reader;
  const { model, maxTurns: turns } = read;
  const settings = new Map<AgentSettingName, Setting>();
  if (model !== undefined && model.value.trim() !== "inherit")
    settings.set("model", { value: model.value.trim(), place: source.place(model.at) });
  if (turns !== undefined) settings.set("max_iterations", turns);
  if (body.text !== "") settings.set("system_prompt", { value: body.text, place: source.place(body) });
  const clients = readTools(read.tools, settings, reader);
  const denied = splitNames(read.disallowedTools) ?? { names: [], at: NOTHING_THERE };
  const exclude = mapDenied(
    denied,
    { has: settings.get("tools")?.value ?? [], listed: splitNames(read.tools) },
    reader,
  );
  if (exclude.length > 0) settings.set("exclude", { value: exclude, place: source.place(denied.at) });
  if (named === undefined) return undefined;
  return { ...named, description: read.description?.value, place: source.place(named.at), settings, clients };
}

/** An agent without a list has the tools of all servers, but none of ours. */
function readTools(
  listed: readonly Named[] | undefined,
  settings: Map<AgentSettingName, Setting>,
  { problems, source }: Reader,
): readonly Named[] {
  const written = splitNames(listed);
  if (written === undefined || written.names.includes("*")) return [];
  const { at } = written;
  const { builtIns, servers, allow, unknown, narrowed } = mapClaudeTools(written.names);
  const place = source.place(at);
  const set = (name: AgentSettingName, value: readonly Json[]) => settings.set(name, { value, place });
  set("clients", servers);
  if (allow.length > 0) set("allow", allow);
  if (builtIns.length > 0) set("tools", builtIns);
  for (const name of unknown) {
    if (reportSlip(name, at, problems)) continue;
    const message = `\`${toExcerpt(name)}\` is a tool of Claude's own programs and is left out.`;
    problems.warning({ code: "NOT_SUPPORTED", at, message, remedy: "Nothing to do; the agent runs without it." });
  }
  for (const name of narrowed) {
    const message = `\`${toExcerpt(name)}\` is left out: rules in brackets are not kept.`;
    problems.warning({ code: "NOT_SUPPORTED", at, message, remedy: "Name the tool alone to allow all of it." });
  }
  return servers.map((name) => ({ name, at }));
}

/**
 * What a list `disallowedTools` holds back here: of the built-in tools those that the agent has, and tools of servers. Of a tool that is
 * forbidden in part, `Bash(rm *)`, all is forbidden: rules in brackets are not kept. Who is given files to read alone does not write them.
 */
function mapDenied(
  { names, at }: WrittenNames,
  { has, listed }: { readonly has: Json; readonly listed: WrittenNames | undefined },
  { problems }: Reader,
): readonly string[] {
  const ours = Array.isArray(has) ? has : [];
  const denied = names
    .map((name) => name.replace(/\(.*\)$/s, "").trim())
    .flatMap((name) => {
      if (name === "*") return ["*", ...ours];
      if (name.startsWith("mcp__")) return [/^mcp__.+?__/.test(name) ? name : `${name}__*`];
      const builtIn = BUILT_INS.get(name);
      if (builtIn === undefined) reportSlip(name, at, problems);
      return ours.includes(builtIn ?? "") ? (FILE_TOOLS.get(name) ?? [builtIn]) : [];
    });
  const onlyReads = ours.includes("files") && !listed?.names.some((name) => WRITING.test(name));
  return [...new Set([...denied, ...(onlyReads ? CHANGING : [])])].filter((name) => typeof name === "string");
}

/** A tool of Claude's that Pawl has not is left out; a slip of one that it has is an error. */
function reportSlip(name: string, at: Range, problems: ProblemList): boolean {
  const remedy = isMisspelt(name, BUILT_INS.keys()) ? suggest(name, BUILT_INS.keys()) : undefined;
  if (remedy === undefined) return false;
  problems.slip({ code: "VALUE_INVALID", at, message: `There is no tool \`${toExcerpt(name)}\`.`, remedy });
  return true;
}

interface WrittenNames {
  readonly names: readonly string[];
  readonly at: Range;
}

/** A list, or one text with commas. */
function splitNames(names: readonly Named[] | undefined): WrittenNames | undefined {
  const [first] = names ?? [];
  if (names === undefined || first === undefined)
    return names === undefined ? undefined : { names: [], at: NOTHING_THERE };
  // Not inside of brackets: `Bash(git add, git commit)` is one.
  const split = names.flatMap(({ name }) => name.split(/,(?![^(]*\))/).map((part) => part.trim()));
  return {
    names: split.filter((part) => part !== ""),
    at: { start: first.at.start, end: names.at(-1)?.at.end ?? first.at.end },
  };
}

/** Tools of Claude that a built-in tool of ours stands for. */
const BUILT_INS: ReadonlyMap<string, string> = new Map([
  ["WebFetch", "web_fetch"],
  ["WebSearch", "web_search"],
  ["Bash", "bash"],
  ["Read", "files"],
  ["Write", "files"],
  ["Edit", "files"],
  ["MultiEdit", "files"],
  ["Glob", "files"],
  ["Grep", "files"],
  ["LS", "files"],
]);

const WRITING = /^(Write|Edit|MultiEdit)$/;
const CHANGING = ["write_file", "delete_file"];

/** Those of the built-in tool `files` that a tool of Claude stands for. */
const FILE_TOOLS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ["Write", CHANGING],
  ["Edit", CHANGING],
  ["MultiEdit", CHANGING],
  ["Read", ["read_file"]],
  ["Grep", ["read_file"]],
  ["Glob", ["list_files"]],
  ["LS", ["list_files"]],
]);

/** The meaning of a list `tools` of a Claude agent here. */
function mapClaudeTools(written: readonly string[]) {
  const builtIns = new Set<string>();
  /** MCP servers of which it names a tool, or all. */
  const servers = new Set<string>();
  /** The tools that it may call of them: `mcp__server__tool`, or `server.*`. */
  const allow = new Set<string>();
  const unknown: string[] = [];
  /** With a rule in brackets, such as `Bash(git *)`: without the rule they would allow more than was meant. */
  const narrowed: string[] = [];
  for (const each of written) {
    const name = each.replace(/\(.*\)$/s, "").trim();
    if (name !== each.trim()) {
      narrowed.push(each);
      continue;
    }
    const builtIn = BUILT_INS.get(name);
    const [, server, tool] = /^mcp__(.+?)(?:__(.+))?$/.exec(name) ?? [];
    if (builtIn !== undefined) builtIns.add(builtIn);
    else if (server === undefined) unknown.push(name);
    else {
      servers.add(server);
      allow.add(tool === undefined || tool === "*" ? `${server}.*` : name);
    }
  }
  return { builtIns: [...builtIns], servers: [...servers], allow: [...allow], unknown, narrowed };
}

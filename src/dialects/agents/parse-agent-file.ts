import type { Problem } from "../../core/errors/problem.ts";
import type { Json } from "../../core/json.ts";
import type { Definition } from "../definition.ts";
import { ProblemList } from "../problem-list.ts";
import { toExcerpt } from "../source/printable.ts";
import { reportWrongEncoding } from "../source/report-wrong-encoding.ts";
import { type Range, SourceText } from "../source/source-text.ts";
import type { AgentDefinition, AgentSettingName, Named, Setting } from "./agents-file.ts";
import { mapClaudeTools } from "./claude-tools.ts";
import { readName } from "./component-name.ts";
import { type FrontMatter, readFrontMatter } from "./front-matter.ts";
import { LooseReader } from "./loose-reader.ts";
import type { ParseContext } from "./parse-context.ts";

/** An agent in a Markdown file, as `.claude/agents/*.md` are. */
export interface AgentFile {
  readonly file: string;
  /** What it says, else the name of the file. */
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
  const source = new SourceText(definition);
  const problems = new ProblemList(source);
  const context: ParseContext = { source, problems, schemas: [] };
  const agent = text.length > MAX_CHARS ? reportSize(problems) : parse(definition, context, isAmongOthers);
  const name = agent?.name ?? stemOf(file);
  const isUsable = agent !== undefined && !problems.hasErrors;
  return { file, name, ...(isUsable ? { agent } : {}), problems: problems.toArray() };
}

function reportSize(problems: ProblemList): undefined {
  problems.error({ code: "TOO_LARGE", at: NOTHING_THERE, message: "The file is larger than 1 MB." });
}

function stemOf(file: string): string {
  return file.replace(/^.*[\\/]/, "").replace(/\.md$/, "");
}

function parse(definition: Definition, context: ParseContext, isAmongOthers: boolean): AgentDefinition | undefined {
  const { problems, source } = context;
  reportWrongEncoding(source, problems);
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
  return toAgent(matter, context);
}

function reportLoose({ head }: FrontMatter, problems: ProblemList): void {
  const message = "The settings are no YAML; they were read line by line.";
  problems.warning({ code: "YAML_SYNTAX", at: { start: head.start, end: head.start + 1 }, message });
}

function toAgent({ head, body }: FrontMatter, context: ParseContext): AgentDefinition | undefined {
  const named = readName({ kind: "agent", map: head }, { what: "Agent", keys: ["name"] }, context);
  const reader = new LooseReader(head, `agent '${toExcerpt(named?.name ?? "")}'`, context);
  // What concerns Claude's own programs and screens.
  reader.keys.ignore("name", "color", "permissionMode");
  const settings = new Map<AgentSettingName, Setting>();
  const description = reader.text("description")?.value;
  const model = reader.text("model");
  if (model !== undefined && model.value.trim() !== "inherit") {
    settings.set("model", reader.setting(model.value.trim(), model.at));
  }
  const turns = reader.number("maxTurns", { min: 1, max: 10_000, integer: true });
  if (turns !== undefined) settings.set("max_iterations", turns);
  if (body.text !== "") settings.set("system_prompt", { value: body.text, place: reader.place(body) });
  const clients = readTools(reader, settings, context);
  const denied = readDenied(reader);
  if (denied !== undefined) settings.set("exclude", denied);
  reader.keys.reportUnknownKeys("an agent of `.claude/agents`");
  if (named === undefined) return undefined;
  return { ...named, description, place: reader.place(named.at), settings, clients };
}

/** Where nothing is listed an agent has the tools of all servers, but none of ours. */
function readTools(
  reader: LooseReader,
  settings: Map<AgentSettingName, Setting>,
  { problems }: ParseContext,
): readonly Named[] {
  const written = splitNames(reader.names("tools"));
  if (written === undefined || written.names.includes("*")) return [];
  const { at } = written;
  const { builtIns, servers, allow, unknown, narrowed } = mapClaudeTools(written.names);
  const place = reader.place(at);
  const set = (name: AgentSettingName, value: readonly Json[]) => settings.set(name, { value, place });
  set("clients", servers);
  if (allow.length > 0) set("allow", allow);
  if (builtIns.length > 0) set("tools", builtIns);
  for (const name of unknown) {
    const message = `\`${toExcerpt(name)}\` is a tool of Claude's own programs and is left out.`;
    problems.warning({ code: "NOT_SUPPORTED", at, message, remedy: "Nothing to do; the agent runs without it." });
  }
  for (const name of narrowed) {
    const message = `\`${toExcerpt(name)}\` is left out: rules in brackets are not kept.`;
    problems.warning({ code: "NOT_SUPPORTED", at, message, remedy: "Name the tool alone to allow all of it." });
  }
  return servers.map((name) => ({ name, at }));
}

function readDenied(reader: LooseReader): Setting | undefined {
  const denied = splitNames(reader.names("disallowedTools"));
  return denied === undefined ? undefined : { value: denied.names, place: reader.place(denied.at) };
}

/** A list, or one text with commas. */
function splitNames(names: readonly Named[] | undefined): { names: readonly string[]; at: Range } | undefined {
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

import type { ErrorCode } from "../../../core/errors/error-table.ts";
import type { JsonObject } from "../../../core/json.ts";
import { remedyFor } from "../../../core/trust/check-grant.ts";
import { allows, grantOf, reachOf } from "../../../core/trust/grant.ts";
import type { Failed, Task } from "../../../ports/executor.ts";
import type {
  AgentTool,
  AgentToolbox,
  MissingServer,
  ServerInstructions,
  ToolboxOffer,
} from "../../../ports/tools/agent-toolbox.ts";
import type { BuiltInTools } from "../../../ports/tools/built-in-tools.ts";
import { fits } from "../../mcp-servers/server-entry.ts";
import { BUILT_INS, isBuiltIn } from "../../models/built-ins.ts";
import type { Model } from "../../models/create-models.ts";
import { mostTools } from "../../models/fit-tools.ts";
import type { ModelTool } from "../../models/language-model.ts";
import { toRefused } from "../../output/failure.ts";
import { describeUnmatched, nearestName } from "../../output/near-names.ts";
import { type AgentRequest, readAgentRequest } from "./agent-request.ts";
import { type NamedTool, namesTool } from "./tool-names.ts";

export interface GatheredTools {
  readonly tools: readonly AgentTool[];
  /** Tools of the provider's own. */
  readonly providers: readonly ModelTool[];
  /** Tools that were asked for and are missing. */
  readonly notes: readonly string[];
  /** Of the servers whose tools are among them. */
  readonly instructions: readonly ServerInstructions[];
}

export interface ToolSources {
  toolbox(): Promise<Pick<AgentToolbox, "offer" | "endRun">>;
  builtIns(): Promise<BuiltInTools>;
}

const WEB_SEARCH = "web_search";
/** It says which server's it is. */
const QUALIFIED_TOOL = /[./]|^mcp__/;
const QUALIFIED = /^[A-Za-z0-9_-]{1,64}$/;

/** Gathers the tools that are both shown and callable. Opens no server that was not asked for. */
export async function gatherTools(
  { request, task, model, sources }: { request: AgentRequest; task: Task; model: Model; sources: ToolSources },
  signal: AbortSignal,
): Promise<GatheredTools | Failed> {
  const notes: string[] = [];
  const isExcluded = (name: string) => request.exclude.some((pattern) => fits(pattern, name));
  const asked = request.builtIns.filter((name) => !isExcluded(name));
  const names = asked.filter((name) => name !== WEB_SEARCH);
  if (names.includes("bash") && !allows(grantOf(task.settings), "code", "sandbox"))
    return toRefused("NOT_GRANTED", `The agent has the tool \`bash\`. ${remedyFor("code", "sandbox")}`);
  const offered = names.length === 0 ? [] : await offerBuiltIns(request, { names, task, sources }, signal);
  if (names.length > 0 && offered.length === 0)
    notes.push(`Built-in tools that were asked for are not there: ${names.join(", ")}.`);
  const builtIn = offered.filter(({ name }) => !isExcluded(name));
  const offer = await offerServed(request, { task, sources }, signal);
  const required = findRequired(request, offer);
  if (required !== undefined) return toUnequipped(request, required);
  notes.push(...offer.missing.map(({ failed }) => failed.message), ...offer.warnings);
  const { idle, unmatched } = holdToRules(request, [...offered, ...offer.tools], offer);
  if (idle[0] !== undefined) return toRefused("TOOL_GUARD_IDLE", idle[0]);
  notes.push(...unmatched);
  const allowed = offer.tools.filter((tool) => request.allow === undefined || namesTool(request.allow, tool));
  const tools = [...builtIn, ...withoutClashes(allowed, builtIn)];
  const providers = asked.includes(WEB_SEARCH) ? findWebSearch(model, notes) : [];
  const most = mostTools(model);
  if (tools.length + providers.length > most) return toTooMany(request, tools, { model, most });
  const instructions = (offer.instructions ?? []).filter(({ server }) =>
    allowed.some((tool) => tool.server === server),
  );
  return { tools, providers, notes, instructions };
}

/** The provider would refuse the request. Which tools the agent can do without is not for us to guess. */
function toTooMany(
  { name }: AgentRequest,
  tools: readonly AgentTool[],
  { model, most }: { readonly model: Model; readonly most: number },
): Failed {
  const servers = Map.groupBy(tools, ({ server }) => server ?? "built in");
  const counts = [...servers].map(([server, its]) => `${server} ${its.length}`).join(", ");
  const message = `The agent "${name}" has ${tools.length} tools (${counts}), and ${model.id} takes ${most} at most.`;
  return toRefused("AGENT_TOOLS_TOO_MANY", message, { tools: tools.length, most });
}

/** The server that the agent needs: one that it names, or any if all are gone. A tool without a server's name may be another agent's. */
function findRequired({ allow, clients }: AgentRequest, { missing, tools }: ToolboxOffer): MissingServer | undefined {
  const needed = missing.filter(({ isOptional }) => !isOptional);
  if (allow !== undefined) return needed.find(({ server }) => allow.some((name) => name.startsWith(`${server}.`)));
  return clients !== undefined || tools.length === 0 ? needed[0] : undefined;
}

/** An agent without its tools would make its answer up. */
function toUnequipped({ name }: AgentRequest, { server, failed }: MissingServer): Failed {
  const advice = `Where the agent can do without it, say \`required: false\` in the entry of "${server}".`;
  return { ...failed, message: `The agent "${name}" needs the MCP server "${server}". ${failed.message} ${advice}` };
}

/**
 * Names of the agent that match no tool: `idle` those that were to hold one back, since the server may have another name for it by
 * now; `unmatched` those that were to allow one.
 */
function holdToRules(
  { name, approve, allow = [], builtIns }: AgentRequest,
  tools: readonly NamedTool[],
  { idle, missing }: Pick<ToolboxOffer, "idle" | "missing">,
): { readonly idle: readonly string[]; readonly unmatched: readonly string[] } {
  const of = `the agent "${name}"`;
  const known = (each: string) =>
    tools.map(({ name, server, tool }) => (each.includes(".") && server !== undefined ? `${server}.${tool}` : name));
  const describe = (key: string, names: readonly string[], matches: (name: string) => boolean) =>
    describeUnmatched(names, {
      key,
      of,
      known,
      matches: (each) => matches(each) || mayBeMissing(each, missing, known(each)),
    });
  const isThere = (each: string) => tools.some((tool) => namesTool([each], tool));
  const ours = [...builtIns, ...tools.filter(({ server }) => server === undefined).map((tool) => tool.name)];
  const isOurs = (pattern: string) => ours.some((each) => fits(pattern, each));
  // An agent without tools has none that could be called unasked.
  const hasTools = tools.length > 0 || builtIns.length > 0;
  return {
    idle: hasTools ? [...describe("approve", approve, isThere), ...describe("exclude", idle, isOurs)] : [],
    unmatched: describe("allow", allow, isThere),
  };
}

/** The same before a run, of an agent as a definition describes it. Undefined also where that is not known until `signal` aborts. */
export async function findAgentToolProblem(
  agent: JsonObject,
  { settings, tenantId, toolbox }: Pick<Task, "settings" | "tenantId"> & Pick<ToolSources, "toolbox">,
  signal: AbortSignal,
): Promise<{ readonly code: ErrorCode; readonly message: string } | undefined> {
  const described = readAgentRequest({ agent }, "");
  // The tools of the built-in `files` have names of their own, which are known when they are offered.
  const isKnown = (name: string) => QUALIFIED_TOOL.test(name) || !described.builtIns.includes("files");
  const { approve, exclude, allow } = described;
  const request = { ...described, approve: approve.filter(isKnown), exclude: exclude.filter(isKnown) };
  if (request.approve.length + request.exclude.length + (allow?.length ?? 0) === 0) return undefined;
  const task = { settings, tenantId, reach: reachOf(grantOf(settings)) };
  try {
    const offer = await offerServed(request, { task, sources: { toolbox } }, signal);
    const ours = described.builtIns.filter((name) => name !== WEB_SEARCH);
    const builtIns = ours.map((name) => ({ name, tool: name, aliases: [] }));
    const { idle, unmatched } = holdToRules(request, [...builtIns, ...offer.tools], offer);
    if (idle[0] !== undefined) return { code: "TOOL_GUARD_IDLE", message: idle[0] };
    return unmatched[0] === undefined ? undefined : { code: "MCP_TOOL_UNKNOWN", message: unmatched[0] };
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** A tool of a server that is not there cannot be called. A name without a server may be one of its, unless it is a slip. */
function mayBeMissing(name: string, missing: readonly MissingServer[], known: readonly string[]): boolean {
  if (QUALIFIED_TOOL.test(name))
    return missing.some(({ server }) =>
      [`${server}.`, `${server}/`, `mcp__${server}__`].some((at) => name.startsWith(at)),
    );
  return missing.length > 0 && nearestName(name, known) === undefined;
}

interface Asking {
  readonly task: Task;
  readonly sources: ToolSources;
}

interface Offering {
  readonly task: Pick<Task, "settings" | "reach" | "tenantId">;
  readonly sources: Pick<ToolSources, "toolbox">;
}

async function offerBuiltIns(
  { files }: AgentRequest,
  { names, task, sources }: Asking & { readonly names: readonly string[] },
  signal: AbortSignal,
): Promise<readonly AgentTool[]> {
  const { runId, path } = task;
  return await (await sources.builtIns()).offer({ names, runId, path, files }, signal);
}

async function offerServed(
  { clients, exclude, allow }: AgentRequest,
  { task, sources }: Offering,
  signal: AbortSignal,
): Promise<ToolboxOffer> {
  const ofBuiltIns = exclude.filter((name) => !QUALIFIED_TOOL.test(name));
  if (clients?.length === 0 || allow?.length === 0) return { tools: [], missing: [], idle: ofBuiltIns, warnings: [] };
  const { mcp_servers: servers, folder: named } = task.settings;
  const folder = typeof named === "string" ? named : undefined;
  const toolbox = await sources.toolbox();
  return await toolbox.offer(
    {
      servers: servers as JsonObject | undefined,
      folder,
      grant: grantOf(task.settings),
      reach: task.reach,
      tenantId: task.tenantId,
      clients,
      exclude,
    },
    signal,
  );
}

/** A built-in tool keeps its name; a server's tool of the same name is there under its qualified one. */
function withoutClashes(served: readonly AgentTool[], builtIn: readonly AgentTool[]): readonly AgentTool[] {
  const taken = new Set(builtIn.map(({ name }) => name));
  return served.flatMap((tool) => {
    if (!taken.has(tool.name)) return [tool];
    const other = tool.aliases.find((alias) => QUALIFIED.test(alias) && !served.some(({ name }) => name === alias));
    return other === undefined ? [] : [{ ...tool, name: other, call: tool.call.bind(tool) }];
  });
}

function findWebSearch(model: Model, notes: string[]): readonly ModelTool[] {
  const search = isBuiltIn(model.kind) ? BUILT_INS[model.kind].webSearch : undefined;
  if (search === undefined) notes.push(`The provider of ${model.id} has no web search.`);
  return search === undefined ? [] : [search];
}

import type { JsonObject } from "../../../core/json.ts";
import { remedyFor } from "../../../core/trust/check-grant.ts";
import { allows, grantOf } from "../../../core/trust/grant.ts";
import type { Failed, Task } from "../../../ports/executor.ts";
import type { AgentTool, AgentToolbox, MissingServer, ToolboxOffer } from "../../../ports/tools/agent-toolbox.ts";
import type { BuiltInTools } from "../../../ports/tools/built-in-tools.ts";
import { BUILT_INS, isBuiltIn } from "../../models/built-ins.ts";
import type { Model } from "../../models/create-models.ts";
import { mostTools } from "../../models/fit-tools.ts";
import type { ModelTool } from "../../models/language-model.ts";
import { toRefused } from "../../output/failure.ts";
import { describeKnown } from "../../output/near-names.ts";
import type { AgentRequest } from "./agent-request.ts";
import { namesTool } from "./tool-names.ts";

/** The tools of an agent. */
export interface GatheredTools {
  readonly tools: readonly AgentTool[];
  /** Tools of the provider's own. */
  readonly providers: readonly ModelTool[];
  /** Tools that were asked for and are missing. */
  readonly notes: readonly string[];
}

export interface ToolSources {
  toolbox(): Promise<Pick<AgentToolbox, "offer">>;
  builtIns(): Promise<BuiltInTools>;
}

const WEB_SEARCH = "web_search";
const QUALIFIED = /^[A-Za-z0-9_-]{1,64}$/;

/** Gathers the tools that are both shown and callable. Opens no server that was not asked for. */
export async function gatherTools(
  { request, task, model, sources }: { request: AgentRequest; task: Task; model: Model; sources: ToolSources },
  signal: AbortSignal,
): Promise<GatheredTools | Failed> {
  const notes: string[] = [];
  const names = request.builtIns.filter((name) => name !== WEB_SEARCH);
  if (names.includes("bash") && !allows(grantOf(task.settings), "code", "sandbox"))
    return toRefused("NOT_GRANTED", `The agent has the tool \`bash\`. ${remedyFor("code", "sandbox")}`);
  const builtIn = names.length === 0 ? [] : await offerBuiltIns(request, { names, task, sources }, signal);
  if (names.length > 0 && builtIn.length === 0)
    notes.push(`Built-in tools that were asked for are not there: ${names.join(", ")}.`);
  const offer = await offerServed(request, { task, sources }, signal);
  const required = findRequired(request, offer);
  if (required !== undefined) return toUnequipped(request, required);
  notes.push(...offer.missing.map(({ failed }) => failed.message), ...offer.warnings);
  const served = offer.tools;
  const allowed = served.filter((tool) => request.allow === undefined || namesTool(request.allow, tool));
  const known = served.map((tool) => tool.name);
  const unmatched = (names: readonly string[]) =>
    names.filter((name) => ![...builtIn, ...served].some((tool) => namesTool([name], tool)));
  const idle = [...unmatched(request.approve), ...offer.idle].filter((name) => !mayBeMissing(name, offer.missing));
  if (idle[0] !== undefined && builtIn.length + served.length > 0) return toIdle(request, idle[0], known);
  for (const name of unmatched(request.allow ?? []))
    notes.push(`No tool \`${name}\` is there. ${describeKnown(name, known)}`);
  const tools = [...builtIn, ...withoutClashes(allowed, builtIn)];
  const providers = request.builtIns.includes(WEB_SEARCH) ? findWebSearch(model, notes) : [];
  const most = mostTools(model);
  if (tools.length + providers.length > most) return toTooMany(request, tools, { model, most });
  return { tools, providers, notes };
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

/** A tool of a server that is not there cannot be called. A name without a server may be one of its. */
function mayBeMissing(name: string, missing: readonly MissingServer[]): boolean {
  return missing.some(({ server }) => !name.includes(".") || name.startsWith(`${server}.`));
}

/** The server may have another name for the tool by now, under which it would be called without a yes. */
function toIdle({ name, approve }: AgentRequest, guard: string, known: readonly string[]): Failed {
  const key = approve.includes(guard) ? "approve" : "exclude";
  const message = `\`${guard}\` under \`${key}\` matches no tool of the agent "${name}". ${describeKnown(guard, known)}`;
  return toRefused("TOOL_GUARD_IDLE", message);
}

interface Asking {
  readonly task: Task;
  readonly sources: ToolSources;
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
  { task, sources }: Asking,
  signal: AbortSignal,
): Promise<ToolboxOffer> {
  if (clients?.length === 0 || allow?.length === 0) return { tools: [], missing: [], idle: [], warnings: [] };
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

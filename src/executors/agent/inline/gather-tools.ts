import type { JsonObject } from "../../../core/json.ts";
import type { Task } from "../../../ports/executor.ts";
import type { AgentTool, AgentToolbox } from "../../../ports/tools/agent-toolbox.ts";
import type { BuiltInTools } from "../../../ports/tools/built-in-tools.ts";
import { BUILT_INS, isBuiltIn } from "../../models/built-ins.ts";
import type { Model } from "../../models/create-models.ts";
import type { ModelTool } from "../../models/language-model.ts";
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
): Promise<GatheredTools> {
  const notes: string[] = [];
  const builtIn = await offerBuiltIns(request, { task, sources, notes }, signal);
  const served = await offerServed(request, { task, sources, notes }, signal);
  const allowed = served.filter((tool) => request.allow === undefined || namesTool(request.allow, tool));
  for (const name of unknownNames(request, served, builtIn))
    notes.push(
      `No tool \`${name}\` is there. ${describeKnown(
        name,
        served.map((tool) => tool.name),
      )}`,
    );
  return {
    tools: [...builtIn, ...withoutClashes(allowed, builtIn)],
    providers: request.builtIns.includes(WEB_SEARCH) ? findWebSearch(model, notes) : [],
    notes,
  };
}

async function offerBuiltIns(
  { builtIns, files }: AgentRequest,
  { task, sources, notes }: { task: Task; sources: ToolSources; notes: string[] },
  signal: AbortSignal,
): Promise<readonly AgentTool[]> {
  const names = builtIns.filter((name) => name !== WEB_SEARCH);
  if (names.length === 0) return [];
  const { runId, path } = task;
  const wanted = { names, runId, path, files };
  const offered = await (await sources.builtIns()).offer(wanted, signal);
  if (offered.length === 0) notes.push(`Built-in tools that were asked for are not there: ${names.join(", ")}.`);
  return offered;
}

async function offerServed(
  { clients, exclude, allow }: AgentRequest,
  { task, sources, notes }: { task: Task; sources: ToolSources; notes: string[] },
  signal: AbortSignal,
): Promise<readonly AgentTool[]> {
  if (clients?.length === 0 || allow?.length === 0) return [];
  const { mcp_servers: servers, folder } = task.settings;
  const toolbox = await sources.toolbox();
  const offer = await toolbox.offer(
    {
      servers: servers as JsonObject | undefined,
      folder: typeof folder === "string" ? folder : undefined,
      clients,
      exclude,
    },
    signal,
  );
  notes.push(...offer.missing.map(({ reason }) => reason), ...offer.warnings);
  return offer.tools;
}

function unknownNames(
  { allow = [], approve }: AgentRequest,
  served: readonly AgentTool[],
  builtIn: readonly AgentTool[],
) {
  const known = [...builtIn, ...served];
  return [...new Set([...allow, ...approve])].filter((name) => !known.some((tool) => namesTool([name], tool)));
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

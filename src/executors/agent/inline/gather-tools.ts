import type { JsonObject } from "../../../core/json.ts";
import type { AgentTool, AgentToolbox } from "../../../ports/agent-toolbox.ts";
import type { BuiltInTools } from "../../../ports/built-in-tools.ts";
import type { Task } from "../../../ports/executor.ts";
import type { Model } from "../../models/create-models.ts";
import type { ModelTool } from "../../models/language-model.ts";
import { describeKnown } from "../../output/near-names.ts";
import type { AgentRequest } from "./agent-request.ts";
import { namesTool } from "./tool-names.ts";
import { toWebSearch } from "./web-search.ts";

/** What an agent can call, and what its model is told of it. */
export interface GatheredTools {
  readonly tools: readonly AgentTool[];
  /** Tools of the provider's own. */
  readonly providers: readonly ModelTool[];
  /** What is not there, though it was asked for. */
  readonly notes: readonly string[];
}

export interface ToolSources {
  toolbox(): Promise<Pick<AgentToolbox, "offer">>;
  builtIns(): Promise<BuiltInTools>;
}

const WEB_SEARCH = "web_search";
const QUALIFIED = /^[A-Za-z0-9_-]{1,64}$/;

/** What is shown is what may be called: both are filtered here, once. Nothing is opened that nobody has asked for. */
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
      ...(servers === undefined ? {} : { servers: servers as JsonObject }),
      ...(typeof folder === "string" ? { folder } : {}),
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
  const search = toWebSearch(model.kind);
  if (search === undefined) notes.push(`The provider of ${model.id} has no web search.`);
  return search === undefined ? [] : [search];
}

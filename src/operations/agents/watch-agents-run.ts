import type { Graph } from "../../core/graph/graph.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { RunNotice } from "../../hosts/run-host.ts";
import { type AgentsStep, agentsStepAt, agentsStepsOf } from "./agents-steps.ts";

/** Something that happened in a run of agents, for whoever listens while it lasts. */
export interface AgentsNews {
  readonly event: "step" | "text" | "tool_call" | "tool_result";
  readonly data: JsonObject;
}

/** Turns what a host says about a run into news of its steps, as its author counts them. */
export function watchAgentsRun(graph: Graph, tell: (news: AgentsNews) => void): (notice: RunNotice) => void {
  const steps = agentsStepsOf(graph);
  // Paths of agents whose turn came word by word; what others say comes with the log of their turn.
  const streaming = new Set<string>();
  return (notice) => {
    const path = pathOf(notice);
    const step = path === undefined ? undefined : agentsStepAt(steps, path);
    if (step === undefined || path === undefined) return;
    const news = isProgress(notice) ? progressNews(step, notice, streaming) : eventNews(step, path, notice);
    for (const each of news) tell(each);
  };
}

function pathOf(notice: RunNotice): string | undefined {
  if (notice.type === "dispatched" || isProgress(notice)) return notice.path;
  return notice.type === "event" && "path" in notice.event ? notice.event.path : undefined;
}

function eventNews(step: AgentsStep, path: string, notice: RunNotice): readonly AgentsNews[] {
  const status = statusOf(notice);
  // The path tells apart steps of workflows that are steps themselves.
  return status === undefined ? [] : [news("step", step, path.includes("/") ? { path, status } : { status })];
}

function statusOf(notice: RunNotice): string | undefined {
  if (notice.type === "dispatched") return "running";
  if (notice.type !== "event") return undefined;
  switch (notice.event.type) {
    case "callResolved":
      return "running";
    case "stepSucceeded":
      return "completed";
    case "stepFailed":
      return "failed";
    case "approvalAsked":
      return "awaiting_approval";
    default:
      return undefined;
  }
}

type ProgressNotice = Extract<RunNotice, { readonly type: "progress" | "live" }>;

function isProgress(notice: RunNotice): notice is ProgressNotice {
  return notice.type === "progress" || notice.type === "live";
}

/** An agent's own log, in which its turns and the results of its tools stand, and its text as it comes. */
function progressNews(
  step: AgentsStep,
  { type: kind, path, event }: ProgressNotice,
  streaming: Set<string>,
): readonly AgentsNews[] {
  if (!isJsonObject(event)) return [];
  const { type, text, message } = event;
  if (kind === "live") {
    // Other events have texts too: the result of a tool is nobody's words.
    if (type !== "text" || typeof text !== "string") return [];
    streaming.add(path);
    return [news("text", step, { text })];
  }
  const blocks = isJsonObject(message) && Array.isArray(message["content"]) ? message["content"] : [];
  const hasStreamed = type === "assistant" && streaming.delete(path);
  return blocks.filter(isJsonObject).flatMap((block) => {
    return hasStreamed && block["type"] === "text" ? [] : blockNews(step, block);
  });
}

function blockNews(step: AgentsStep, block: JsonObject): readonly AgentsNews[] {
  const { type, id = null, name = null, input = null, tool_use_id = null, content = null, is_error = false } = block;
  switch (type) {
    case "text":
      return [news("text", step, { text: block["text"] ?? "" })];
    case "tool_use":
      return [news("tool_call", step, { id, tool: name, input })];
    case "tool_result":
      return [news("tool_result", step, { id: tool_use_id, output: content, is_error })];
    default:
      return [];
  }
}

function news(event: AgentsNews["event"], { number, name }: AgentsStep, data: JsonObject): AgentsNews {
  return { event, data: { step: number, name, ...data } };
}

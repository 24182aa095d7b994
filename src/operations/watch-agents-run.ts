import type { Graph } from "../core/graph/graph.ts";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { RunNotice } from "../hosts/run-host.ts";
import { type AgentsStep, agentsStepAt, agentsStepsOf } from "./agents-steps.ts";

/** Something that happened in a run of agents, for whoever listens while it lasts. */
export interface AgentsNews {
  readonly event: "step" | "text" | "tool_call" | "tool_result";
  readonly data: JsonObject;
}

/** Turns what a host says about a run into news of its steps, as its author counts them. */
export function watchAgentsRun(graph: Graph, tell: (news: AgentsNews) => void): (notice: RunNotice) => void {
  const steps = agentsStepsOf(graph);
  // A step is handed out before it is told of the event that caused it: its news wait until that one has been told.
  let begun: AgentsNews[] = [];
  const tellBegun = () => {
    for (const news of begun) tell(news);
    begun = [];
  };
  return (notice) => {
    const path = pathOf(notice);
    const step = path === undefined ? undefined : agentsStepAt(steps, path);
    if (notice.type === "dispatched") {
      if (step !== undefined && path !== undefined) begun.push(stepNews(step, path, "running"));
      return;
    }
    if (notice.type === "progress") tellBegun();
    if (step !== undefined && path !== undefined) for (const news of newsOf(step, path, notice)) tell(news);
    if (!isAside(notice)) tellBegun();
  };
}

/** Stands in front of the outcome that it comes with. */
function isAside(notice: RunNotice): boolean {
  return notice.type === "event" && (notice.event.type === "stepLogged" || notice.event.type === "costReported");
}

function pathOf(notice: RunNotice): string | undefined {
  if (notice.type === "dispatched" || notice.type === "progress") return notice.path;
  return notice.type === "event" && "path" in notice.event ? notice.event.path : undefined;
}

function newsOf(step: AgentsStep, path: string, notice: RunNotice): readonly AgentsNews[] {
  if (notice.type === "progress") return progressNews(step, notice.event);
  const status = statusOf(notice);
  return status === undefined ? [] : [stepNews(step, path, status)];
}

function statusOf(notice: RunNotice): string | undefined {
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

/** An agent's own log, in which its turns and the results of its tools stand, and the text as it comes. */
function progressNews(step: AgentsStep, progress: Json): readonly AgentsNews[] {
  if (!isJsonObject(progress)) return [];
  const { type, text, message } = progress;
  if (type === "text" && typeof text === "string") return [news("text", step, { text })];
  const blocks = isJsonObject(message) && Array.isArray(message["content"]) ? message["content"] : [];
  return blocks.filter(isJsonObject).flatMap((block) => blockNews(step, block));
}

function blockNews(step: AgentsStep, block: JsonObject): readonly AgentsNews[] {
  const { type, id = null, name = null, input = null, tool_use_id = null, content = null, is_error = false } = block;
  if (type === "tool_use") return [news("tool_call", step, { id, tool: name, input })];
  return type === "tool_result" ? [news("tool_result", step, { id: tool_use_id, output: content, is_error })] : [];
}

/** Of a step inside a workflow that is a step itself the path says which it is. */
function stepNews(step: AgentsStep, path: string, status: string): AgentsNews {
  return news("step", step, path.includes("/") ? { path, status } : { status });
}

function news(event: AgentsNews["event"], { number, name }: AgentsStep, data: JsonObject): AgentsNews {
  return { event, data: { step: number, name, ...data } };
}

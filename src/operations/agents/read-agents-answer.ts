import { toText } from "../../core/expressions/to-text.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { RunRecord } from "../../ports/journal.ts";
import { type RunReading, type RunSources, readHandles } from "../runs/describe/describe-run-reading.ts";
import { describeStep } from "../runs/describe/describe-step.ts";
import { type StepEntry, StepTree } from "../runs/describe/step-tree.ts";
import { type RunResult, readRunResult } from "../runs/read-run-result.ts";
import type { StepStatus } from "../runs/run-schemas.ts";
import { type AgentsStep, agentsStepsOf } from "./agents-steps.ts";

/** The answer of `POST /workflows/{workflow_name}/execute`. */
export interface WorkflowAnswer {
  readonly workflow_name: string;
  readonly status: "completed" | "completed_empty" | "failed";
  readonly final_message: string | null;
  readonly error: string | null;
  readonly run_id: string;
  readonly steps: readonly AnsweredStep[];
}

interface AnsweredStep {
  /** From 1. */
  readonly step: number;
  readonly name: string;
  readonly type: AgentsStep["type"];
  readonly status: StepStatus;
  /** The message that the next step was given. */
  readonly message: string | null;
  readonly error: string | null;
  /** The tools that the agent has used. */
  readonly tool_uses: Json;
  /** Null: nobody knows, since its model has no price. */
  readonly cost_usd: number | null;
  readonly duration_seconds: number;
}

/** The answer of `POST /agents/{name}/execute`. */
export interface AgentAnswer {
  readonly conversation: Json;
  readonly final_response: Json;
  readonly tool_uses: Json;
  readonly error?: string;
  readonly run_id: string;
}

interface ReadStep extends AnsweredStep {
  readonly code: string | undefined;
}

/** How the run of a workflow has ended, with what its steps said. `asked`: the message that it began with. */
export async function readWorkflowAnswer(
  sources: RunSources,
  record: RunRecord,
  asked: string,
): Promise<WorkflowAnswer> {
  const result = await readRunResult(sources, record);
  const read = await readSteps(result.reading);
  const steps = read.map(({ code: _, ...step }) => step);
  const common = { workflow_name: record.workflow, run_id: record.id, steps };
  const { outcome } = result;
  if (outcome.is === "completed") return { ...common, ...readOutput(outcome.output, steps), error: null };
  const failed = read.find(({ status }) => status === "failed");
  if (failed === undefined) return { ...common, status: "failed", final_message: null, error: outcome.message };
  const last = read.findLast(({ message, step }) => step < failed.step && message !== null)?.message ?? asked;
  const hasLast = isMissingPart({ type: failed.type, code: failed.code ?? "" });
  return { ...common, status: "failed", final_message: hasLast ? last : null, error: failed.error };
}

export async function readAgentAnswer(sources: RunSources, record: RunRecord): Promise<AgentAnswer> {
  const { outcome }: RunResult = await readRunResult(sources, record);
  const said = outcome.is === "completed" ? outcome.output : outcome.details;
  const { conversation = [], final_response = null, tool_uses = [] } = isJsonObject(said) ? said : {};
  const error = outcome.is === "completed" ? {} : { error: outcome.message };
  return { conversation, final_response, tool_uses, ...error, run_id: record.id };
}

function readOutput(output: Json, steps: readonly AnsweredStep[]): Pick<WorkflowAnswer, "status" | "final_message"> {
  const { final_message: message = null, status } = isJsonObject(output) ? output : {};
  return {
    status: status === "completed_empty" || steps.length === 0 ? "completed_empty" : "completed",
    final_message: typeof message === "string" ? message : null,
  };
}

async function readSteps(reading: RunReading): Promise<readonly ReadStep[]> {
  const { history } = reading;
  const { root } = history.state;
  if (root === undefined) return [];
  const written = agentsStepsOf(root.frame.graph.graph);
  const entries = [...new StepTree(history).entries()].filter(({ path }) => !path.includes("/"));
  const load = await readHandles(
    reading,
    entries.map(({ output }) => output),
  );
  return written.flatMap((step) => {
    const entry = entries.find((each) => each.step.step.id === step.id);
    if (entry === undefined) return [];
    const failure = entry.status === "failed" ? failureOf(entry) : undefined;
    const output = load(entry.output);
    const { cost_usd, duration_seconds } = describeStep(entry);
    return [
      {
        step: step.number,
        name: step.name,
        type: step.type,
        status: entry.status,
        message: messageOf(output),
        error: failure === undefined ? null : explainAgentsFailure(step, failure),
        tool_uses: isJsonObject(output) && Array.isArray(output["tool_uses"]) ? (output["tool_uses"] as Json) : [],
        cost_usd,
        duration_seconds: duration_seconds ?? 0,
        code: failure?.code,
      },
    ];
  });
}

function failureOf({ failure }: StepEntry) {
  return failure ?? { code: "STEP_FAILED", message: "The step has failed." };
}

/** The message is an agent's first text block, the final message of a workflow of agents, or any other output as text. */
function messageOf(output: Json): string | null {
  if (!isJsonObject(output)) return toText(output);
  const { text, final_message: final } = output as JsonObject & { text?: Json; final_message?: Json };
  if (typeof text === "string") return text;
  if (typeof final === "string") return final;
  return "final_response" in output ? null : toText(output);
}

interface StepFailure {
  readonly code: string;
  readonly message: string;
}

/** Why a workflow of agents has failed, in the words of the original host. */
function explainAgentsFailure({ name, number, type }: AgentsStep, { code, message }: StepFailure): string {
  const who = `${type === "agent" ? "Agent" : "Workflow"} '${name}'`;
  if (isMissingPart({ type, code })) return `Configuration error: ${who} (step ${number}) not found in host config.`;
  const step = `${who} (step ${number})`;
  if (code === "AGENT_NO_RESPONSE") return `${step} did not return a final response.`;
  if (code === "AGENT_NO_TEXT") return `${step} response content has no text block.`;
  return `${step} failed: ${message}`;
}

/** A step that names what was there when the workflow was loaded, and is gone. */
function isMissingPart({ type, code }: { readonly type: AgentsStep["type"]; readonly code: string }): boolean {
  return type === "workflow" && (code === "WORKFLOW_NOT_FOUND" || code === "FILE_NOT_FOUND");
}

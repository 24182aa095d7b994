import type { AgentsStep } from "./agents-steps.ts";

interface StepFailure {
  readonly code: string;
  readonly message: string;
}

/** Why a workflow of agents has failed, in the words of the original host. */
export function explainAgentsFailure({ name, number, type }: AgentsStep, { code, message }: StepFailure): string {
  const who = `${type === "agent" ? "Agent" : "Workflow"} '${name}'`;
  if (isMissingPart({ type, code })) return `Configuration error: ${who} (step ${number}) not found in host config.`;
  const step = `${who} (step ${number})`;
  if (code === "AGENT_NO_RESPONSE") return `${step} did not return a final response.`;
  if (code === "AGENT_NO_TEXT") return `${step} response content has no text block.`;
  return `${step} failed: ${message}`;
}

/** A step that names what was there when the workflow was loaded, and is gone. */
export function isMissingPart({ type, code }: { readonly type: AgentsStep["type"]; readonly code: string }): boolean {
  return type === "workflow" && (code === "WORKFLOW_NOT_FOUND" || code === "FILE_NOT_FOUND");
}

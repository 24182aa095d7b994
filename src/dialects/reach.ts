import type { Dialect } from "../core/graph/graph.ts";
import type { Capability } from "../core/trust/grant.ts";
import type { ReadAgent, ReadModel } from "./agents/shape/agent-shape.ts";
import type { ReadServer } from "./agents/shape/server-shape.ts";
import type { ReadStep } from "./sandcastle/shape/step-shape.ts";
import type { ReadWorkflow as SandcastleWorkflow } from "./sandcastle/shape/workflow-shape.ts";
import type { State, TerminalWorkflow } from "./terminal/workflow-shape.ts";
import type { ControlBody, WorkBody } from "./uhlp/shape/step-shape.ts";
import type { ReadCode } from "./uhlp/shape/work-shape.ts";
import type { ReadWorkflow as UhlpWorkflow } from "./uhlp/shape/workflow-shape.ts";

type KeysOf<Read> = Read extends unknown ? Exclude<keyof Read, "at" | "rest"> & string : never;

/** Every key of a dialect, with the capabilities that its value may need. A new key does not compile before it is here. */
type Reach<Read> = Readonly<Record<KeysOf<Read>, readonly Capability[]>>;

function keys<Key extends string>(reach: readonly Capability[], ...names: readonly Key[]) {
  // `fromEntries` forgets the names.
  return Object.fromEntries(names.map((name) => [name, reach])) as Readonly<Record<Key, readonly Capability[]>>;
}

const words = <Key extends string>(...names: readonly Key[]) => keys([], ...names);

const sandcastle: Reach<SandcastleWorkflow | ReadStep> = {
  ...words("name", "description", "schedule", "default_model", "default_max_turns", "default_timeout", "context"),
  ...words("input_schema", "max_cost_usd", "limits", "policies", "id", "depends_on", "parallel_over", "each"),
  ...words("max_concurrent", "timeout", "retry", "fallback", "at_most_once", "autopilot", "slo", "model_pool"),
  ...words("prompt", "model", "max_turns", "output_schema", "approval_config", "duration", "until", "event"),
  ...words("method", "query", "body", "expected_status", "language", "function", "params", "steps"),
  ...words("parameters", "output_format", "strict"),
  ...keys(["dialects"], "dialect"),
  ...keys(["executors", "code", "terminals"], "type"),
  ...keys(["variables", "addresses"], "sandstorm_url", "url", "headers"),
  ...keys(["variables"], "env"),
  ...keys(["variables", "addresses", "storage"], "on_complete"),
  ...keys(["variables", "addresses"], "on_failure", "on_approval"),
  ...keys(["storage"], "csv_output", "report", "pdf_report"),
  ...keys(["workflows"], "sub_workflow"),
  ...keys(["servers", "code"], "tools"),
  ...keys(["servers", "terminals"], "tool", "server"),
  ...keys(["code", "folders"], "script"),
  ...keys(["folders"], "prompt_template"),
  ...keys(["code"], "network"),
};

const uhlp: Reach<UhlpWorkflow | WorkBody | ControlBody | ReadCode> = {
  ...words("name", "description", "workflowId", "version", "startAt", "steps", "maxSteps", "timeout"),
  ...words("inputSchema", "deadLetter", "maxCostUsd", "limits", "transitions", "end", "inputMapping", "params"),
  ...words("outputMapping", "retryPolicy", "atMostOnce", "subtype", "language", "function"),
  ...words("code", "list", "message", "key", "duration", "until", "event", "body", "data", "default", "catch"),
  ...words("resultType", "details", "iteratorVar", "indexVar", "maxConcurrency", "continueOnError", "branches"),
  ...words("itemVar", "routes", "sources", "strategy", "failOnError", "finally"),
  ...keys(["dialects"], "dialect"),
  ...keys(["variables"], "trigger"),
  ...keys(["executors", "code", "terminals"], "type"),
  ...keys(["servers", "terminals", "workflows", "code", "folders"], "target"),
  ...keys(["code", "folders"], "script"),
  ...keys(["code"], "network"),
};

const terminal: Reach<TerminalWorkflow | State> = {
  ...words("$schema", "name", "description", "initial_state", "transitions", "timeout", "on_timeout"),
  ...keys(["dialects"], "dialect"),
  ...keys(["terminals", "executors"], "states"),
  ...keys(["terminals", "executors", "variables", "workflows"], "action"),
};

const agents: Reach<ReadServer | ReadAgent | ReadModel> = {
  ...words("name", "llm_id", "type", "description", "provider", "model", "model_name", "system_prompt"),
  ...words("temperature", "max_tokens", "client_id", "capabilities", "registration_timeout", "timeout"),
  ...words("allow", "approve", "output_schema", "max_cost_usd", "max_iterations", "include_history"),
  ...words("max_total_tokens", "repairs"),
  ...words("routing_weight", "exclude", "required", "start", "protocol", "llm_config_id"),
  ...keys(["commands", "variables"], "server_path", "command", "args", "env", "cwd", "venv"),
  ...keys(["own-servers", "variables", "addresses"], "url", "headers"),
  ...keys(["own-servers", "commands"], "transport_type"),
  ...keys(["variables"], "roots"),
  ...keys(["servers"], "mcp_servers"),
  ...keys(["servers", "code"], "tools"),
};

const REACH: Readonly<Record<Exclude<Dialect, "direct">, Readonly<Record<string, readonly Capability[]>>>> = {
  sandcastle,
  uhlp,
  terminal,
  agents,
};

/** Whether a key of a dialect may need a capability. */
export function mayReach(dialect: Dialect, key: string, capability: Capability): boolean {
  if (dialect === "direct") return false;
  const table = REACH[dialect];
  return Object.hasOwn(table, key) && table[key]?.includes(capability) === true;
}

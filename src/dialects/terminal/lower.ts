import type { Graph } from "../../core/graph/graph.ts";
import type { JsonObject } from "../../core/json.ts";
import type { SourceText } from "../source/source-text.ts";
import { toJson } from "../source/yaml-node.ts";
import { lowerState } from "./lower-state.ts";
import { MAX_RECURSION_DEPTH, tooManyStates } from "./messages.ts";
import { envNameOf, namesIn } from "./placeholders.ts";
import type { NamedState } from "./result-fields.ts";
import { Variables } from "./variables.ts";
import type { State, TerminalWorkflow } from "./workflow-shape.ts";

export const DEFAULT_MAX_STATES = 100;
export const DEFAULT_EXECUTION_TIMEOUT_SECONDS = 1_800;

const DEFAULT_STATE_TIMEOUT_SECONDS = 30;
const DEFAULT_AWAIT_SECONDS = 10;
/** The time that a state leaves to its tool beyond the tool's own time-out. */
const MARGIN_SECONDS = 5;
/** No tool waits longer: for time-outs that only a variable tells. */
const LONGEST_AWAIT_SECONDS = 3_600;

/** Turns a workflow without errors into the graph that runs. */
export function lowerWorkflow(workflow: TerminalWorkflow, source: SourceText, envAllowed: readonly string[]): Graph {
  const states = workflow.states.map(({ name, at, value: state }): NamedState => {
    return { name, at, state, timeoutSeconds: timeoutOf(state) };
  });
  const variables = new Variables(states);
  const used = states.flatMap(({ state }) => [...namesIn(toJson(state.at))]).flatMap((name) => envNameOf(name) ?? []);
  return withMaxStates(
    {
      format: 1,
      dialect: "terminal",
      name: workflow.name,
      ...(workflow.description ? { description: workflow.description } : {}),
      input: { schema: INITIAL_VARIABLES, declared: [], defaults: {} },
      flow: {
        kind: "machine",
        start: workflow.initial_state.value,
        steps: states.map((state) => lowerState(state, variables, source.position(state.at))),
        reported: ["session_id"],
      },
      limits: { maxDepth: MAX_RECURSION_DEPTH, timeoutMs: DEFAULT_EXECUTION_TIMEOUT_SECONDS * 1_000 },
      ending: { deadLetter: false },
      envAllowed: [...new Set(used)].filter((name) => envAllowed.includes(name)),
      settings: {},
    },
    DEFAULT_MAX_STATES,
  );
}

/** The workflow with another limit of states. Any other workflow has limits of its own. */
export function withMaxStates(graph: Graph, maxStates: number): Graph {
  if (graph.dialect !== "terminal" || graph.flow.kind !== "machine") return graph;
  return { ...graph, flow: { ...graph.flow, maxVisits: maxStates, tooManyVisits: tooManyStates(maxStates) } };
}

/** Texts; numbers and truth values from workflows that are not as strict about it stand in texts as they are written. */
const INITIAL_VARIABLES: JsonObject = {
  type: "object",
  additionalProperties: { type: ["string", "number", "boolean"] },
};

function timeoutOf({ action: { tool, params }, timeout }: State): number | undefined {
  if (typeof timeout === "number") return timeout;
  if (tool === "run_workflow") return undefined;
  if (tool !== "await_output" && tool !== "run_command") return DEFAULT_STATE_TIMEOUT_SECONDS;
  return Math.max(DEFAULT_STATE_TIMEOUT_SECONDS, awaitSeconds(params.values) + MARGIN_SECONDS);
}

function awaitSeconds({ timeout = DEFAULT_AWAIT_SECONDS }: JsonObject): number {
  const isGiven = typeof timeout === "number" || (typeof timeout === "string" && timeout.trim() !== "");
  const seconds = isGiven ? Number(timeout) : DEFAULT_AWAIT_SECONDS;
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), LONGEST_AWAIT_SECONDS) : LONGEST_AWAIT_SECONDS;
}

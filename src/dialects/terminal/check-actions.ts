import { isJsonObject } from "../../core/json.ts";
import { suggest } from "../did-you-mean.ts";
import type { ProblemList } from "../problem-list.ts";
import { toExcerpt } from "../source/printable.ts";
import { keyOf } from "../source/yaml-node.ts";
import { SOURCE_MISSING, SOURCE_TWICE } from "./messages.ts";
import { factsOf } from "./tools.ts";
import type { State, TerminalWorkflow } from "./workflow-shape.ts";

/** Parameters that a tool does not know or would miss, and calls that could not be made. */
export function checkActions(workflow: TerminalWorkflow, problems: ProblemList): void {
  for (const { value: state } of workflow.states) {
    checkParams(state.action, problems);
    if (state.action.tool === "run_workflow") checkCall(state.action, workflow.name, problems);
  }
}

type Action = State["action"];

/** Only warnings: whether a call is refused, and what the workflow does about it, shows when it runs. */
function checkParams({ tool, params, at: action }: Action, problems: ProblemList): void {
  const { required, optional } = factsOf(tool);
  const known = [...required, ...optional];
  for (const [name, { key: at }] of params.at.entries) {
    if (known.includes(name)) continue;
    const message = `\`${toExcerpt(name)}\` is no parameter of \`${tool}\`.`;
    problems.warning({ code: "UNKNOWN_KEY", at, message, remedy: suggest(name, known) });
  }
  for (const name of required) {
    if (params.at.entries.has(name)) continue;
    const message = `\`${tool}\` needs \`${name}\`.`;
    problems.warning({ code: "KEY_MISSING", at: keyOf(action, "params"), message, remedy: `Add \`${name}\`.` });
  }
}

function checkCall({ params, at: action }: Action, ownName: string, problems: ProblemList): void {
  const {
    workflow_name: name = null,
    workflow_definition: definition = null,
    initial_variables: variables = null,
  } = params.values;
  const at = keyOf(action, "params");
  const placeOf = (key: string) => params.at.entries.get(key)?.value ?? params.at;
  if (name === null && definition === null) problems.error({ code: "KEY_MISSING", at, message: SOURCE_MISSING });
  if (name !== null && definition !== null) problems.error({ code: "VALUE_INVALID", at, message: SOURCE_TWICE });
  const wrong = (key: string, expected: string) => {
    const message = `\`${key}\` must be ${expected}.`;
    problems.error({ code: "WRONG_TYPE", at: placeOf(key), message, remedy: `Write ${expected}.` });
  };
  if (name !== null && typeof name !== "string") wrong("workflow_name", "a text");
  if (definition !== null && !isJsonObject(definition)) wrong("workflow_definition", "a map");
  if (variables !== null && !isJsonObject(variables)) wrong("initial_variables", "a map");
  if (name === ownName) {
    const message = `The workflow calls itself: at most 5 levels deep, and then the call fails.`;
    problems.warning({ code: "MAX_DEPTH", at: placeOf("workflow_name"), message });
  }
}

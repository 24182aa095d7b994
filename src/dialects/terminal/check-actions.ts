import { isJsonObject } from "../../core/json.ts";
import { suggest } from "../did-you-mean.ts";
import type { ProblemList } from "../problem-list.ts";
import { toExcerpt } from "../source/printable.ts";
import type { YamlMap } from "../source/yaml-node.ts";
import { SOURCE_MISSING, SOURCE_TWICE } from "./messages.ts";
import { keyAt, mapAt, nodeAt } from "./node-at.ts";
import { factsOf } from "./tools.ts";
import type { State, TerminalWorkflow } from "./workflow-shape.ts";

/** Parameters that a tool does not know or would miss, and calls that could not be made. */
export function checkActions(workflow: TerminalWorkflow, root: YamlMap, problems: ProblemList): void {
  for (const [name, state] of Object.entries(workflow.states)) {
    const action = mapAt(root, "states", name, "action");
    if (action === undefined) continue;
    const params = mapAt(action, "params") ?? action;
    checkParams(state, { action, params, problems });
    if (state.action.tool === "run_workflow") checkCall(state, workflow.name, { action, params, problems });
  }
}

interface ActionPlace {
  readonly action: YamlMap;
  readonly params: YamlMap;
  readonly problems: ProblemList;
}

/** Only warnings: whether a call is refused, and what the workflow does about it, shows when it runs. */
function checkParams({ action: { tool, params: given } }: State, { action, params, problems }: ActionPlace): void {
  const { required, optional } = factsOf(tool);
  const known = [...required, ...optional];
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    const message = `\`${toExcerpt(name)}\` is no parameter of \`${tool}\`.`;
    problems.warning({ code: "UNKNOWN_KEY", at: keyAt(params, name), message, remedy: suggest(name, known) });
  }
  for (const name of required) {
    if (Object.hasOwn(given, name)) continue;
    const message = `\`${tool}\` needs \`${name}\`.`;
    problems.warning({ code: "KEY_MISSING", at: keyAt(action, "params"), message, remedy: `Add \`${name}\`.` });
  }
}

function checkCall(state: State, ownName: string, { action, params, problems }: ActionPlace): void {
  const {
    workflow_name: name = null,
    workflow_definition: definition = null,
    initial_variables: variables = null,
  } = state.action.params;
  const at = keyAt(action, "params");
  if (name === null && definition === null) problems.error({ code: "KEY_MISSING", at, message: SOURCE_MISSING });
  if (name !== null && definition !== null) problems.error({ code: "VALUE_INVALID", at, message: SOURCE_TWICE });
  const wrong = (key: string, expected: string) => {
    const message = `\`${key}\` must be ${expected}.`;
    problems.error({ code: "WRONG_TYPE", at: nodeAt(params, key), message, remedy: `Write ${expected}.` });
  };
  if (name !== null && typeof name !== "string") wrong("workflow_name", "a text");
  if (definition !== null && !isJsonObject(definition)) wrong("workflow_definition", "a map");
  if (variables !== null && !isJsonObject(variables)) wrong("initial_variables", "a map");
  if (name === ownName) {
    const message = `The workflow calls itself: at most 5 levels deep, and then the call fails.`;
    problems.warning({ code: "MAX_DEPTH", at: nodeAt(params, "workflow_name"), message });
  }
}

import { suggest } from "../did-you-mean.ts";
import type { ProblemList } from "../problem-list.ts";
import type { YamlMap } from "../source/yaml-node.ts";
import { keyAt, mapAt, nodeAt } from "./node-at.ts";
import type { TerminalWorkflow } from "./workflow-shape.ts";

/** Every state that is named exists, and every state that exists can be reached. */
export function checkTargets(workflow: TerminalWorkflow, root: YamlMap, problems: ProblemList): void {
  const names = Object.keys(workflow.states);
  const check = (name: string, at: readonly (string | number)[], message: string) => {
    if (Object.hasOwn(workflow.states, name)) return;
    const remedy = suggest(name, names) ?? `The states are: ${names.join(", ")}.`;
    problems.error({ code: "STEP_UNKNOWN", at: nodeAt(root, ...at), message, remedy });
  };
  const { initial_state: initial } = workflow;
  check(initial, ["initial_state"], `Initial state '${initial}' not found in states`);
  for (const [name, state] of Object.entries(workflow.states)) {
    for (const [index, { next_state: target }] of (state.transitions ?? []).entries()) {
      const at = ["states", name, "transitions", index, "next_state"];
      check(target, at, `State '${name}' references non-existent state '${target}'`);
    }
    const target = state.on_timeout;
    if (target) check(target, ["states", name, "on_timeout"], `State '${name}' timeout target '${target}' not found`);
  }
  if (!problems.hasErrors) reportUnreachable(workflow, root, problems);
}

function reportUnreachable(workflow: TerminalWorkflow, root: YamlMap, problems: ProblemList): void {
  const reached = new Set<string>();
  const pending = [workflow.initial_state];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const state = reached.has(name) ? undefined : workflow.states[name];
    reached.add(name);
    for (const { next_state: target } of state?.transitions ?? []) pending.push(target);
    if (state?.on_timeout) pending.push(state.on_timeout);
  }
  const states = mapAt(root, "states");
  for (const name of Object.keys(workflow.states)) {
    if (reached.has(name) || states === undefined) continue;
    const message = `Unreachable states detected: no transition leads to '${name}'.`;
    problems.warning({ code: "STEP_UNREACHABLE", at: keyAt(states, name), message });
  }
}

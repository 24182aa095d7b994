import { suggest } from "../did-you-mean.ts";
import type { ProblemList } from "../problem-list.ts";
import type { Text } from "../shape/shape.ts";
import type { State, TerminalWorkflow } from "./workflow-shape.ts";

/** Every state that is named exists, and every state that exists can be reached. */
export function checkTargets({ states, initial_state: initial }: TerminalWorkflow, problems: ProblemList): void {
  const byName = new Map(states.map(({ name, value }) => [name, value]));
  const check = ({ value: name, at }: Text, message: string) => {
    if (byName.has(name)) return;
    const remedy = suggest(name, byName.keys()) ?? `The states are: ${[...byName.keys()].join(", ")}.`;
    problems.error({ code: "STEP_UNKNOWN", at, message, remedy });
  };
  check(initial, `Initial state '${initial.value}' not found in states`);
  for (const { name, value: state } of states) {
    for (const { next_state: target } of state.transitions ?? [])
      check(target, `State '${name}' references non-existent state '${target.value}'`);
    const target = state.on_timeout;
    if (target !== undefined) check(target, `State '${name}' timeout target '${target.value}' not found`);
  }
  if (problems.hasErrors) return;
  const reached = reach(initial.value, byName);
  for (const { name, at } of states) {
    if (reached.has(name)) continue;
    const message = `Unreachable states detected: no transition leads to '${name}'.`;
    problems.warning({ code: "STEP_UNREACHABLE", at, message });
  }
}

function reach(initial: string, states: ReadonlyMap<string, State>): ReadonlySet<string> {
  const reached = new Set<string>();
  const pending = [initial];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const state = reached.has(name) ? undefined : states.get(name);
    reached.add(name);
    for (const { next_state: target } of state?.transitions ?? []) pending.push(target.value);
    if (state?.on_timeout) pending.push(state.on_timeout.value);
  }
  return reached;
}

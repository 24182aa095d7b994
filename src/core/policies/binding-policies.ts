import type { Policy } from "../graph/policy.ts";
import type { Instance } from "../history/run-state.ts";

/**
 * What a task's output must satisfy: the policies of its own step, and those of every call around it, innermost first.
 * What a workflow asks of its steps cannot be evaded by moving one of them into another workflow.
 */
export function bindingPolicies(instance: Instance): readonly Policy[] {
  const { step } = instance.step;
  if (step.kind !== "task") return [];
  const own = step.policies ?? [];
  // What it writes down has been judged where it came in.
  if (step.isAside === true) return own;
  let bound: Policy[] | undefined;
  for (let around = instance.scope.parent; around !== undefined; around = around.scope.parent) {
    const { step: caller } = around.step;
    if (caller.kind !== "call" || caller.policies === undefined) continue;
    bound ??= [...own];
    const { name } = around.scope.frame.graph.graph;
    for (const policy of caller.policies) add(bound, policy, name);
  }
  return bound ?? own;
}

/** One that is there already counts once; another one of the same name says whose it is. */
function add(bound: Policy[], policy: Policy, workflow: string): void {
  const text = JSON.stringify(policy);
  if (bound.some((known) => JSON.stringify(known) === text)) return;
  const isTaken = bound.some(({ id }) => id === policy.id);
  bound.push(isTaken ? { ...policy, id: `${workflow}:${policy.id}` } : policy);
}

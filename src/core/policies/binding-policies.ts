import { writeExact } from "../exact-json.ts";
import type { Policy } from "../graph/policy.ts";
import type { Instance } from "../history/run-state.ts";

/**
 * The policies that a task's output must satisfy: those of its own step, and of every call around it, innermost first.
 * So a step does not evade the policies of a workflow by moving into another one.
 */
export function bindingPolicies(instance: Instance): readonly Policy[] {
  const { step } = instance.step;
  if (step.kind !== "task") return [];
  const own = step.policies ?? [];
  // The output that it records was judged already.
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
  const text = writeExact(policy);
  if (bound.some((known) => writeExact(known) === text)) return;
  const isTaken = bound.some(({ id }) => id === policy.id);
  bound.push(isTaken ? { ...policy, id: `${workflow}:${policy.id}` } : policy);
}

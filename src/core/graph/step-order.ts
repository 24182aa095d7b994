import type { DagFlow } from "./graph.ts";

/** The order of a dag's steps and what each of them needs, by index. */
export function orderSteps(flow: DagFlow): {
  readonly after: readonly (readonly number[])[];
  readonly dependents: readonly (readonly number[])[];
  readonly order: readonly number[] | undefined;
} {
  const indexOf = new Map(flow.steps.map((step, index) => [step.id, index]));
  const after = flow.steps.map((step) => toIndexes(step.after ?? [], indexOf));
  const dependents = flow.steps.map((): number[] => []);
  for (const [index, needed] of after.entries()) for (const need of needed) dependents[need]?.push(index);
  return { after, dependents, order: topologicalOrder(after, dependents) };
}

/** Kahn's algorithm, ties in source order. Undefined: there is a cycle. */
function topologicalOrder(
  after: readonly (readonly number[])[],
  dependents: readonly (readonly number[])[],
): readonly number[] | undefined {
  const open = after.map((needed) => needed.length);
  const order = open.flatMap((count, index) => (count === 0 ? [index] : []));
  for (let head = 0; head < order.length; head += 1) {
    for (const dependent of dependents[order[head] ?? 0] ?? []) {
      const left = (open[dependent] ?? 0) - 1;
      open[dependent] = left;
      if (left === 0) order.push(dependent);
    }
  }
  return order.length === after.length ? order : undefined;
}

function toIndexes(ids: readonly string[], indexOf: ReadonlyMap<string, number>): number[] {
  return [...new Set(ids)].flatMap((id) => {
    const index = indexOf.get(id);
    return index === undefined ? [] : [index];
  });
}

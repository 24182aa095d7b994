import type { Flow, Step } from "./graph.ts";

interface InnerFlow {
  readonly flow: Flow;
  /** It stands behind the step's key in the keys of the flow's steps. */
  readonly suffix: string;
  /** The flow whose steps this one reads as if they were around it. */
  readonly tried?: Flow | undefined;
}

/** The flow whose steps a `catch` and a `finally` of the step read. */
export function triedOf(step: Step): Flow | undefined {
  return step.kind === "flow" && isSeenBeside(step.flow) ? step.flow : undefined;
}

export function isSeenBeside(flow: Flow): boolean {
  return flow.kind === "machine" || flow.isSeenBeside === true;
}

export function flowsInside(step: Step): readonly InnerFlow[] {
  const tried = triedOf(step);
  return [
    ...(step.kind === "flow" ? [{ flow: step.flow, suffix: "" }] : []),
    ...(step.catch === undefined ? [] : [{ flow: step.catch, suffix: "~catch", tried }]),
    ...(step.finally === undefined ? [] : [{ flow: step.finally, suffix: "~finally", tried }]),
  ];
}

/** Every step of a flow, with those of the flows inside it. */
export function stepsWithin(flow: Flow): readonly Step[] {
  return flow.steps.flatMap((step) => [step, ...flowsInside(step).flatMap((inner) => stepsWithin(inner.flow))]);
}

/** A step, as far as its place among others is concerned. */
interface Ordered {
  readonly id: string;
  readonly after?: readonly string[];
}

interface StepOrder {
  /** By index, the steps that each needs. */
  readonly after: readonly (readonly number[])[];
  readonly dependents: readonly (readonly number[])[];
  /** Every step after those that it needs. Steps in or behind a cycle are left out. */
  readonly order: readonly number[];
}

/** What each of the steps needs, and an order in which they can be done: Kahn's algorithm, ties in source order. */
export function orderSteps(steps: readonly Ordered[]): StepOrder {
  const indexOf = new Map(steps.map((step, index) => [step.id, index]));
  const after = steps.map((step) => toIndexes(step.after ?? [], indexOf));
  const dependents = steps.map((): number[] => []);
  for (const [index, needed] of after.entries()) for (const need of needed) dependents[need]?.push(index);
  const open = after.map((needed) => needed.length);
  const order = open.flatMap((count, index) => (count === 0 ? [index] : []));
  for (let head = 0; head < order.length; head += 1) {
    for (const dependent of dependents[order[head] ?? 0] ?? []) {
      const left = (open[dependent] ?? 0) - 1;
      open[dependent] = left;
      if (left === 0) order.push(dependent);
    }
  }
  return { after, dependents, order };
}

function toIndexes(ids: readonly string[], indexOf: ReadonlyMap<string, number>): number[] {
  return [...new Set(ids)].flatMap((id) => indexOf.get(id) ?? []);
}

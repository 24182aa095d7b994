import type { Flow, MachineFlow, Step } from "./graph.ts";

interface InnerFlow {
  readonly flow: Flow;
  /** It stands behind the step's key in the keys of the flow's steps. */
  readonly suffix: string;
  /** The flow whose steps this one reads as if they were around it. */
  readonly tried?: MachineFlow | undefined;
}

/** A `catch` and a `finally` read the steps that have run one after the other before them. */
export function triedOf(step: Step): MachineFlow | undefined {
  return step.kind === "flow" && step.flow.kind === "machine" ? step.flow : undefined;
}

/** The flows inside a step. */
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

import type { Flow, Step } from "./graph.ts";

/** The flows inside a step, each with what stands behind the step's key in the keys of its steps. */
export function flowsInside(step: Step): readonly { readonly flow: Flow; readonly suffix: string }[] {
  return [
    ...(step.kind === "flow" ? [{ flow: step.flow, suffix: "" }] : []),
    ...(step.catch === undefined ? [] : [{ flow: step.catch, suffix: "~catch" }]),
    ...(step.finally === undefined ? [] : [{ flow: step.finally, suffix: "~finally" }]),
  ];
}

/** Every step of a flow, with those of the flows inside it. */
export function stepsWithin(flow: Flow): readonly Step[] {
  return flow.steps.flatMap((step) => [step, ...flowsInside(step).flatMap((inner) => stepsWithin(inner.flow))]);
}

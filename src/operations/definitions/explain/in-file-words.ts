import type { FlowExplanation, GraphExplanation, StepExplanation } from "./graph-schemas.ts";

/** The same without the steps that were made for those of the file: what stands in these is shown where they stood. */
export function inFileWords(graph: GraphExplanation): GraphExplanation {
  return hasPlaces(graph.flow) ? { ...graph, flow: flowInWords(graph.flow) } : graph;
}

export function transitionInWords({ on, when, to }: NonNullable<StepExplanation["transitions"]>[number]): string {
  const reason = [on === "any" ? "" : ` on ${on}`, when === undefined ? "" : ` if ${when}`];
  return `-> ${to}${reason.join("")}`;
}

/** A graph of a program has none. */
function hasPlaces({ steps }: FlowExplanation): boolean {
  return steps.some(({ place, flow }) => place !== undefined || (flow !== undefined && hasPlaces(flow)));
}

function flowInWords(flow: FlowExplanation): FlowExplanation {
  const steps = flow.steps.flatMap(stepsInWords);
  const ids = new Set(steps.map(({ id }) => id));
  const ordered = steps.map((step) => ({ ...step, after: step.after.filter((id) => ids.has(id)) }));
  const made = flow.steps.find(({ id }) => id === flow.start && !ids.has(id));
  return { ...flow, start: made === undefined ? flow.start : made.flow?.start, steps: ordered };
}

function stepsInWords(step: StepExplanation): readonly StepExplanation[] {
  const inside = step.flow === undefined ? undefined : flowInWords(step.flow);
  const [only] = inside?.steps ?? [];
  // The one inside is the step itself; around it is what becomes of its output.
  if (step.says === undefined && only?.id === step.id && inside?.steps.length === 1)
    return [{ ...step, ...only, after: step.after, transitions: step.transitions, when: step.when ?? only.when }];
  const sides = {
    ...(step.catch === undefined ? {} : { catch: flowInWords(step.catch) }),
    ...(step.finally === undefined ? {} : { finally: flowInWords(step.finally) }),
  };
  if (step.place === undefined && step.says === undefined)
    return [inside, sides.catch, sides.finally].flatMap((flow) => flow?.steps ?? []);
  // When and how often it is done, its word tells.
  const own = step.says === undefined ? inside?.steps : inside?.steps.map(({ fan_out: _, ...each }) => each);
  const flow = inside === undefined || own === undefined || own.length === 0 ? undefined : { ...inside, steps: own };
  return [{ ...step, ...(step.place === undefined ? { when: undefined } : {}), ...sides, flow }];
}

import type { MachineFlow, Step } from "../../core/graph/graph.ts";
import { type Count, exactly, ONCE } from "./plan-count.ts";

/** The core's limit where a graph sets none. */
const USUAL_MAX_VISITS = 100_000;

/** How often each step of a machine is visited in one pass: those on a loop until no visit is left. */
export function visitsOf(flow: MachineFlow, maxVisitsOfRun: number | undefined): ReadonlyMap<string, Count> {
  const targets = new Map(flow.steps.map(({ id, transitions = [] }) => [id, namesOf(transitions)]));
  const reached = reachableFrom(flow.start, targets);
  reached.add(flow.start);
  const certain = certainSteps(flow);
  const limit = Math.min(flow.maxVisits ?? USUAL_MAX_VISITS, maxVisitsOfRun ?? USUAL_MAX_VISITS);
  return new Map(
    flow.steps.map(({ id }): [string, Count] => {
      if (!reached.has(id)) return [id, exactly(0)];
      if (reachableFrom(id, targets).has(id)) return [id, { is: "at_most", count: limit }];
      return [id, certain.has(id) ? ONCE : { is: "at_most", count: 1 }];
    }),
  );
}

function reachableFrom(start: string, targets: ReadonlyMap<string, readonly string[]>): Set<string> {
  const seen = new Set<string>();
  const left = [...(targets.get(start) ?? [])];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    if (seen.has(id)) continue;
    seen.add(id);
    left.push(...(targets.get(id) ?? []));
  }
  return seen;
}

/** From the start along transitions that have no alternative. */
function certainSteps(flow: MachineFlow): ReadonlySet<string> {
  const steps = new Map(flow.steps.map((step) => [step.id, step]));
  const certain = new Set<string>();
  let id: string | undefined = flow.start;
  while (id !== undefined && !certain.has(id)) {
    certain.add(id);
    id = onlyTargetOf(steps.get(id));
  }
  return certain;
}

function onlyTargetOf(step: Step | undefined): string | undefined {
  const first = (step?.transitions ?? []).find(({ on }) => on !== "failure");
  return first?.when === undefined && typeof first?.to === "string" ? first.to : undefined;
}

function namesOf(transitions: readonly { readonly to: unknown }[]): readonly string[] {
  return transitions.flatMap(({ to }) => (typeof to === "string" ? [to] : []));
}

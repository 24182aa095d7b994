import { orderSteps } from "../../core/graph/steps-within.ts";
import type { Range } from "../source/source-text.ts";
import type { StepDefinition } from "./parse-step.ts";

/** The steps and how they depend on each other. Of two steps with one id, the first counts. */
export interface StepGraph {
  readonly byId: ReadonlyMap<string, StepDefinition>;
  /** Every step after those that it depends on; steps in or behind a cycle are left out. */
  readonly order: readonly StepDefinition[];
  /** All steps that must have ended before, directly or not. */
  ancestorsOf(id: string): ReadonlySet<string>;
}

export function buildStepGraph(written: readonly StepDefinition[]): StepGraph {
  const byId = new Map<string, StepDefinition>();
  for (const step of written) if (!byId.has(step.id)) byId.set(step.id, step);
  const steps = [...byId.values()];
  const { order } = orderSteps(steps.map(({ id, dependsOn }) => ({ id, after: dependsOn.map((need) => need.id) })));
  const ancestors = new Map<string, ReadonlySet<string>>();
  return {
    byId,
    order: order.flatMap((index) => steps[index] ?? []),
    ancestorsOf(id) {
      const known = ancestors.get(id) ?? collectAncestors(id, byId);
      ancestors.set(id, known);
      return known;
    },
  };
}

/** One cycle for each set of steps that are caught in each other, as the path `a -> b -> a`. */
export function findCycles({ byId, order, ancestorsOf }: StepGraph): readonly { path: readonly string[]; at: Range }[] {
  const sorted = new Set(order.map((step) => step.id));
  const reported = new Set<string>();
  const cycles: { path: readonly string[]; at: Range }[] = [];
  for (const step of byId.values()) {
    if (sorted.has(step.id) || reported.has(step.id) || !ancestorsOf(step.id).has(step.id)) continue;
    const path = findWayBack(step.id, byId);
    for (const id of byId.keys()) if (ancestorsOf(step.id).has(id) && ancestorsOf(id).has(step.id)) reported.add(id);
    cycles.push({ path, at: step.dependsOn.find(({ id }) => id === path[1])?.at ?? step.at });
  }
  return cycles;
}

function collectAncestors(id: string, byId: ReadonlyMap<string, StepDefinition>): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [id];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const dependency of byId.get(next)?.dependsOn ?? []) {
      if (found.has(dependency.id)) continue;
      found.add(dependency.id);
      open.push(dependency.id);
    }
  }
  return found;
}

/** The shortest way from a step along its dependencies back to itself. */
function findWayBack(start: string, byId: ReadonlyMap<string, StepDefinition>): readonly string[] {
  const cameFrom = new Map<string, string>();
  const open = [start];
  for (const id of open) {
    for (const dependency of byId.get(id)?.dependsOn ?? []) {
      if (dependency.id === start) return [...pathTo(id, cameFrom), start];
      if (cameFrom.has(dependency.id)) continue;
      cameFrom.set(dependency.id, id);
      open.push(dependency.id);
    }
  }
  return [start, start];
}

function pathTo(id: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const path: string[] = [];
  for (let at: string | undefined = id; at !== undefined; at = cameFrom.get(at)) path.unshift(at);
  return path;
}

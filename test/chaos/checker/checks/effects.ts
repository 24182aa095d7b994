import type { PlannedEffect } from "../../workload/shape.ts";
import { type AcceptedRun, SHAPES } from "../../workload/workload.ts";
import type { Effect } from "../../world/effect-log.ts";
import type { Check, Observation, Violation } from "../observation.ts";
import { faultBetween, isAftermath } from "./fault-times.ts";

/**
 * What steps have done outside: with the right inputs, after what they depend on, and again only where an attempt was in
 * flight at a fault.
 */
export const checkEffects: Check = (seen) => {
  const byLabel = Map.groupBy(seen.effects, ({ label }) => label);
  const labels = new Set(seen.accepted.map(({ label }) => label));
  const strangers = [...byLabel.keys()].filter((label) => !labels.has(label) && label !== "tick");
  return [
    ...strangers.map((label) => ({ check: "effects", what: `Work was done for ${label}, which nobody has accepted.` })),
    ...seen.accepted.flatMap((run) => checkRun(seen, run, effectsOf(byLabel.get(run.label) ?? [], run))),
  ];
};

/** How often a step was done again though it had not failed. */
export function countRepeated(seen: Observation): number {
  const done = seen.effects.filter(({ failed, label }) => !failed && label !== "tick");
  const places = new Set(done.map(({ label, step, key }) => `${label} ${step} ${key?.split(":")[0]}`));
  return done.length - places.size;
}

/** Models are not told whose key it is; only one run has the label then. */
function effectsOf(effects: readonly Effect[], { runId }: AcceptedRun): readonly Effect[] {
  return effects.filter(({ key }) => key === undefined || key.startsWith(`${runId}:`));
}

function checkRun(seen: Observation, run: AcceptedRun, effects: readonly Effect[]): readonly Violation[] {
  const violations: Violation[] = [];
  const report = (check: string, what: string) => violations.push({ check, what: `Run ${run.runId}: ${what}` });
  const shape = SHAPES.find(({ name }) => name === run.shape);
  const planned = shape?.expect(run.label).effects.filter(({ step }) => !run.without.includes(step)) ?? [];
  const byStep = Map.groupBy(effects, ({ step }) => step);
  for (const step of byStep.keys())
    if (!planned.some((one) => one.step === step)) report("effects", `${step} was done, which nobody planned.`);
  const isCompleted = seen.runs.find(({ runId }) => runId === run.runId)?.status === "completed";
  for (const plan of planned) {
    const done = byStep.get(plan.step) ?? [];
    if (done.length === 0 && isCompleted) report("effects", `${plan.step} is done, and nothing was done.`);
    for (const { given } of done)
      if (given !== plan.given) report("inputs", `${plan.step} was given ${given}, not ${plan.given}.`);
    for (const what of findRepeated(seen, plan, done)) report("repeated", what);
    for (const what of findTooEarly(seen, plan, byStep)) report("order", what);
  }
  return violations;
}

function findRepeated(seen: Observation, { step, once, fails = 0 }: PlannedEffect, done: readonly Effect[]): string[] {
  if (once === true && done.length > 1) return [`${step} must not be repeated, and was done ${done.length} times.`];
  const failed = done.filter((effect) => effect.failed).length;
  if (failed > fails) return [`${step} failed ${failed} times.`];
  return done.slice(1).flatMap((effect, n) => {
    const before = done[n];
    if (before === undefined || before.failed) return [];
    const isExplained = faultBetween(seen, { at: before.at, until: effect.at }) !== undefined;
    return isExplained ? [] : [`${step} was done again after ${effect.at - before.at} ms, without a fault between.`];
  });
}

function findTooEarly(
  seen: Observation,
  plan: PlannedEffect,
  byStep: ReadonlyMap<string, readonly Effect[]>,
): string[] {
  const first = byStep.get(plan.step)?.[0];
  if (first === undefined) return [];
  return plan.after.flatMap((step) => {
    const before = byStep.get(step) ?? [];
    // Taken over from another run: nothing of it is seen here.
    if (before.length === 0) return [];
    if (!before.some(({ failed, until = Number.POSITIVE_INFINITY }) => !failed && until <= first.at))
      return [`${plan.step} began before ${step} was answered.`];
    const late = before.find(({ at }) => at > first.at && !isAftermath(seen, at));
    return late === undefined ? [] : [`${step} was done once more after ${plan.step} had begun.`];
  });
}

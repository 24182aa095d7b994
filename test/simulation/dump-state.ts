import type { Handle, Instance, RunState, Scope, StepState } from "../../src/core/history/run-state.ts";

/** All that a state holds, as plain JSON and in one order: two states are the same run if their dumps are equal. */
export function dumpState(state: RunState): unknown {
  const {
    graph: _,
    graphs: __,
    root,
    active,
    timers,
    signals,
    waiters,
    answers,
    orphans,
    blocked: ___,
    later,
    budget,
    ...rest
  } = state;
  return {
    ...rest,
    root: root === undefined ? null : dumpScope(root),
    active: [...active.values()].map(dumpInstance),
    timers: [...timers].sort(),
    signals: [...signals].sort(),
    waiters: [...waiters].map(([name, waiting]) => [name, [...waiting].map(({ path }) => path)]),
    answers: [...answers],
    orphans: [...orphans],
    later: later.size,
    budget: { ...budget, costs: [...budget.costs] },
  };
}

function dumpScope({
  path,
  role,
  shape,
  steps,
  live,
  variables,
  phase,
  unsettled,
  visits,
  failure,
  losses,
  result,
}: Scope): unknown {
  return {
    ...{
      path,
      role,
      shape,
      phase,
      unsettled,
      visits,
      failure: failure ?? null,
      losses: losses ?? null,
      result: dumpHandle(result),
    },
    steps: steps.map((step) => (step === undefined ? null : dumpStep(step))),
    live: [...live].map((instance) => instance.path),
    variables: [...variables],
  };
}

function dumpStep(step: StepState): unknown {
  const { prior, queue, answered, handle, ...rest } = step;
  return {
    ...rest,
    handle: handle.map(dumpHandle),
    queued: queue?.size ?? 0,
    answered: answered?.size ?? 0,
    prior: prior === undefined ? null : dumpStep(prior),
  };
}

function dumpInstance(instance: Instance): unknown {
  const { scope, step, child, tried, outcome, records, ...rest } = instance;
  return {
    ...rest,
    scope: scope.path,
    step: step.key,
    child: child === undefined ? null : dumpScope(child),
    tried: tried === undefined ? null : dumpScope(tried),
    outcome: outcome === undefined ? null : JSON.stringify(outcome),
    records: [...(records ?? [])],
  };
}

function dumpHandle(handle: Handle | undefined): unknown {
  return handle ?? null;
}

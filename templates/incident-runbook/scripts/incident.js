/** How bad it is: rules that a person can read. */
export function assess({ incident }) {
  const rate = incident.error_rate;
  return { severity: rate >= 0.2 ? "high" : rate >= 0.02 ? "medium" : "none" };
}

/** A stand-in: put here what your runbook really does. */
export function mitigate({ plan }) {
  return { steps_done: plan.length };
}

/** A stand-in: ask your monitoring here, and throw while there is no answer. */
export function check({ done }) {
  return { healthy: done.steps_done > 0 };
}

import type { Task } from "../../src/ports/executor.ts";

export interface Purse {
  /** What the budget of its run has left for it. Absent: nothing limits it. */
  readonly maxCostMicro?: number | undefined;
}

/** Grants every call all that it asks for. */
export const grantAll: Task["reserve"] = async ({ atMostMicro }) => {
  return { atMostMicro, record: async () => () => {}, release: () => {} };
};

/** Lets a task pay for calls as a run that has begun nothing else. `paid` gets every settled cost. */
export function withPurse<T extends Task & Purse>(task: T, paid: (number | null)[] = []): T {
  const { maxCostMicro } = task;
  let spent = 0;
  const reserve: Task["reserve"] = async ({ atMostMicro, leastMicro = atMostMicro ?? 1 }) => {
    const left = maxCostMicro === undefined ? Number.POSITIVE_INFINITY : maxCostMicro - spent;
    const wanted = atMostMicro ?? Number.POSITIVE_INFINITY;
    if (leastMicro > left) {
      const message = `$${left / 1_000_000} is left.`;
      const outspent = { goesOn: true };
      return {
        status: "failed",
        code: "BUDGET_EXCEEDED",
        message,
        retryable: false,
        effect: "none",
        costMicro: 0,
        outspent,
      };
    }
    const granted = Math.min(wanted, left);
    return {
      atMostMicro: Number.isFinite(granted) ? granted : undefined,
      ...(granted < wanted ? { loweredBy: "budget" as const } : {}),
      record: async () => (costMicro) => {
        paid.push(costMicro);
        spent += costMicro ?? (Number.isFinite(granted) ? granted : 0);
      },
      release: () => {},
    };
  };
  return { ...task, reserve, isLimited: maxCostMicro !== undefined };
}

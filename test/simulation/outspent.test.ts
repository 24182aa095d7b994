import { describe, expect, test } from "vitest";
import type { TaskCall, TaskResult } from "./behaviour.ts";
import { dag, each, endingOf, hostOf, literal, pathsOf, retry, task } from "./build.ts";

/** Needs so much, and spends what it was promised where that is less. */
function needs(costMicro: number, more: { readonly goesOn?: boolean; readonly effect?: "none" | "done" } = {}) {
  const { goesOn = false, effect = "done" } = more;
  const paid = new Map<string, number>();
  return ({ path, maxCostMicro = Number.POSITIVE_INFINITY }: TaskCall): TaskResult => {
    const left = costMicro - (goesOn ? (paid.get(path) ?? 0) : 0);
    const spends = Math.min(left, maxCostMicro);
    paid.set(path, (paid.get(path) ?? 0) + spends);
    if (spends === left) return { output: 1, costMicro: spends, delayMs: 5 };
    return {
      fail: "AGENT_ERROR_RESULT",
      retryable: false,
      effect,
      costMicro: spends,
      outspent: { goesOn },
      delayMs: 5,
    };
  };
}

const FIVE = each(literal([1, 2, 3, 4, 5]));

describe("a task that has spent what it was promised of a budget", () => {
  test("is tried again with more, without the retry policy and whatever it says of a failure", () => {
    const flow = dag(task("a", { each: FIVE, retry: retry(1), onFailure: "skip" }));
    const host = hostOf(flow, { maxCostMicro: 10_000, script: { a: needs(1_200) } }).run();
    expect(endingOf(host)?.status).toBe("completed");
    expect(host.state.budget.spentMicro).toBeLessThanOrEqual(10_000);
  });

  test("ends the run where no more is left than it has had already", () => {
    const flow = dag(task("a", { retry: retry(5), onFailure: "skip", catch: dag(task("instead")) }));
    const host = hostOf(flow, { maxCostMicro: 1_000, script: { a: needs(1_001) } }).run();
    expect(pathsOf(host)).toEqual(["a"]);
    expect(endingOf(host)).toEqual({ status: "budget_exceeded", code: "BUDGET_EXCEEDED" });
    expect(host.state.budget.spentMicro).toBe(1_000);
  });

  test("does not spend the rest on what was not enough before", () => {
    const script = { a: needs(600), b: { output: 1, costMicro: 10, delayMs: 50 } };
    const host = hostOf(dag(task("a"), task("b")), { maxCostMicro: 1_000, script }).run();
    expect(pathsOf(host)).toEqual(["a", "b"]);
    expect(host.state.ending).toMatchObject({
      status: "budget_exceeded",
      message: expect.stringContaining("too little"),
    });
    expect(host.state.budget.spentMicro).toBe(510);
  });

  test("fails by its own limit where that is what was too little", () => {
    const flow = dag(task("a", { maxCostMicro: 100, onFailure: "skip" }));
    const host = hostOf(flow, { maxCostMicro: 1_000, script: { a: needs(200) } }).run();
    expect(pathsOf(host)).toEqual(["a"]);
    expect(endingOf(host)?.status).toBe("partial");
  });

  test("waits for running attempts that may leave more than it has had, and then has all of it", () => {
    const cheap = { output: 1, costMicro: 10, delayMs: 50 };
    const script = { a: needs(500), b: cheap, c: cheap };
    const host = hostOf(dag(task("a"), task("b"), task("c")), { maxCostMicro: 1_200, script }).run();
    expect(host.calls.map(({ path, maxCostMicro }) => [path, maxCostMicro])).toEqual([
      ["a", 400],
      ["b", 400],
      ["c", 400],
      ["a", 780],
    ]);
    expect(endingOf(host)?.status).toBe("completed");
  });

  test("goes on with what it has on record, though less is left than it has had", () => {
    const flow = dag(task("a"), task("b"));
    const script = { a: needs(700, { goesOn: true }), b: { output: 1, costMicro: 10, delayMs: 50 } };
    const host = hostOf(flow, { maxCostMicro: 1_000, script }).run();
    expect(host.calls.map(({ path, attempt }) => [path, attempt])).toEqual([
      ["a", 1],
      ["b", 1],
      ["a", 2],
    ]);
    expect(endingOf(host)?.status).toBe("completed");
    expect(host.state.budget.spentMicro).toBe(710);
  });

  test("is not repeated where it may act only once, and the budget stops the run", () => {
    const flow = dag(task("a", { atMostOnce: true, onFailure: "skip" }), task("b"));
    const host = hostOf(flow, { maxCostMicro: 1_000, script: { a: needs(600) } }).run();
    expect(host.calls.filter(({ path }) => path === "a")).toHaveLength(1);
    expect(endingOf(host)?.status).toBe("budget_exceeded");
  });
});

describe("what an earlier run has done", () => {
  const flow = dag(task("c"), task("a"), task("b", { after: ["a"] }), task("d", { after: ["b"] }));
  const reusable = { a: 1, b: 2 };
  const script = { c: { output: 1, costMicro: 100, delayMs: 0 } };

  test("is taken over though nothing is left, and costs nothing", () => {
    const limits = [{ maxCostMicro: 100 }, { uses: { maxTries: 1 } }];
    for (const limit of limits) {
      const host = hostOf(dag(...flow.steps.slice(0, 3)), { ...limit, reusable, script }).run();
      expect(endingOf(host)).toEqual({ status: "completed" });
      expect(pathsOf(host)).toEqual(["c"]);
      expect(host.state.budget).toMatchObject({ spentMicro: 100, tries: 1, reservedMicro: 0 });
    }
  });

  test("is all that is left: what it has not done stops the run", () => {
    const host = hostOf(flow, { maxCostMicro: 100, reusable, script }).run();
    expect(endingOf(host)?.status).toBe("budget_exceeded");
    expect(pathsOf(host)).toEqual(["c"]);
    expect(host.outputs().has("b")).toBe(true);
  });

  test("is taken over wherever the process dies on the way", () => {
    const whole = hostOf(flow, { maxCostMicro: 100, reusable, script }).run();
    for (let seq = 1; seq < whole.events.length; seq += 1) {
      const host = hostOf(flow, { maxCostMicro: 100, reusable, script }).dieAfter(seq).run();
      expect(endingOf(host)?.status).toBe("budget_exceeded");
    }
  });
});

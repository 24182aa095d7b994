import { describe, expect, test } from "vitest";
import { dag, each, endingOf, hostOf, literal, pathsOf, retry, spends, task } from "./build.ts";

const FIVE = each(literal([1, 2, 3, 4, 5]));

describe("a task for which the budget has nothing more", () => {
  test("ends the run, whatever its policies say of a failure", () => {
    const flow = dag(task("a", { each: FIVE, retry: retry(5), onFailure: "skip", catch: dag(task("instead")) }));
    const host = hostOf(flow, { maxCostMicro: 1_000, script: { a: spends(300, { delayMs: 5 }) } }).run();
    expect(new Set(pathsOf(host).map((path) => path.slice(0, 1)))).toEqual(new Set(["a"]));
    expect(endingOf(host)).toEqual({ status: "budget_exceeded", code: "BUDGET_EXCEEDED" });
    expect(host.state.ending?.message).toBe("a[3] failed");
    expect(host.state.budget.spentMicro).toBe(900);
  });

  test("lets others end that are under way", () => {
    const script = { a: spends(1_001), b: { output: 1, costMicro: 10, delayMs: 50, onAbort: "finish" } } as const;
    const host = hostOf(dag(task("a"), task("b"), task("c", { after: ["b"] })), { maxCostMicro: 1_000, script }).run();
    expect(pathsOf(host)).toEqual(["a", "b"]);
    expect(host.state.budget.spentMicro).toBe(10);
  });

  test("waited for more in journals of before", () => {
    const host = hostOf(dag(task("a")), { maxCostMicro: 1_000 }).start();
    const failed = {
      type: "stepFailed",
      path: "a",
      attempt: 1,
      code: "A",
      message: "",
      retryable: false,
      effect: "done",
    } as const;
    host.apply({ ...failed, at: host.now, costMicro: 500, outspent: { promisedMicro: 500 } });
    expect(host.calls).toHaveLength(2);
  });
});

describe("what an earlier run has done", () => {
  const flow = dag(task("c"), task("a"), task("b", { after: ["a"] }), task("d", { after: ["b"] }));
  const reusable = { a: 1, b: 2 };
  const script = { c: { output: 1, costMicro: 100, delayMs: 0 }, d: spends(1) };

  test("is taken over though nothing is left, and costs nothing", () => {
    const host = hostOf(dag(...flow.steps.slice(0, 3)), { uses: { maxTries: 1 }, reusable, script }).run();
    expect(endingOf(host)).toEqual({ status: "completed" });
    expect(pathsOf(host)).toEqual(["c"]);
    expect(host.state.budget).toMatchObject({ spentMicro: 100, tries: 1 });
  });

  test("is all that is left: what it has not done stops the run", () => {
    const host = hostOf(flow, { uses: { maxTries: 1 }, reusable, script }).run();
    expect(endingOf(host)?.status).toBe("budget_exceeded");
    expect(pathsOf(host)).toEqual(["c"]);
    expect(host.outputs().has("b")).toBe(true);
  });

  test("is taken over wherever the process dies on the way", () => {
    const whole = hostOf(flow, { uses: { maxTries: 1 }, reusable, script }).run();
    for (let seq = 1; seq < whole.events.length; seq += 1) {
      const host = hostOf(flow, { uses: { maxTries: 1 }, reusable, script })
        .dieAfter(seq)
        .run();
      expect(endingOf(host)?.status).toBe("budget_exceeded");
    }
  });
});

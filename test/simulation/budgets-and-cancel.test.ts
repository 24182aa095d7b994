import { expect, test } from "vitest";
import { dag, endingOf, fails, hostOf, literal, pathsOf, retry, task } from "./build.ts";

const costs = (costMicro: number) => ({ output: 1, costMicro });

test("what tasks cost is summed up, failures included", () => {
  const flow = dag(task("a", { retry: retry(2) }));
  const host = hostOf(flow, { script: { a: [fails("AGENT_FAILED", { costMicro: 30 }), costs(12)] } }).run();
  expect(host.state.budget.spentMicro).toBe(42);
});

test("money that was reported early is not booked twice", () => {
  const host = hostOf(dag(task("a")), {
    script: { a: { output: 1, costMicro: 50, earlyCostMicro: 20, delayMs: 10 } },
  }).run();
  expect(host.state.budget.spentMicro).toBe(50);
});

test("when a budget has nothing more for a step nothing more starts, in nested flows neither, but finally does", () => {
  const inner = dag(task("x"), { kind: "set", id: "y", after: ["x"], value: literal(1) }, task("z", { after: ["y"] }));
  const flow = dag(task("a"), { kind: "flow", id: "in", after: ["a"], flow: inner, finally: dag(task("tidy")) });
  const script = { a: costs(100), x: fails("BUDGET_EXCEEDED", { outspent: true }) };
  const host = hostOf(flow, { maxCostMicro: 100, script }).run();
  expect(pathsOf(host)).toEqual(["a", "in/x", "in~finally/tidy"]);
  expect([...host.outputs().keys()]).toEqual(["a", "in~finally/tidy"]);
  expect(endingOf(host)?.status).toBe("budget_exceeded");
});

test("a step that has used up its own limit is not tried again", () => {
  const flow = dag(task("a", { retry: retry(5), maxCostMicro: 100 }));
  const host = hostOf(flow, { script: { a: fails("AGENT_FAILED", { costMicro: 60 }) } }).run();
  expect(host.calls).toHaveLength(2);
  expect(endingOf(host)).toEqual({ status: "failed", code: "STEP_BUDGET_EXCEEDED" });
});

test("who has cancelled a run is told so, even if its time is over before it has come down", () => {
  const script = { a: { output: 1, delayMs: 5_000, onAbort: "hang" } } as const;
  const host = hostOf(dag(task("a")), { uses: { maxDurationMs: 1_000 }, script }).later(10, () => host.cancel());
  expect(endingOf(host.run())).toEqual({ status: "cancelled", code: "RUN_CANCELLED" });
});

test("cancel stops running tasks, starts nothing more and books what they have cost", () => {
  const flow = dag(task("a"), task("b", { after: ["a"] }));
  const host = hostOf(flow, { script: { a: { ...costs(70), delayMs: 1_000 } } }).later(10, () => host.cancel());
  expect(endingOf(host.run())).toEqual({ status: "cancelled", code: "RUN_CANCELLED" });
  expect(pathsOf(host)).toEqual(["a"]);
  expect(host.state.budget.spentMicro).toBe(70);
  expect(host.state.failures).toEqual([]);
});

test("cancel runs finally, once, and with all its steps", () => {
  const tidy = dag(task("one"), task("two", { after: ["one"] }));
  const host = hostOf(dag(task("a", { finally: tidy })), { script: { a: { output: 1, delayMs: 1_000 } } }).later(
    10,
    () => host.cancel(),
  );
  expect(pathsOf(host.run())).toEqual(["a", "a~finally/one", "a~finally/two"]);
  expect(host.status).toBe("cancelled");
});

test("what does not come down within the grace is given up; its cost is booked if it ever comes", () => {
  const script = {
    a: { output: 1, costMicro: 70, delayMs: 5_000, onAbort: "hang" },
    tidy: { output: 1, delayMs: 20 * 60_000 },
  } as const;
  const host = hostOf(dag(task("a", { finally: dag(task("tidy")) })), { script }).later(10, () => host.cancel());
  host.run();
  expect(pathsOf(host)).toEqual(["a", "a~finally/tidy"]);
  expect(host.now - host.state.startedAt).toBe(10 + 30_000 + 5 * 60_000);
  expect(host.status).toBe("cancelled");
});

test("a late cost of a task that was given up is booked without the attempts before it", () => {
  const script = {
    a: [fails("AGENT_FAILED", { costMicro: 100 }), { output: 1, costMicro: 70, delayMs: 1_000, onAbort: "hang" }],
  } as const;
  const slow = { output: 1, delayMs: 14 * 60_000, onAbort: "finish" } as const;
  const flow = dag(task("a", { retry: retry(2, { initialMs: 0 }) }), task("b", { finally: dag(task("tidy")) }));
  const host = hostOf(flow, { script: { ...script, b: { output: 1, delayMs: 900, onAbort: "finish" }, tidy: slow } });
  host.later(10, () => host.cancel());
  host.run();
  host.apply({
    type: "stepFailed",
    at: host.now,
    path: "a",
    attempt: 2,
    code: "ABORTED",
    message: "",
    retryable: false,
    effect: "unknown",
    costMicro: 70,
  });
  expect(host.state.budget.spentMicro).toBe(170);
});

test("a second cancel ends the run as it stands", () => {
  const script = { a: { output: 1, delayMs: 1_000, onAbort: "hang" } } as const;
  const host = hostOf(dag(task("a", { finally: dag(task("tidy")) })), { script });
  host.later(10, () => host.cancel()).later(20, () => host.cancel());
  expect(endingOf(host.run())?.status).toBe("cancelled");
  expect(pathsOf(host)).toEqual(["a"]);
  expect(host.now - host.state.startedAt).toBe(20);
});

test("after the end a signal, an answer or an outcome changes nothing but the cost", () => {
  const host = hostOf(
    dag({ kind: "wait", id: "w", wait: { for: "event", name: literal("go") }, finally: dag(task("tidy")) }),
  ).settle();
  host.cancel();
  host.cancel();
  host.apply({ type: "signalReceived", at: host.now, name: "go" }, 1);
  expect(host.state.phase).toBe("finishing");
  host.run();
  expect(host.state.active.size).toBe(0);
});

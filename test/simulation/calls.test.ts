import { expect, test } from "vitest";
import type { CallStep, Graph } from "../../src/core/graph/graph.ts";
import {
  compare,
  dag,
  each,
  endingOf,
  fails,
  hostOf,
  input,
  inputOf,
  item,
  literal,
  object,
  pathsOf,
  retry,
  spends,
  steps,
  task,
} from "./build.ts";
import { newGraph } from "./random-graph.ts";

function call(more: Partial<CallStep> = {}): CallStep {
  return { kind: "call", id: "c", workflow: literal("child"), input: input(), ...more };
}

const child: Graph = newGraph("child", { ...dag(task("x", { input: input("who") })), result: "x" });
const callable = { child };

test("a call runs another workflow in a scope of its own, on its own input", () => {
  const flow = dag(call({ input: object({ who: literal("inner") }) }), task("next", { after: ["c"] }));
  const host = hostOf(flow, { callable, input: { who: "outer" } }).run();
  expect(inputOf(host, "c/x")).toBe("inner");
  expect(inputOf(host, "next")).toEqual({ c: "c/x" });
});

test("a called workflow does not see the steps and items of its caller", () => {
  const nosy = newGraph("nosy", dag(task("x", { input: object({ a: steps("a"), item: item() }) })));
  const flow = dag(task("a"), call({ after: ["a"], each: each(literal([1])), workflow: literal("nosy") }));
  expect(inputOf(hostOf(flow, { callable: { nosy } }).run(), "c[0]/x")).toEqual({});
});

test("the name may be computed per item", () => {
  const other = newGraph("other", dag(task("y")));
  const flow = dag(call({ each: each(literal(["child", "other"])), workflow: item() }));
  expect(pathsOf(hostOf(flow, { callable: { ...callable, other } }).run())).toEqual(["c[0]/x", "c[1]/y"]);
});

test("a condition reads what a called workflow gave", () => {
  const flow = dag(call(), task("next", { after: ["c"], when: compare(steps("c"), "==", "c/x") }));
  expect(pathsOf(hostOf(flow, { callable }).run())).toEqual(["c/x", "next"]);
});

test("the conditions of a called workflow read its own input", () => {
  const picky = newGraph("picky", dag(task("x", { when: compare(input("who"), "==", "me") })));
  const flow = dag(call({ workflow: literal("picky"), input: object({ who: literal("me") }) }));
  expect(pathsOf(hostOf(flow, { callable: { picky }, input: { who: "you" } }).run())).toEqual(["c/x"]);
});

test("a call of a workflow that does not exist fails the step", () => {
  expect(endingOf(hostOf(dag(call({ workflow: literal("nobody") })), { callable }).run())?.code).toBe(
    "WORKFLOW_NOT_FOUND",
  );
});

test("a workflow that calls itself is stopped at the depth limit, and says at which", () => {
  const again = newGraph("again", dag(call({ workflow: literal("again") })));
  const host = hostOf(dag(call({ workflow: literal("again") })), {
    callable: { again },
    limits: { maxDepth: 3 },
  }).run();
  expect(endingOf(host)).toEqual({ status: "failed", code: "MAX_DEPTH" });
  const limit = '"c/c/c/c" would be the call at depth 4; 3 are allowed.';
  expect(host.state.ending?.message).toBe(`${limit} The calls are: test > again > again > again.`);
});

test("a failing call is resolved and run again", () => {
  const host = hostOf(dag(call({ retry: retry(2) })), { callable, script: { "c/x": fails() } }).run();
  expect(pathsOf(host)).toEqual(["c/x", "c~retry1/x"]);
});

test("a call shares the budget of its caller", () => {
  const flow = dag(call(), call({ id: "d", after: ["c"] }), call({ id: "e", after: ["d"] }));
  const host = hostOf(flow, { callable, maxCostMicro: 1_000, script: { x: spends(600) } }).run();
  expect(endingOf(host)).toEqual({ status: "budget_exceeded", code: "BUDGET_EXCEEDED" });
  expect(pathsOf(host)).toEqual(["c/x", "d/x"]);
});

test("a call shares the tries of its caller", () => {
  const flow = dag(call(), call({ id: "d", after: ["c"] }), call({ id: "e", after: ["d"] }));
  const host = hostOf(flow, { callable, uses: { maxTries: 2 } }).run();
  expect(endingOf(host)).toEqual({ status: "budget_exceeded", code: "BUDGET_EXCEEDED" });
  expect(pathsOf(host)).toEqual(["c/x", "d/x"]);
});

test("cancel reaches into a called workflow", () => {
  const host = hostOf(dag(call()), { callable, script: { x: { output: 1, delayMs: 1_000 } } }).later(10, () =>
    host.cancel(),
  );
  expect(endingOf(host.run())).toEqual({ status: "cancelled", code: "RUN_CANCELLED" });
  expect(host.now - host.state.startedAt).toBeLessThan(100);
});

test("a run with calls is rebuilt from its events", () => {
  const host = hostOf(dag(call(), task("next", { after: ["c"] })), { callable }).dieAfter(2, 4);
  expect(endingOf(host.run())).toEqual({ status: "completed" });
});

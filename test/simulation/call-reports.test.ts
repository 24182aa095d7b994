import { expect, test } from "vitest";
import type { CallStep, Graph, Step } from "../../src/core/graph/graph.ts";
import {
  compare,
  dag,
  end,
  endingOf,
  fails,
  go,
  hostOf,
  inputOf,
  literal,
  machine,
  object,
  output,
  pathsOf,
  steps,
  task,
} from "./build.ts";
import { newGraph } from "./random-graph.ts";

function call(more: Partial<CallStep> = {}): CallStep {
  return { kind: "call", id: "c", workflow: literal("child"), input: object({}), reports: true, ...more };
}

const tell: Step = task("tell", { input: steps("c") });
const flow = machine([call({ transitions: [go("tell")] }), tell]);

function child(steps: readonly Step[], more: Parameters<typeof machine>[1] = {}): { readonly child: Graph } {
  return { child: newGraph("child", machine(steps, more)) };
}

test("a report tells how a called machine ended, where it stood, and what its variables were", () => {
  const callable = child([task("a", { assign: { session: output("id") }, transitions: [go("b")] }), task("b")], {
    reported: ["session"],
  });
  const host = hostOf(flow, {
    callable,
    script: { a: { output: { id: "s1" } }, b: { output: 7, delayMs: 1_500 } },
  }).run();
  expect(inputOf(host, "tell#1")).toEqual({
    success: true,
    timed_out: false,
    output: 7,
    step: "b",
    visits: 2,
    depth: 0,
    elapsed_seconds: expect.closeTo(1.5, 1),
    variables: { session: "s1" },
  });
});

test("a called run that fails is a report, and the caller goes on", () => {
  const callable = child([task("a", { transitions: [go("b")] }), task("b")]);
  const host = hostOf(flow, { callable, script: { b: fails("OUT") } }).run();
  expect(inputOf(host, "tell#1")).toMatchObject({
    success: false,
    error: { code: "OUT" },
    step: "b",
    visits: 2,
    output: null,
  });
  expect(endingOf(host)).toEqual({ status: "completed" });
  expect(host.state.failures).toEqual([]);
});

test("a call that cannot be made is a report", () => {
  const host = hostOf(machine([call({ workflow: literal("nobody"), transitions: [go("tell")] }), tell])).run();
  expect(inputOf(host, "tell#1")).toMatchObject({
    success: false,
    error: { code: "WORKFLOW_NOT_FOUND" },
    visits: 0,
    depth: 0,
  });
});

test("at the depth limit the innermost call is a report, and those around it tell how deep it went", () => {
  const again = { child: newGraph("child", machine([call({ transitions: [end()] })])) };
  const host = hostOf(flow, { callable: again, limits: { maxDepth: 3 } }).run();
  expect(inputOf(host, "tell#1")).toMatchObject({ success: true, depth: 2 });
  expect(endingOf(host)).toEqual({ status: "completed" });
});

test("conditions read a report", () => {
  const gate = call({ transitions: [go("tell", compare(output("error", "code"), "==", "OUT")), end("failure")] });
  const host = hostOf(machine([gate, tell]), { callable: child([task("a")]), script: { a: fails("OUT") } }).run();
  expect(pathsOf(host)).toEqual(["c#1/a#1", "tell#1"]);
});

test("the shorter of two time-outs counts: the called run's own, or its step's", () => {
  const callable = child([task("a")]);
  const script = { a: { output: 1, delayMs: 60_000 } };
  const terms = object({ timeoutMs: literal(1_000) });
  const own = machine([call({ terms, timeoutMs: 5_000, transitions: [go("tell")] }), tell]);
  expect(inputOf(hostOf(own, { callable, script }).run(), "tell#1")).toMatchObject({
    success: false,
    timed_out: true,
    error: { code: "RUN_TIMEOUT" },
    step: "a",
  });
  const outer = machine([call({ terms, timeoutMs: 500, transitions: [go("tell")] }), tell]);
  expect(inputOf(hostOf(outer, { callable, script }).run(), "tell#1")).toMatchObject({
    timed_out: true,
    error: { code: "TIMEOUT" },
  });
});

test("the time-out of a called run does not hold for flows inside it", () => {
  const inner: Step = { kind: "flow", id: "f", flow: dag(task("x")) };
  const callable = child([task("a", { transitions: [go("f")] }), inner]);
  const terms = object({ timeoutMs: literal(10_000) });
  const script = { a: { output: 1, delayMs: 8_000 }, x: { output: 1, delayMs: 8_000 } };
  const host = hostOf(machine([call({ terms, transitions: [go("tell")] }), tell]), { callable, script }).run();
  expect(host.state.startedAt + 10_000).toBeLessThanOrEqual(host.now);
  expect(inputOf(host, "tell#1")).toMatchObject({ error: { code: "RUN_TIMEOUT" }, step: "f" });
});

test("a machine may say in its own words that it made too many visits", () => {
  const callable = child([task("a", { transitions: [go("a")] })], { maxVisits: 3, tooManyVisits: "Enough of a." });
  const host = hostOf(flow, { callable }).run();
  expect(inputOf(host, "tell#1")).toMatchObject({
    error: { code: "MAX_VISITS", message: "Enough of a." },
    step: "a",
    visits: 3,
  });
});

test("cancel reaches into a reported call, which is no report then", () => {
  const host = hostOf(flow, { callable: child([task("a")]), script: { a: { output: 1, delayMs: 5_000 } } }).later(
    10,
    () => host.cancel(),
  );
  expect(endingOf(host.run())).toEqual({ status: "cancelled", code: "RUN_CANCELLED" });
  expect(pathsOf(host)).toEqual(["c#1/a#1"]);
});

test("a run with reports is rebuilt from its events", () => {
  const callable = child([task("a", { assign: { n: output() }, transitions: [go("b")] }), task("b")], {
    reported: ["n"],
  });
  const host = hostOf(flow, { callable, script: { b: fails("OUT") } })
    .dieAfter(2, 4, 6)
    .run();
  expect(inputOf(host, "tell#1")).toMatchObject({ success: false, variables: { n: "c#1/a#1" } });
});

import { expect, test } from "vitest";
import {
  compare,
  dag,
  each,
  endingOf,
  error,
  fails,
  hostOf,
  input,
  inputOf,
  item,
  literal,
  object,
  pathsOf,
  retry,
  steps,
  task,
  tooCostly,
} from "./build.ts";

test("steps that need nothing run side by side, and a join sees their outputs", () => {
  const host = hostOf(dag(task("a"), task("b"), task("c", { after: ["a", "b"] })), {
    script: { a: { output: 1, delayMs: 20 }, b: { output: 2, delayMs: 5 } },
  }).run();
  expect(pathsOf(host)).toEqual(["a", "b", "c"]);
  expect(inputOf(host, "c")).toEqual({ a: 1, b: 2 });
});

test("the output of a flow is its outputs by step id", () => {
  expect(
    hostOf(dag(task("a"), task("b")))
      .run()
      .output(),
  ).toEqual({ a: "a", b: "b" });
});

test("the output of a flow is that of the step named as its result", () => {
  expect(
    hostOf({ ...dag(task("a"), task("b")), result: "a" })
      .run()
      .output(),
  ).toBe("a");
});

test("a respond step shapes the output of its flow", () => {
  const flow = dag(task("a"), { kind: "respond", id: "r", after: ["a"], value: object({ said: steps("a") }) });
  expect(hostOf(flow).run().output()).toEqual({ said: "a" });
});

test("a fanned-out respond step gives the list, in the order of the items", () => {
  const flow = dag({ kind: "respond", id: "r", each: each(literal([1, 2, 3])), value: item() });
  expect(
    hostOf(flow, { outside: { bindMs: (path) => (path === "r[0]" ? 9 : 1) } })
      .run()
      .output(),
  ).toEqual([1, 2, 3]);
});

test("an empty flow ends at once", () => {
  expect(endingOf(hostOf(dag()).run())).toEqual({ status: "completed" });
});

test("a branch takes the step whose condition holds; the other is skipped and its output is null", () => {
  const high = compare(steps("score", "n"), ">", 5);
  const flow = dag(
    task("score"),
    task("good", { after: ["score"], when: high }),
    task("bad", { after: ["score"], when: { op: "not", of: high } }),
    task("join", { after: ["good", "bad"] }),
  );
  const host = hostOf(flow, { script: { score: { output: { n: 7 } } } }).run();
  expect(pathsOf(host)).toEqual(["score", "good", "join"]);
  expect(inputOf(host, "join")).toEqual({ good: "good", bad: null });
});

test.each([
  ["is not equal", { op: "compare", by: "!=", left: steps("a", "x"), right: literal("y") }],
  ["is null", { op: "compare", by: "==", left: steps("a"), right: literal(null) }],
  ["is not defined", { op: "not", of: { op: "defined", of: steps("a", "x") } }],
] as const)("the output of a skipped step is null to a condition too: %s", (_, when) => {
  const flow = dag(task("a", { when: literal(false) }), task("b", { after: ["a"], when }));
  expect(pathsOf(hostOf(flow).run())).toEqual(["b"]);
});

test("a condition may mix two outputs and the input", () => {
  const when = {
    op: "and",
    of: [compare(steps("a", "n"), "==", 1), { op: "compare", by: "==", left: steps("b"), right: input("wanted") }],
  } as const;
  const flow = dag(task("a"), task("b"), task("c", { after: ["a", "b"], when }));
  const script = { a: { output: { n: 1 } }, b: { output: "x" } };
  expect(pathsOf(hostOf(flow, { script, input: { wanted: "x" } }).run())).toContain("c");
  expect(pathsOf(hostOf(flow, { script, input: { wanted: "y" } }).run())).not.toContain("c");
});

test.each([
  ["abort", { status: "failed", code: "AGENT_FAILED" }, ["a", "long"]],
  ["skip", { status: "partial" }, ["a", "long", "b"]],
  ["continue", { status: "partial" }, ["a", "long", "b"]],
] as const)("on a final failure, %s", (onFailure, ending, paths) => {
  const flow = dag(task("a", { onFailure }), task("b", { after: ["a"] }), task("long"));
  const host = hostOf(flow, { script: { a: fails(), long: { output: 1, delayMs: 50 } } }).run();
  expect(endingOf(host)).toEqual(ending);
  expect(pathsOf(host).toSorted()).toEqual([...paths].toSorted());
});

test("an abort lets running siblings finish, and starts nothing more", () => {
  const flow = dag(task("bad"), task("slow"), task("after", { after: ["slow"] }));
  const host = hostOf(flow, { script: { bad: fails(), slow: { output: "done", delayMs: 50 } } }).run();
  expect(host.outputs().get("slow")).toBe("done");
  expect(pathsOf(host)).not.toContain("after");
});

test("a task that was held back does not start when the failure that frees its place ends the flow", () => {
  const host = hostOf(dag(task("a"), task("b")), { limits: { maxInFlight: 1 }, script: { a: fails() } }).run();
  expect(pathsOf(host)).toEqual(["a"]);
});

test("nobody overtakes a task that waits for a place", () => {
  const flow = dag(task("a"), task("b"), task("c"), task("after a", { after: ["a"] }));
  expect(pathsOf(hostOf(flow, { limits: { maxInFlight: 1 } }).run())).toEqual(["a", "b", "c", "after%20a"]);
});

test("a catch handles the failure, and its output becomes the step's", () => {
  const flow = dag(
    task("a", { catch: { ...dag(task("mend", { input: error("code") })), result: "mend" } }),
    task("b", { after: ["a"] }),
  );
  const host = hostOf(flow, { script: { a: fails("OUTPUT_INVALID") } }).run();
  expect(inputOf(host, "a~catch/mend")).toBe("OUTPUT_INVALID");
  expect(inputOf(host, "b")).toEqual({ a: "a~catch/mend" });
  expect(endingOf(host)).toEqual({ status: "completed" });
  expect(host.state.failures).toEqual([]);
});

test("a catch that fails itself is the end of the step, and it is not caught again", () => {
  const host = hostOf(dag(task("a", { catch: dag(task("mend")) })), {
    script: { a: fails(), mend: fails("OUTPUT_EMPTY") },
  }).run();
  expect(endingOf(host)).toEqual({ status: "failed", code: "OUTPUT_EMPTY" });
  expect(pathsOf(host)).toEqual(["a", "a~catch/mend"]);
});

test("a catch around a flow handles whatever fails inside", () => {
  const flow = dag({
    kind: "flow",
    id: "try",
    flow: dag(task("x"), task("y", { after: ["x"] })),
    catch: dag(task("mend")),
  });
  const host = hostOf(flow, { script: { x: fails() } }).run();
  expect(pathsOf(host)).toEqual(["try/x", "try~catch/mend"]);
  expect(endingOf(host)).toEqual({ status: "completed" });
  expect(host.state.failures).toEqual([]);
});

test.each([
  ["a success", { output: 1 }, "completed"],
  ["a failure", fails(), "failed"],
])("finally runs after %s", (_, result, status) => {
  const host = hostOf(dag(task("a", { finally: dag(task("tidy")) })), { script: { a: result } }).run();
  expect(pathsOf(host)).toEqual(["a", "a~finally/tidy"]);
  expect(host.status).toBe(status);
});

test("a finally that fails spoils a success, and leaves a failure the one that it was", () => {
  const flow = dag(task("a", { finally: dag(task("tidy")) }));
  expect(endingOf(hostOf(flow, { script: { tidy: fails("OUTPUT_EMPTY") } }).run())?.code).toBe("OUTPUT_EMPTY");
  const both = { a: fails("AGENT_FAILED"), tidy: fails("OUTPUT_EMPTY") };
  expect(endingOf(hostOf(flow, { script: both }).run())?.code).toBe("AGENT_FAILED");
});

test("a step that was never begun has nothing to tidy up", () => {
  const host = hostOf(dag(task("a", { when: literal(false), finally: dag(task("tidy")) }))).run();
  expect(pathsOf(host)).toEqual([]);
});

test("try, catch and finally run in this order", () => {
  const host = hostOf(dag(task("a", { catch: dag(task("mend")), finally: dag(task("tidy")) })), {
    script: { a: fails() },
  }).run();
  expect(pathsOf(host)).toEqual(["a", "a~catch/mend", "a~finally/tidy"]);
});

test("a nested flow sees the steps around it", () => {
  const flow = dag(task("a"), { kind: "flow", id: "in", after: ["a"], flow: dag(task("b", { input: steps("a") })) });
  expect(inputOf(hostOf(flow).run(), "in/b")).toBe("a");
});

test("a nested flow is retried as a whole, under paths of its own", () => {
  const flow = dag({ kind: "flow", id: "in", retry: retry(2), flow: dag(task("b")) });
  const host = hostOf(flow, { script: { "in/b": fails() } }).run();
  expect(pathsOf(host)).toEqual(["in/b", "in~retry1/b"]);
  expect(endingOf(host)).toEqual({ status: "completed" });
  expect(host.state.failures).toEqual([]);
});

test("a nested flow that takes longer than its time-out fails with TIMEOUT, and running tasks are told to stop", () => {
  const flow = dag({ kind: "flow", id: "in", timeoutMs: 10, flow: dag(task("slow")) });
  const host = hostOf(flow, { script: { slow: { output: 1, delayMs: 1_000 } } }).run();
  expect(endingOf(host)).toEqual({ status: "failed", code: "TIMEOUT" });
  expect(host.now - host.state.startedAt).toBeLessThan(100);
});

test("ids with a meaning in paths are escaped", () => {
  const flow = dag({ kind: "flow", id: "a/b", flow: dag(task("c#1[0]~")) });
  expect(pathsOf(hostOf(flow).run())).toEqual(["a%2Fb/c%231%5B0%5D%7E"]);
});

test("a run that takes longer than its time-out fails with RUN_TIMEOUT, and finally still runs", () => {
  const flow = dag(task("slow", { finally: dag(task("tidy")) }));
  const host = hostOf(flow, { limits: { timeoutMs: 50 }, script: { slow: { output: 1, delayMs: 1_000 } } }).run();
  expect(endingOf(host)).toEqual({ status: "failed", code: "RUN_TIMEOUT" });
  expect(pathsOf(host)).toEqual(["slow", "slow~finally/tidy"]);
});

test("a condition that is too costly fails its step: it is neither true nor false", () => {
  const flow = (onFailure: "abort" | "skip") =>
    dag(task("a", { when: tooCostly(), onFailure }), task("b", { when: { op: "not", of: tooCostly() }, onFailure }));
  const failed = hostOf(flow("abort")).run();
  expect([pathsOf(failed), endingOf(failed)]).toEqual([[], { status: "failed", code: "EXPRESSION_TOO_COSTLY" }]);
  expect(endingOf(hostOf(flow("skip")).run())).toEqual({ status: "partial" });
  const list = { op: "map", list: literal([1]), as: "x", body: tooCostly() } as const;
  const fanOut = hostOf(dag(task("a", { each: each(list) }))).run();
  expect([pathsOf(fanOut), endingOf(fanOut)]).toEqual([[], { status: "failed", code: "EXPRESSION_TOO_COSTLY" }]);
});

const WIDE = dag(task("a", { each: each(literal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])), input: item() }));

test("what one event makes ready begins in parts, each with an event of its own", () => {
  const host = hostOf(WIDE, { mostBegun: 4 }).start();
  expect(host.state.active.size).toBe(4);
  host.run();
  expect(pathsOf(host)).toEqual(["a[0]", "a[1]", "a[2]", "a[3]", "a[4]", "a[5]", "a[6]", "a[7]", "a[8]", "a[9]"]);
  expect(host.events.filter(({ event }) => event.type === "timerFired")).toHaveLength(2);
});

test("a history is replayed in the parts in which it was made", () => {
  const whole = hostOf(WIDE).start();
  const parts = hostOf(WIDE, { mostBegun: 4 }).start();
  expect(parts.rebuild(whole.events).active.size).toBe(10);
  expect(whole.rebuild(parts.events).active.size).toBe(4);
});

test("what was put off when its run is cancelled never begins", () => {
  const host = hostOf(WIDE, { mostBegun: 4 }).start();
  host.cancel();
  expect(host.run().status).toBe("cancelled");
  expect(host.calls).toHaveLength(4);
});

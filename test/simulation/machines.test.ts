import { expect, test } from "vitest";
import {
  compare,
  dag,
  each,
  end,
  endingOf,
  error,
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
  tooCostly,
  variable,
} from "./build.ts";

test("a machine takes one step at a time, along the first transition that holds", () => {
  const flow = machine([
    task("a", { transitions: [go("c", compare(output("n"), "==", 1)), go("b")] }),
    task("b"),
    task("c", { transitions: [end()] }),
  ]);
  expect(pathsOf(hostOf(flow, { script: { a: { output: { n: 1 } } } }).run())).toEqual(["a#1", "c#1"]);
  expect(pathsOf(hostOf(flow, { script: { a: { output: { n: 2 } } } }).run())).toEqual(["a#1", "b#1"]);
});

test("a machine's output is that of its last step", () => {
  expect(
    hostOf(machine([task("a", { transitions: [go("b")] }), task("b")]))
      .run()
      .output(),
  ).toBe("b#1");
});

test("a machine's output is that of its respond step, even if others follow", () => {
  const flow = machine([{ kind: "respond", id: "r", value: literal("shaped"), transitions: [go("b")] }, task("b")]);
  expect(hostOf(flow).run().output()).toBe("shaped");
});

test("a loop visits its steps again, and a path carries the visit", () => {
  const flow = machine([task("poll", { transitions: [go("poll", compare(output(), "<", 3)), end()] })]);
  const script = { "poll#1": { output: 1 }, "poll#2": { output: 2 }, "poll#3": { output: 3 } };
  expect(pathsOf(hostOf(flow, { script }).run())).toEqual(["poll#1", "poll#2", "poll#3"]);
});

test("a revisit reads the output of the visit before, in its input and in its condition", () => {
  const flow = machine([
    task("poll", {
      input: steps("poll", "n"),
      when: { op: "not", of: compare(steps("poll", "n"), "==", 2) },
      transitions: [go("poll", compare(output("n"), "<", 9)), end()],
    }),
  ]);
  const host = hostOf(flow, { script: { "poll#1": { output: { n: 1 } }, "poll#2": { output: { n: 2 } } } }).run();
  expect(pathsOf(host)).toEqual(["poll#1", "poll#2"]);
  expect(host.calls.map((call) => call.input)).toEqual([null, 1]);
});

test("visit comes before index: poll#2[1]", () => {
  const flow = machine([
    task("poll", { each: each(literal(["x", "y"])), transitions: [go("gate")] }),
    task("gate", { transitions: [go("poll", compare(output(), "==", "again")), end()] }),
  ]);
  const host = hostOf(flow, { script: { "gate#1": { output: "again" } } }).run();
  expect(pathsOf(host)).toEqual(["poll#1[0]", "poll#1[1]", "gate#1", "poll#2[0]", "poll#2[1]", "gate#2"]);
});

test("variables are set with the outcome, before its transitions are read", () => {
  const flow = machine(
    [
      task("a", {
        assign: { n: output("n") },
        transitions: [go("b", compare(variable("n"), "==", 5)), end("failure")],
      }),
      task("b", { input: object({ n: variable("n"), kept: variable("kept") }) }),
    ],
    { variables: { n: 0, kept: "yes" } },
  );
  const host = hostOf(flow, { script: { a: { output: { n: 5 } } } }).run();
  expect(inputOf(host, "b#1")).toEqual({ n: 5, kept: "yes" });
});

test("a step of a nested flow sets the variable of the flow that declares it", () => {
  const flow = machine(
    [
      {
        kind: "flow",
        id: "in",
        flow: dag({ kind: "set", id: "s", value: literal(7), assign: { n: output() } }),
        transitions: [go("b")],
      },
      task("b", { input: variable("n") }),
    ],
    { variables: { n: 0 } },
  );
  expect(inputOf(hostOf(flow).run(), "b#1")).toBe(7);
});

test("each visit of a nested machine begins with its first variables", () => {
  const inner = machine([{ kind: "set", id: "s", value: variable("n"), assign: { n: literal(9) } }], {
    variables: { n: 1 },
  });
  const flow = machine([
    { kind: "flow", id: "in", flow: inner, transitions: [go("again")] },
    { kind: "flow", id: "again", flow: inner },
  ]);
  expect(hostOf(flow).run().output()).toBe(1);
});

test("a failure takes the transition for failures, which sees the error as the step's output", () => {
  const flow = machine([
    task("a", {
      transitions: [
        go("b", undefined, "success"),
        go("mend", compare(output("error", "code"), "==", "AGENT_FAILED"), "failure"),
      ],
    }),
    task("b"),
    task("mend", { input: steps("a", "error", "code") }),
  ]);
  const host = hostOf(flow, { script: { a: fails() } }).run();
  expect(inputOf(host, "mend#1")).toBe("AGENT_FAILED");
  expect(endingOf(host)).toEqual({ status: "completed" });
});

test("a failure that no transition takes fails the machine with its own code", () => {
  const flow = machine([task("a", { transitions: [go("b", undefined, "success")] }), task("b")]);
  expect(endingOf(hostOf(flow, { script: { a: fails("OUTPUT_EMPTY") } }).run())).toEqual({
    status: "failed",
    code: "OUTPUT_EMPTY",
  });
});

test("a success that no transition takes is NO_TRANSITION", () => {
  const flow = machine([task("a", { transitions: [go("a", literal(false))] })]);
  expect(endingOf(hostOf(flow).run())).toEqual({ status: "failed", code: "NO_TRANSITION" });
});

test("an end in failure fails the machine", () => {
  expect(endingOf(hostOf(machine([task("a", { transitions: [end("failure")] })])).run())?.status).toBe("failed");
});

test.each(["skip", "continue"] as const)(
  "with on-failure %s a failed step goes on as a success, and the run is partial",
  (onFailure) => {
    const flow = machine([
      task("a", { onFailure, transitions: [go("b", undefined, "success"), go("c", undefined, "failure")] }),
      task("b"),
      task("c"),
    ]);
    const host = hostOf(flow, { script: { a: fails() } }).run();
    expect(pathsOf(host)).toEqual(["a#1", "b#1"]);
    expect(endingOf(host)).toEqual({ status: "partial" });
  },
);

test("an endless loop ends with MAX_VISITS, which names the loop", () => {
  const flow = machine([task("a", { transitions: [go("b")] }), task("b", { transitions: [go("a")] })], {
    maxVisits: 7,
  });
  const host = hostOf(flow).run();
  expect(endingOf(host)).toEqual({ status: "failed", code: "MAX_VISITS" });
  expect(host.state.ending?.message).toBe(
    '7 steps were visited; the next would be "b". Visited most: "a" 4 times, "b" 3 times.',
  );
  expect(host.calls).toHaveLength(7);
});

test("the visits of the whole run are limited too", () => {
  const inner = machine([task("x", { transitions: [go("x")] })], { maxVisits: 1_000 });
  const host = hostOf(dag({ kind: "flow", id: "in", flow: inner }), { limits: { maxVisits: 20 } }).run();
  expect(endingOf(host)).toEqual({ status: "failed", code: "MAX_VISITS" });
});

test("a loop of 100,000 visits that cost nothing is decided without recursion", () => {
  const flow = machine([{ kind: "set", id: "spin", transitions: [go("spin")] }]);
  const host = hostOf(flow, { checks: false }).run();
  expect(endingOf(host)?.code).toBe("MAX_VISITS");
  expect(host.state.visits).toBe(100_000);
});

test("a fan-out in a machine stops at the first item that aborts, and lets running ones finish", () => {
  const flow = machine([
    task("a", { each: each(literal([1, 2, 3, 4]), 2), transitions: [go("mend", undefined, "failure"), end()] }),
    task("mend"),
  ]);
  const host = hostOf(flow, {
    script: { "a#1[0]": fails("AGENT_FAILED", { delayMs: 1 }), "a#1[1]": { output: 1, delayMs: 30 } },
  }).run();
  expect(pathsOf(host)).toEqual(["a#1[0]", "a#1[1]", "mend#1"]);
  expect(host.outputs().get("a#1[1]")).toBe(1);
});

test("a while loop in a dag is a machine in a step", () => {
  const loop = machine([task("work", { transitions: [go("work", compare(output("left"), ">", 0)), end()] })]);
  const flow = dag({ kind: "flow", id: "loop", flow: loop }, task("after", { after: ["loop"] }));
  const host = hostOf(flow, {
    script: { "loop/work#1": { output: { left: 1 } }, "loop/work#2": { output: { left: 0 } } },
  }).run();
  expect(inputOf(host, "after")).toEqual({ loop: { left: 0 } });
});

test("a transition reads the output of a nested flow and of a fan-out by index", () => {
  const inner = dag(task("x"), { kind: "respond", id: "r", after: ["x"], value: object({ n: literal(4) }) });
  const flow = machine([
    { kind: "flow", id: "in", flow: inner, transitions: [go("many", compare(output("n"), "==", 4)), end("failure")] },
    task("many", {
      each: each(literal([1, 2])),
      transitions: [go("last", compare(steps("many", 1), "==", "many#1[1]")), end("failure")],
    }),
    task("last"),
  ]);
  expect(pathsOf(hostOf(flow).run()).at(-1)).toBe("last#1");
});

test("a catch in a machine reads the error, and its flow goes on", () => {
  const flow = machine([
    task("a", {
      catch: { ...dag(task("mend", { input: error("message") })), result: "mend" },
      transitions: [go("b", compare(output(), "==", "a#1~catch/mend")), end("failure")],
    }),
    task("b"),
  ]);
  const host = hostOf(flow, { script: { a: fails() } }).run();
  expect(pathsOf(host)).toEqual(["a#1", "a#1~catch/mend", "b#1"]);
});

test("a failure that a transition answers is no failure of the run; one that none answers is", () => {
  const mended = machine([task("a", { transitions: [go("b", undefined, "failure")] }), task("b")]);
  const answered = hostOf(mended, { script: { a: fails() } }).run();
  expect(endingOf(answered)).toMatchObject({ status: "completed" });
  expect(answered.state.failures).toEqual([]);

  const last = hostOf(mended, { script: { a: fails(), b: fails() } }).run();
  expect(last.state.failures).toMatchObject([{ path: "b#1" }]);
});

test("a failure inside a nested flow is forgotten when a transition answers the step around it", () => {
  const inner = machine([task("work")]);
  const flow = machine([
    { kind: "flow", id: "outer", flow: inner, transitions: [go("after", undefined, "failure")] },
    task("after"),
  ]);
  const host = hostOf(flow, { script: { work: fails() } }).run();
  expect(endingOf(host)).toMatchObject({ status: "completed" });
  expect(host.state.failures).toEqual([]);
});

test("an assignment reads how its step has failed, and leaves the variable alone where it has not", () => {
  const failure = { op: "path", root: "failure", path: ["code"] } as const;
  const flow = machine(
    [
      task("a", { assign: { last: failure }, transitions: [go("b")] }),
      task("b", { assign: { last: failure }, input: variable("last"), transitions: [go("c")] }),
      task("c", { input: variable("last") }),
    ],
    { variables: { last: null } },
  );
  // What only looks like a failure is none.
  const host = hostOf(flow, { script: { a: fails("FIRST"), b: { output: { error: { code: "OTHER" } } } } }).run();
  expect(inputOf(host, "b#1")).toBe("FIRST");
  expect(inputOf(host, "c#1")).toBe("FIRST");
});

test("a transition that is too costly fails the flow: the default is not taken in silence", () => {
  const flow = machine([task("a", { transitions: [go("b", tooCostly()), go("c")] }), task("b"), task("c")]);
  const host = hostOf(flow).run();
  expect([pathsOf(host), endingOf(host)]).toEqual([["a#1"], { status: "failed", code: "EXPRESSION_TOO_COSTLY" }]);
});

import { describe, expect, test } from "vitest";
import {
  compare,
  dag,
  each,
  end,
  go,
  input,
  item,
  literal,
  machine,
  object,
  output,
  retry,
  steps,
  task,
  variable,
} from "../../../test/simulation/build.ts";
import { newGraph, randomRun } from "../../../test/simulation/random-graph.ts";
import type { Expr } from "../expressions/expr.ts";
import { checkGraph } from "./check-graph.ts";
import type { Flow, Graph, Step } from "./graph.ts";
import { liftControls } from "./lift-controls.ts";

const check = (flow: Flow, more: Partial<Graph> = {}) => checkGraph({ ...newGraph("g", flow), ...more });
const messages = (flow: Flow) => check(flow).map(({ path, message }) => `${path ?? ""}: ${message}`);

/** An expression of so many levels. */
function deep(levels: number): Expr {
  let expr: Expr = literal(true);
  for (let n = 1; n < levels; n += 1) expr = { op: "not", of: expr };
  return expr;
}

function nest(levels: number): Flow {
  let flow: Flow = dag(task("x"));
  for (let n = 1; n < levels; n += 1) flow = dag({ kind: "flow", id: "f", flow });
  return flow;
}

describe("a graph that is wrong", () => {
  const wrong: readonly (readonly [string, Flow, string])[] = [
    ["an id twice", dag(task("a"), task("a")), ': Two steps have the id "a".'],
    [
      "an unknown need",
      dag(task("a", { after: ["b"], input: literal(1) })),
      'a: It runs after "b", which does not exist.',
    ],
    [
      "a circle",
      dag(task("a", { after: ["b"] }), task("b", { after: ["a"] })),
      ": Steps depend on each other in a circle.",
    ],
    ["a need of itself", dag(task("a", { after: ["a"] })), ": Steps depend on each other in a circle."],
    ["an unknown result", { ...dag(task("a")), result: "b" }, ': The result "b" is no step.'],
    ["an unknown start", machine([task("a")], { start: "b" }), ': The start "b" is no step.'],
    [
      "an unknown target",
      machine([task("a", { transitions: [go("b")] })]),
      'a: A transition leads to "b", which does not exist.',
    ],
    [
      "an unknown step in an input",
      dag(task("a", { input: steps("b") })),
      'a: In the input, the step "b" is not visible.',
    ],
    [
      "an inner step seen from outside",
      dag({ kind: "flow", id: "f", flow: dag(task("x")) }, task("a", { input: steps("x") })),
      'a: In the input, the step "x" is not visible.',
    ],
    [
      "an unbound local",
      dag(task("a", { input: { op: "path", root: "local", name: "x", path: [] } })),
      'a: In the input, the local "x" is not bound.',
    ],
    [
      "a window of none",
      dag(task("a", { each: each(input("l"), 0) })),
      "a: The window of a fan-out is a whole number from 1.",
    ],
    ["no tries", dag(task("a", { retry: retry(0) })), "a: A step is tried a whole number of times, from 1."],
    [
      "a delay that is no number",
      dag(task("a", { retry: retry(1, { initialMs: Number.NaN }) })),
      "a: The delays of a retry are finite and not negative.",
    ],
    [
      "too much jitter",
      dag(task("a", { retry: retry(1, { jitter: 2 }) })),
      "a: The jitter of a retry is a share from 0 to 1.",
    ],
    [
      "an expression that is too deep",
      dag(task("a", { input: deep(201) })),
      "a: The input is nested more than 200 deep.",
    ],
    [
      "a problem in a catch of a nested flow",
      dag({ kind: "flow", id: "f", flow: dag(task("x", { catch: dag(task("y", { input: steps("z") })) })) }),
      'f/x~catch/y: In the input, the step "z" is not visible.',
    ],
  ];

  test.each(wrong)("%s", (_, flow, message) => {
    expect(messages(flow)).toContain(message);
  });

  test("flows that are nested too deeply", () => {
    expect(check(nest(51)).map(({ message }) => message)).toEqual(["Flows are nested more than 50 deep."]);
  });

  test("a limit that is no whole number", () => {
    expect(check(dag(), { limits: { maxCostMicro: 0.5 } })[0]?.message).toBe(
      "The limit maxCostMicro is 0.5, and should be a whole number from 0.",
    );
    expect(check(dag(), { limits: { uses: { maxTokens: -1 } } })[0]?.message).toBe(
      "The limit maxTokens is -1, and should be a whole number from 0.",
    );
  });

  test("all problems are reported at once", () => {
    expect(check(dag(task("a", { input: steps("x") }), task("b", { input: steps("y") })))).toHaveLength(2);
  });
});

describe("a condition that cannot be decided", () => {
  const fan = task("fan", { each: each(input("list")) });
  const undecidable: readonly (readonly [string, readonly Step[], string])[] = [
    [
      "reads a whole fan-out",
      [fan, task("a", { after: ["fan"], when: compare(steps("fan", "ok"), "==", true) })],
      'It reads the outputs of "fan", a whole fan-out.',
    ],
    [
      "reads a step that need not have ended",
      [task("b"), task("a", { when: compare(steps("b"), "==", 1) })],
      'It reads "b", which need not have ended by then.',
    ],
    [
      "reads a stored file",
      [task("a", { when: { op: "path", root: "storage", name: "f", path: [] } })],
      "It reads a stored file.",
    ],
    [
      "reads an environment variable",
      [task("a", { when: { op: "path", root: "env", name: "E", path: [] } })],
      "It reads an environment variable.",
    ],
    [
      "reads an item outside of a fan-out",
      [task("a", { when: item("ok") })],
      "It reads an item outside of any fan-out.",
    ],
    [
      "reads an output that is not there yet",
      [task("a", { when: output("ok") })],
      "Only a transition reads the output of its own step.",
    ],
    [
      "filters by another step's value",
      [
        task("b"),
        task("c"),
        task("a", {
          after: ["b", "c"],
          when: { op: "filter", list: steps("b"), as: "x", body: compare(steps("c"), "==", 1) },
        }),
      ],
      "It maps or filters a list by values of other steps.",
    ],
    [
      "reads items of a whole fan-out",
      [fan, task("a", { after: ["fan"], each: each(steps("fan")), when: item("ok") })],
      "It reads an item of a whole fan-out.",
    ],
    [
      "takes a field of a fan-out as its list",
      [fan, task("a", { after: ["fan"], each: each(steps("fan", "list")) })],
      'It reads the outputs of "fan", a whole fan-out.',
    ],
  ];

  test.each(undecidable)("%s", (_, all, message) => {
    expect(check(dag(...all))).toContainEqual({ code: "CONTROL_TOO_COMPLEX", message, path: "a" });
  });
});

describe("a graph that is right", () => {
  const fan = task("fan", { each: each(input("list")) });
  const right: readonly (readonly [string, Flow])[] = [
    ["an empty flow", dag()],
    ["an expression of 200 levels", dag(task("a", { input: deep(200) }))],
    ["50 nested flows", nest(50)],
    ["an item's own output", dag(fan, task("a", { after: ["fan"], itemFields: ["x"], when: steps("fan", "ok") }))],
    ["an item of the input", dag(task("a", { each: each(input("list")), when: item("ok") }))],
    ["an item of a literal list", dag(task("a", { each: each(literal([1])), when: compare(item(), "==", 1) }))],
    ["one instance of a fan-out", dag(fan, task("a", { after: ["fan"], when: steps("fan", 0, "ok") }))],
    ["the length of a fan-out", dag(fan, task("a", { after: ["fan"], each: each(steps("fan")) }))],
    [
      "an outer step from inside",
      dag(task("b"), { kind: "flow", id: "f", after: ["b"], flow: dag(task("a", { when: steps("b", "ok") })) }),
    ],
    [
      "any step of a machine",
      machine([
        task("a", { when: steps("b"), transitions: [go("b")] }),
        task("b", { transitions: [go("a", compare(variable("n"), "<", 2)), end()] }),
      ]),
    ],
    [
      "two outputs",
      dag(
        task("b"),
        task("c"),
        task("a", { after: ["b", "c"], when: { op: "compare", by: "==", left: steps("b"), right: steps("c") } }),
      ),
    ],
    [
      "a local of a map",
      dag(
        task("a", {
          input: { op: "map", list: input("l"), as: "x", body: { op: "path", root: "local", name: "x", path: [] } },
        }),
      ),
    ],
    ["a whole fan-out in an input", dag(fan, task("a", { after: ["fan"], input: object({ all: steps("fan") }) }))],
  ];

  test.each(right)("%s", (_, flow) => {
    expect(check(flow)).toEqual([]);
    expect(checkGraph(liftControls(newGraph("g", flow)))).toEqual([]);
  });

  test("every drawn graph, before and after it is lifted", () => {
    const traits = { hasTimeouts: true, hasAborts: true, hasAtMostOnce: true, hasCalls: true };
    for (let seed = 1; seed <= 300; seed += 1) {
      const { graph } = randomRun(seed, 1 + (seed % 14), traits);
      expect([seed, checkGraph(graph)]).toEqual([seed, []]);
      expect([seed, checkGraph(liftControls(graph))]).toEqual([seed, []]);
    }
  });
});

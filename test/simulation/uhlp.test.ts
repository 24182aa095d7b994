import { describe, expect, test } from "vitest";
import { checkGraph } from "../../src/core/graph/check-graph.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { endingOf, fails, inputOf, pathsOf } from "./build.ts";
import type { CoreHost } from "./core-host.ts";
import { compileSteps, hostOfGraph, runSteps } from "./uhlp.ts";

const work = "type: mcp, target: t";

function dataOf(host: CoreHost): unknown {
  return (host.output() as { readonly data?: unknown }).data;
}

describe("transitions", () => {
  const unified = `steps:
  a:
    ${work.replace(", ", "\n    ")}
    transitions:
      - { condition: step.output.review == true, nextStep: review }
      - { nextStep: done }
      - { condition: step.output.error.code == 'TIMEOUT', nextStep: late }
      - { nextStep: broken }
  review: { ${work}, end: true }
  done: { ${work}, end: true }
  late: { ${work}, end: true }
  broken: { ${work}, end: true }
`;
  test.each([
    ["its condition holds", { output: { review: true } }, "review"],
    ["nothing holds after a success", { output: { review: false } }, "done"],
    ["its condition holds after a failure", fails("TIMEOUT"), "late"],
    ["nothing holds after a failure", fails("OTHER"), "broken"],
  ])("the list is taken in order: %s", async (_, result, wanted) => {
    expect(pathsOf(await runSteps(unified, { tasks: { a: result } }))).toEqual(["a#1", `${wanted}#1`]);
  });

  test("conditions of `conditionalTransitions` come before `onSuccess`, those of `onFailure` before the default", async () => {
    const yaml = `steps:
  a:
    type: mcp
    target: t
    transitions:
      onSuccess: done
      conditionalTransitions: [{ condition: step.output.n > 1, nextStepId: many }]
      onFailure: [{ condition: step.output.error.code == 'TIMEOUT', nextStep: late }]
      onFailureDefault: broken
  done: { ${work}, transitions: { end: true } }
  many: { ${work}, transitions: { end: true } }
  late: { ${work}, transitions: { end: true } }
  broken: { ${work}, transitions: { end: true } }
`;
    const last = async (result: Parameters<typeof fails>[1]) =>
      pathsOf(await runSteps(yaml, { tasks: { a: result as never } })).at(-1);
    expect(await last({ output: { n: 2 } } as never)).toBe("many#1");
    expect(await last({ output: { n: 1 } } as never)).toBe("done#1");
    expect(await last(fails("TIMEOUT"))).toBe("late#1");
    expect(await last(fails("OTHER"))).toBe("broken#1");
  });

  test("`onSuccess` does not answer for a failure: the run fails with the step's own", async () => {
    const yaml = `steps:\n  a: { ${work}, transitions: { onSuccess: b } }\n  b: { ${work}, end: true }\n`;
    expect(endingOf(await runSteps(yaml, { tasks: { a: fails("OWN") } }))).toEqual({ status: "failed", code: "OWN" });
  });

  test("an end after a failure ends the run as failed, with that failure", async () => {
    const yaml = `steps:\n  a: { ${work}, transitions: [{ nextStep: b }, { end: true }] }\n  b: { ${work}, end: true }\n`;
    expect(endingOf(await runSteps(yaml, { tasks: { a: fails("OWN") } }))).toEqual({ status: "failed", code: "OWN" });
  });

  test("an end with a condition ends as the step has ended", async () => {
    const yaml = `steps:\n  a: { ${work}, transitions: [{ condition: "true", end: true }] }\n`;
    expect(endingOf(await runSteps(yaml))).toEqual({ status: "completed" });
    expect(endingOf(await runSteps(yaml, { tasks: { a: fails("OWN") } }))).toEqual({ status: "failed", code: "OWN" });
  });

  test("a handled failure leaves the run completed", async () => {
    const yaml = `steps:\n  a: { ${work}, transitions: { onFailureDefault: b }, end: true }\n  b: { ${work}, end: true }\n`;
    expect(endingOf(await runSteps(yaml, { tasks: { a: fails("OWN") } }))).toEqual({ status: "completed" });
  });

  test("where no condition holds the run ends with NO_TRANSITION", async () => {
    const yaml = `steps:\n  a: { ${work}, transitions: [{ condition: step.output.x == 1, end: true }] }\n`;
    expect(endingOf(await runSteps(yaml))).toEqual({ status: "failed", code: "NO_TRANSITION" });
  });

  test("an endless loop ends with MAX_VISITS, which names the loop", async () => {
    const yaml = `maxSteps: 7\nstartAt: a\nsteps:\n  a: { ${work}, transitions: { onSuccess: b } }\n  b: { ${work}, transitions: { onSuccess: a } }\n`;
    const host = await runSteps(yaml);
    expect(endingOf(host)).toEqual({ status: "failed", code: "MAX_VISITS" });
    expect(host.state.ending?.message).toContain('"a" 4 times, "b" 3 times');
  });

  test("a loop of steps reads the output of the visit before, and the input of the run", async () => {
    const yaml = `steps:
  poll:
    type: mcp
    target: t
    inputMapping: { before: steps.poll.output.n, wanted: $.input.payload.wanted }
    transitions:
      - { condition: step.output.n < trigger.payload.wanted, nextStep: poll }
      - { end: true }
`;
    const host = await runSteps(yaml, {
      payload: { wanted: 2 },
      tasks: { poll: [{ output: { n: 1 } }, { output: { n: 2 } }] },
    });
    expect(pathsOf(host)).toEqual(["poll#1", "poll#2"]);
    expect(inputOf(host, "poll#2")).toMatchObject({ arguments: { before: 1, wanted: 2 } });
  });
});

describe("conditions that need more than is kept of outputs", () => {
  test.each([
    ["a regular list function", "length(filter(steps.a.output.list, x => x == trigger.payload.wanted)) == 1"],
    ["values of several steps", "contains(map(steps.a.output.list, x => x), step.output.x)"],
  ])("%s are computed when the step has ended", async (_, condition) => {
    const yaml = `steps:
  a: { ${work}, transitions: { onSuccess: b } }
  b:
    type: mcp
    target: t
    transitions:
      - { condition: "${condition}", nextStep: yes }
      - { nextStep: no }
  yes: { ${work}, end: true }
  no: { ${work}, end: true }
`
      .replaceAll("yes", "held")
      .replaceAll("no:", "not:")
      .replaceAll("nextStep: no ", "nextStep: not ");
    const graph = await compileSteps(yaml);
    expect(checkGraph(graph)).toEqual([]);
    const tasks = { a: { output: { list: [1, 2] } }, b: { output: { x: 2 } } };
    expect(pathsOf(hostOfGraph(graph, { payload: { wanted: 2 }, tasks }).run()).at(-1)).toBe("held#1");
    expect(
      pathsOf(hostOfGraph(graph, { payload: { wanted: 3 }, tasks: { ...tasks, b: { output: { x: 3 } } } }).run()).at(
        -1,
      ),
    ).toBe("not#1");
  });

  test("they are computed anew on every visit", async () => {
    const yaml = `steps:
  a:
    type: mcp
    target: t
    transitions:
      - { condition: "length(filter(step.output.list, x => x > 1)) > 0", nextStep: a }
      - { end: true }
`;
    const host = await runSteps(yaml, { tasks: { a: [{ output: { list: [2] } }, { output: { list: [1] } }] } });
    expect(pathsOf(host)).toEqual(["a#1", "a#2"]);
  });
});

describe("workflow.lastError", () => {
  const yaml = `steps:
  a: { ${work}, transitions: { onSuccess: b, onFailureDefault: b } }
  b: { ${work}, inputMapping: { code: workflow.lastError.code }, transitions: { onSuccess: c, onFailureDefault: c } }
  c: { ${work}, inputMapping: { code: workflow.lastError.code }, end: true }
`;
  test("is null before anything fails, and then the latest failure", async () => {
    const none = await runSteps(yaml);
    expect(inputOf(none, "c#1")).toMatchObject({ arguments: {} });
    const both = await runSteps(yaml, { tasks: { a: fails("FIRST"), b: fails("SECOND") } });
    expect(inputOf(both, "b#1")).toMatchObject({ arguments: { code: "FIRST" } });
    expect(inputOf(both, "c#1")).toMatchObject({ arguments: { code: "SECOND" } });
  });

  test("is not taken for a failure what only looks like one", async () => {
    const host = await runSteps(yaml, { tasks: { a: { output: { error: { code: "NOT_ONE" } } } } });
    expect(inputOf(host, "b#1")).toMatchObject({ arguments: {} });
  });

  test("stays what it was when a later step succeeds", async () => {
    const host = await runSteps(yaml, { tasks: { a: fails("FIRST") } });
    expect(inputOf(host, "c#1")).toMatchObject({ arguments: { code: "FIRST" } });
  });

  test("is known to conditions, and from inside of blocks", async () => {
    const nested = `steps:
  l: { type: control, subtype: loop, list: "[1]", continueOnError: true, body: { ${work} }, transitions: { onSuccess: d } }
  d: { ${work}, transitions: [{ condition: workflow.lastError.code == 'INNER', nextStep: e }, { end: true }] }
  e: { ${work}, end: true }
`;
    expect(pathsOf(await runSteps(nested, { tasks: { body: fails("INNER") } })).at(-1)).toBe("e#1");
  });
});

describe("formatResponse", () => {
  test("shapes the result, and ends", async () => {
    const yaml = `steps:
  a: { ${work}, transitions: { onSuccess: r } }
  r: { type: control, subtype: formatResponse, resultType: "'httpResponse'", data: { statusCode: 201, body: { id: steps.a.output.id, list: [trigger.payload.x, 2] } } }
`;
    const host = await runSteps(yaml, { payload: { x: 1 }, tasks: { a: { output: { id: 7 } } } });
    expect(host.output()).toEqual({
      resultType: "httpResponse",
      data: { statusCode: 201, body: { id: 7, list: [1, 2] } },
    });
  });

  test.each([
    "data: steps.a.output",
    "dataMapping: steps.a.output",
    "target: { data: steps.a.output }",
    "inputMapping: { data: steps.a.output }",
  ])("takes %s", async (field) => {
    const yaml = `steps:\n  a: { ${work}, transitions: { onSuccess: r } }\n  r: { type: control, subtype: formatResponse, ${field} }\n`;
    expect((await runSteps(yaml, { tasks: { a: { output: 5 } } })).output()).toEqual({
      resultType: "generic",
      data: 5,
    });
  });

  test.each(["trigger.payload.nowhere", "trigger.payload[trigger.payload.nowhere]", "null"])(
    "data of nothing is null: %s",
    async (data) => {
      const yaml = `steps:\n  r: { type: control, subtype: formatResponse, data: "${data}" }\n`;
      expect((await runSteps(yaml)).output()).toStrictEqual({ resultType: "generic", data: null });
    },
  );
});

describe("loop", () => {
  const loop = (more: string) => `steps:
  l: { type: control, subtype: loop, list: trigger.payload.list, ${more}, transitions: { onSuccess: r } }
  one: { ${work}, inputMapping: { value: item, number: index } }
  r: { type: control, subtype: formatResponse, data: steps.l.output }
`;

  test.each(["body: one", "loopBodyStepId: one"])("runs %s for each item, in order", async (body) => {
    const host = await runSteps(loop(body), { payload: { list: ["x", "y"] } });
    expect(pathsOf(host)).toEqual(["l#1/one[0]", "l#1/one[1]"]);
    expect(dataOf(host)).toEqual([{ one: { value: "x", number: 0 } }, { one: { value: "y", number: 1 } }]);
  });

  test("does one item after the other unless told otherwise", async () => {
    const inFlight = async (more: string) => {
      const host = await runSteps(loop(`body: one${more}`), {
        payload: { list: [1, 2, 3] },
        tasks: { one: { output: 1, delayMs: 10 } },
      });
      return host.now;
    };
    expect((await inFlight("")) - (await inFlight(", maxConcurrency: 3"))).toBe(20);
  });

  test("an empty list gives an empty list", async () => {
    expect(dataOf(await runSteps(loop("body: one"), { payload: { list: [] } }))).toEqual([]);
  });

  test.each([[null], ["text"], [{ a: 1 }], [undefined]])("%j is no list and fails the step", async (list) => {
    const payload: JsonObject = list === undefined ? {} : { list };
    expect(endingOf(await runSteps(loop("body: one"), { payload }))).toEqual({
      status: "failed",
      code: "LIST_MISSING",
    });
    const computed = loop("body: one").replace("trigger.payload.list", '"coalesce(trigger.payload.list, null)"');
    expect(endingOf(await runSteps(computed, { payload }))).toEqual({ status: "failed", code: "LIST_MISSING" });
  });

  test("what is no list fails also where items may fail", async () => {
    const yaml = loop("body: one, continueOnError: true");
    expect(endingOf(await runSteps(yaml, { payload: { list: "x" } }))).toEqual({
      status: "failed",
      code: "LIST_MISSING",
    });
    const computed = yaml.replace("trigger.payload.list", "coalesce(trigger.payload.list)");
    expect(endingOf(await runSteps(computed, {}))).toEqual({ status: "failed", code: "LIST_MISSING" });
    expect(dataOf(await runSteps(computed, { payload: { list: [] } }))).toEqual([]);
  });

  test("the failure of an item is that of the step, which its transitions read", async () => {
    const yaml = loop("body: one").replace(
      "{ onSuccess: r }",
      "{ onFailure: [{ condition: step.output.error.code == 'BAD', nextStep: r }], end: true }",
    );
    const host = await runSteps(yaml, { payload: { list: [1] }, tasks: { one: fails("BAD") } });
    expect(dataOf(host)).toMatchObject({ error: { code: "BAD" } });
  });

  test("with `continueOnError` a failed item gives null, and the run is partial", async () => {
    const host = await runSteps(loop("body: one, continueOnError: true"), {
      payload: { list: [1, 2] },
      tasks: { one: [fails(), { output: "fine" }] },
    });
    expect(dataOf(host)).toEqual([null, "fine"]);
    expect(endingOf(host)).toEqual({ status: "partial" });
  });

  test("a body of several steps branches by its item, and a transition back to the loop ends it", async () => {
    const yaml = `steps:
  l: { type: control, subtype: loop, list: trigger.payload.list, iteratorVar: order, body: check, end: true }
  check:
    type: mcp
    target: t
    transitions:
      - { condition: order.total > 10, nextStep: big }
      - { nextStep: l }
  big: { ${work}, inputMapping: { id: order.id } }
`;
    const host = await runSteps(yaml, {
      payload: {
        list: [
          { id: 1, total: 5 },
          { id: 2, total: 50 },
        ],
      },
      tasks: { check: { output: "small" } },
    });
    expect(host.output()).toEqual(["small", { big: { id: 2 } }]);
  });

  test("conditions inside of a loop in a loop read both items", async () => {
    const yaml = `steps:
  outer:
    type: control
    subtype: loop
    list: trigger.payload.rows
    iteratorVar: row
    body:
      type: control
      subtype: loop
      list: row.cells
      iteratorVar: cell
      body:
        startAt: look
        steps:
          look: { ${work}, transitions: [{ condition: cell == row.wanted, nextStep: found }, { end: true }] }
          found: { ${work}, inputMapping: { cell: cell, row: row.wanted, number: index } }
    end: true
`;
    const graph = await compileSteps(yaml);
    expect(checkGraph(graph)).toEqual([]);
    const rows = [
      { wanted: 2, cells: [1, 2] },
      { wanted: 3, cells: [3] },
    ];
    const host = hostOfGraph(graph, { payload: { rows }, tasks: { look: { output: "no" } } }).run();
    expect(host.output()).toEqual([
      ["no", { found: { cell: 2, row: 2, number: 1 } }],
      [{ found: { cell: 3, row: 3, number: 0 } }],
    ]);
  });

  test("what the body reads of steps around it is there", async () => {
    const yaml = `steps:
  a: { ${work}, transitions: { onSuccess: l } }
  l: { type: control, subtype: loop, list: steps.a.output.list, body: { ${work}, inputMapping: { rate: steps.a.output.rate } }, end: true }
`;
    const host = await runSteps(yaml, { tasks: { a: { output: { list: [1], rate: 9 } } } });
    expect(host.output()).toEqual([{ body: { rate: 9 } }]);
  });

  test("`maxSteps` counts for each pass of the body", async () => {
    const yaml = `maxSteps: 3\nstartAt: l\nsteps:
  l: { type: control, subtype: loop, list: trigger.payload.list, body: a, end: true }
  a: { ${work}, transitions: { onSuccess: b } }
  b: { ${work} }
`;
    expect(endingOf(await runSteps(yaml, { payload: { list: [1, 2, 3, 4] } }))).toEqual({ status: "completed" });
  });
});

describe("parallel", () => {
  test("gives the output of each branch under its name", async () => {
    const yaml = `steps:
  p:
    type: control
    subtype: parallel
    branches:
      one: { ${work} }
      two: { startAt: x, steps: { x: { ${work}, transitions: { onSuccess: y } }, y: { ${work}, inputMapping: { from: steps.x.output } } } }
      three: c
    end: true
  c: { ${work} }
`;
    const host = await runSteps(yaml, { tasks: { one: { output: 1 }, x: { output: 2 }, c: { output: 3 } } });
    expect(host.output()).toEqual({ one: 1, two: { y: { from: 2 } }, three: 3 });
  });

  test("takes a list of steps, whose ids are the names, and runs them side by side", async () => {
    const yaml = `steps:\n  p: { type: control, subtype: parallel, branches: [a, b], end: true }\n  a: { ${work} }\n  b: { ${work} }\n`;
    const host = await runSteps(yaml, { tasks: { a: { output: 1, delayMs: 50 }, b: { output: 2, delayMs: 50 } } });
    expect(host.output()).toEqual({ a: 1, b: 2 });
    expect(host.now - 1_700_000_000_000).toBe(50);
  });

  test("a branch that fails fails the step, unless it goes on with null", async () => {
    const yaml = (more: string) =>
      `steps:\n  p: { type: control, subtype: parallel, branches: [a, b]${more}, end: true }\n  a: { ${work} }\n  b: { ${work} }\n`;
    const tasks = { a: fails("BAD"), b: { output: 2 } };
    expect(endingOf(await runSteps(yaml(""), { tasks }))).toEqual({ status: "failed", code: "BAD" });
    expect((await runSteps(yaml(", continueOnError: true"), { tasks })).output()).toEqual({ a: null, b: 2 });
  });
});

describe("branch, split, merge", () => {
  test.each([
    [{ n: 5 }, "many"],
    [{ n: 1 }, "one"],
    [{}, "none"],
  ])("branch goes the first way that holds: %j", async (payload, wanted) => {
    const yaml = `steps:
  b: { type: control, subtype: branch, branches: [{ condition: trigger.payload.n > 1, nextStep: many }, { condition: defined(trigger.payload.n), nextStep: one }], default: none }
  many: { ${work}, end: true }
  one: { ${work}, end: true }
  none: { ${work}, end: true }
`;
    expect(pathsOf(await runSteps(yaml, { payload }))).toEqual([`${wanted}#1`]);
  });

  const split = (more: string) => `steps:
  s: { type: control, subtype: split, list: trigger.payload.list, routes: { big: { condition: item.n > 10 }, even: { condition: item.even == true, body: { ${work}, inputMapping: { n: item.n } } } }${more}, end: true }
`;
  const list: Json = [{ n: 20, even: true }, { n: 2, even: true }, { n: 3 }];

  test("split gives each item to the first route that holds, and leaves the others out", async () => {
    const host = await runSteps(split(""), { payload: { list } });
    expect(host.output()).toEqual({ big: [{ n: 20, even: true }], even: [{ even: { n: 2 } }] });
  });

  test("split has a route for the rest", async () => {
    const host = await runSteps(split(", default: rest"), { payload: { list } });
    expect(host.output()).toEqual({ big: [{ n: 20, even: true }], even: [{ even: { n: 2 } }], rest: [{ n: 3 }] });
    const onto = await runSteps(split(", default: big"), { payload: { list } });
    expect(onto.output()).toMatchObject({ big: [{ n: 20, even: true }, { n: 3 }] });
  });

  test.each([[null], ["x"], [undefined]])("split fails on %j", async (wrong) => {
    const payload: JsonObject = wrong === undefined ? {} : { list: wrong };
    expect(endingOf(await runSteps(split(""), { payload }))?.code).toBe("LIST_MISSING");
  });

  test("split of an empty list has empty routes", async () => {
    expect((await runSteps(split(", default: rest"), { payload: { list: [] } })).output()).toEqual({
      big: [],
      even: [],
      rest: [],
    });
  });

  test.each([
    [
      "strategy: append, sources: [trigger.payload.a, trigger.payload.b, 5]",
      [{ id: 1, x: 1 }, { id: 2 }, { id: 1, y: 2 }, 5],
    ],
    ['strategy: object, sources: ["trigger.payload.a[0]", "trigger.payload.b[0]"]', { id: 1, x: 1, y: 2 }],
    ["strategy: object, sources: { left: trigger.payload.c, right: 2 }", { left: "c", right: 2 }],
    ["strategy: byKey, key: id, sources: [trigger.payload.a, trigger.payload.b]", [{ id: 1, x: 1, y: 2 }, { id: 2 }]],
    ["inputMapping: { sources: [trigger.payload.c] }", ["c"]],
  ])("merge with %s", async (fields, wanted) => {
    const yaml = `steps:\n  m: { type: control, subtype: merge, ${fields}, end: true }\n`;
    const payload: JsonObject = { a: [{ id: 1, x: 1 }, { id: 2 }], b: [{ id: 1, y: 2 }], c: "c" };
    expect((await runSteps(yaml, { payload })).output()).toEqual(wanted);
  });
});

describe("wait", () => {
  test.each([
    ["duration: 90", 90_000],
    ["duration: 1m30s", 90_000],
    ["duration: trigger.payload.pause", 5_000],
    ["inputMapping: { duration: trigger.payload.pause }", 5_000],
    ["target: { duration: 2s }", 2_000],
  ])("takes %s", async (field, durationMs) => {
    const yaml = `steps:\n  w: { type: control, subtype: wait, ${field}, end: true }\n`;
    const host = await runSteps(yaml, { payload: { pause: "5s" } });
    expect(host.now - 1_700_000_000_000).toBe(durationMs);
  });

  test("for an event gives what the event brings", async () => {
    const yaml = `steps:\n  w: { type: control, subtype: wait, event: order.paid, end: true }\n`;
    const outside = { signal: (_: string, name: string) => ({ payload: { name }, delayMs: 5 }) };
    expect((await runSteps(yaml, { outside })).output()).toEqual({ name: "order.paid" });
  });

  test("for an event that does not come in time fails with WAIT_TIMED_OUT, which transitions read", async () => {
    const yaml = `steps:
  w: { type: control, subtype: wait, event: "'order-paid'", timeout: 10s, transitions: { onFailure: [{ condition: step.output.error.code == 'WAIT_TIMED_OUT', nextStep: late }], end: true } }
  late: { ${work}, end: true }
`;
    expect(pathsOf(await runSteps(yaml))).toEqual(["late#1"]);
  });

  test("for what is no time fails, which transitions read", async () => {
    const yaml = `steps:
  w: { type: control, subtype: wait, until: trigger.payload.when, transitions: [{ end: true }, { condition: step.output.error.code == 'WAIT_INVALID', nextStep: odd }] }
  odd: { ${work}, end: true }
`;
    expect(pathsOf(await runSteps(yaml, { payload: { when: "soon" } }))).toEqual(["odd#1"]);
  });
});

describe("subworkflow", () => {
  const yaml = `steps:
  s: { type: control, subtype: subworkflow, workflowId: child, params: { b: 2 }, inputMapping: { a: trigger.payload.a }, outputMapping: { got: step.output.data }, transitions: { onSuccess: r, onFailure: [{ condition: step.output.error.code == 'WORKFLOW_NOT_FOUND', nextStep: gone }] } }
  r: { type: control, subtype: formatResponse, data: steps.s.output.got }
  gone: { ${work}, end: true }
`;
  test("passes the input on and gives what the workflow answers", async () => {
    const child = await compileSteps("steps:\n  r: { type: control, subtype: formatResponse, data: $.input.sum }\n");
    const host = await runSteps(yaml, { callable: { child }, payload: { a: 1 } });
    const called = host.events.find(({ event }) => event.type === "callResolved");
    expect(called?.value).toEqual({ a: 1, b: 2 });
    expect(endingOf(host)).toEqual({ status: "completed" });
  });

  test("a workflow that is not there is a failure that transitions read", async () => {
    expect(pathsOf(await runSteps(yaml))).toEqual(["gone#1"]);
  });
});

describe("failOnError", () => {
  const child = (resultType: string) =>
    `steps:\n  r: { type: control, subtype: formatResponse, resultType: ${resultType}, data: { code: "'NO'", message: "'why'" } }\n`;
  const parent = `steps:
  s: { type: control, subtype: subworkflow, workflowId: child, failOnError: true, transitions: [{ condition: step.output.error.code == 'NO', nextStep: b }, { nextStep: c }] }
  b: { ${work}, inputMapping: { output: steps.s.output }, end: true }
  c: { ${work}, inputMapping: { output: steps.s.output }, end: true }
`;

  test("makes a failure of an answer that is an error, and of no other", async () => {
    const fine = await runSteps(parent, { callable: { child: await compileSteps(child("generic")) } });
    expect(inputOf(fine, "c#1")).toMatchObject({ arguments: { output: { resultType: "generic" } } });
    const failed = await runSteps(parent, {
      callable: { child: await compileSteps(child("error")) },
      tasks: { refused: fails("NO") },
    });
    expect(inputOf(failed, "s#1/refused#1")).toMatchObject({ code: "NO", message: "why" });
    expect(inputOf(failed, "b#1")).toMatchObject({ arguments: { output: { error: { code: "NO" } } } });
  });
});

describe("try", () => {
  const yaml = (more = "") => `steps:
  t: { type: control, subtype: try, body: a, catch: mend, finally: clean${more}, transitions: { onSuccess: r } }
  a: { ${work}, transitions: { onSuccess: b } }
  b: { ${work} }
  mend: { ${work}, inputMapping: { code: error.code, message: error.message }, transitions: [{ condition: error.code == 'RARE', nextStep: rare }, { end: true }] }
  rare: { ${work} }
  clean: { ${work} }
  r: { type: control, subtype: formatResponse, data: steps.t.output }
`;

  test("the body's output is the step's, and `finally` runs after it", async () => {
    const host = await runSteps(yaml(), { tasks: { b: { output: "fine" } } });
    expect(pathsOf(host)).toEqual(
      ["t#1/a#1", "t#1/b#1", "t#1~finally/clean"].map((path) => expect.stringContaining(path)),
    );
    expect(dataOf(host)).toBe("fine");
  });

  test("after a failure the output of `catch` is the step's, which knows the error", async () => {
    const host = await runSteps(yaml(), { tasks: { b: fails("BAD") } });
    expect(dataOf(host)).toEqual({ mend: { code: "BAD", message: "t#1/b#1 failed" } });
    expect(pathsOf(host).at(-1)).toContain("~finally/clean");
    expect(endingOf(host)).toEqual({ status: "completed" });
  });

  test("conditions in `catch` read the error", async () => {
    const host = await runSteps(yaml(), { tasks: { b: fails("RARE") } });
    expect(pathsOf(host).some((path) => path.includes("rare"))).toBe(true);
  });

  test("a failure in `catch` is the step's, and `finally` runs all the same", async () => {
    const host = await runSteps(yaml(), { tasks: { b: fails("BAD"), mend: fails("WORSE") } });
    expect(endingOf(host)).toEqual({ status: "failed", code: "WORSE" });
    expect(pathsOf(host).at(-1)).toContain("~finally/clean");
  });

  const reading = (more = "") => `steps:
  t: { type: control, subtype: try, body: a, catch: mend, finally: clean${more}, transitions: { onSuccess: r } }
  a: { ${work}, transitions: { onSuccess: b } }
  b: { ${work}, transitions: [{ condition: "step.output == 'on'", nextStep: c }, { end: true }] }
  c: { ${work} }
  mend: { ${work}, inputMapping: { a: steps.a.output.id, why: steps.b.output.error.code, c: "coalesce(steps.c.output, 'none')" }, transitions: [{ condition: steps.a.output.id == 7, nextStep: seven }, { end: true }] }
  seven: { ${work}, inputMapping: { a: steps.a.output, was: steps.mend.output } }
  clean: { ${work}, inputMapping: { a: steps.a.output.id, c: steps.c.output }, transitions: [{ condition: defined(steps.c.output), nextStep: late }, { end: true }] }
  late: { ${work} }
  r: { type: control, subtype: formatResponse, data: steps.t.output }
`;

  test("`catch` and `finally` read the outputs of the steps that were tried, in inputs and conditions", async () => {
    const host = await runSteps(reading(), {
      tasks: { a: { output: { id: 7 } }, b: fails("BAD"), mend: { output: "m" } },
    });
    expect(inputOf(host, "t#1~catch/mend#1")).toMatchObject({ arguments: { a: 7, why: "BAD", c: "none" } });
    expect(dataOf(host)).toEqual({ seven: { a: { id: 7 }, was: "m" } });
    expect(inputOf(host, "t#1~finally/clean#1")).toMatchObject({ arguments: { a: 7 } });
    expect(pathsOf(host).at(-1)).toContain("~finally/clean");
  });

  test("`finally` reads them after a success as well", async () => {
    const host = await runSteps(reading(), {
      tasks: { a: { output: { id: 1 } }, b: { output: "on" }, c: { output: "x" } },
    });
    expect(inputOf(host, "t#1~finally/clean#1")).toMatchObject({ arguments: { a: 1, c: "x" } });
    expect(pathsOf(host).at(-1)).toContain("~finally/late");
  });

  test("of several tries, the last one is read", async () => {
    const host = await runSteps(reading(", retryPolicy: { maxAttempts: 2, jitter: 0 }"), {
      tasks: { a: [{ output: { id: 1 } }, { output: { id: 2 } }], b: fails("BAD") },
    });
    expect(inputOf(host, "t#1~catch/mend#1")).toMatchObject({ arguments: { a: 2 } });
  });

  test("the block is tried again before `catch` runs", async () => {
    const host = await runSteps(yaml(", retryPolicy: { maxAttempts: 2, jitter: 0 }"), {
      tasks: { b: [fails("BAD"), { output: "second" }] },
    });
    expect(dataOf(host)).toBe("second");
  });
});

describe("what every step may have", () => {
  test("`outputMapping` shapes what others read, and failures stay what they are", async () => {
    const yaml = `steps:
  a: { ${work}, outputMapping: { id: step.output.result.id, first: "step.output.list[0]" }, retryPolicy: { maxAttempts: 2 }, transitions: [{ condition: step.output.id == 7, nextStep: r }, { nextStep: r }, { nextStep: f }] }
  r: { type: control, subtype: formatResponse, data: steps.a.output }
  f: { type: control, subtype: formatResponse, data: steps.a.output.error.code }
`;
    const fine = await runSteps(yaml, { tasks: { a: { output: { result: { id: 7 }, list: ["x"] } } } });
    expect(dataOf(fine)).toEqual({ id: 7, first: "x" });
    expect(dataOf(await runSteps(yaml, { tasks: { a: fails("BAD") } }))).toBe("BAD");
  });

  test("a step with `outputMapping` reads its own output of the visit before", async () => {
    const yaml = `steps:
  a: { ${work}, inputMapping: { before: steps.a.output }, outputMapping: step.output.n, transitions: [{ condition: step.output < 2, nextStep: a }, { end: true }] }
`;
    const host = await runSteps(yaml, { tasks: { a_: [{ output: { n: 1 } }, { output: { n: 2 } }] } });
    expect(host.calls.map(({ input }) => (input as { arguments: unknown }).arguments)).toEqual([{}, { before: 1 }]);
    expect(host.output()).toBe(2);
  });

  test("a retry policy repeats the step before its failure counts", async () => {
    const yaml = `steps:\n  a: { ${work}, retryPolicy: { maxAttempts: 3, backoff: fixed, initialDelay: 2s, jitter: false }, end: true }\n`;
    const host = await runSteps(yaml, { tasks: { a: [fails(), fails(), { output: "third" }] } });
    expect(host.output()).toBe("third");
    expect(host.now - 1_700_000_000_000).toBe(4_003);
  });

  test("tools are told of the request what it has", async () => {
    const yaml = `steps:\n  a: { type: mcp, target: { tool: core.x, server: s }, params: { fixed: [1, "$.input.payload.a"], over: 1 }, inputMapping: { over: 2, text: "'it is'" }, end: true }\n`;
    const host = await runSteps(yaml, { payload: { a: "A" }, context: { appId: "shop", mcp_endpoint: "http://x" } });
    expect(inputOf(host, "a#1")).toEqual({
      tool: "core.x",
      server: "s",
      arguments: { fixed: [1, "A"], over: 2, text: "it is" },
      context: { appId: "shop", endpoint: "http://x" },
    });
  });
});

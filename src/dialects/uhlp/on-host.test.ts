import { expect, test } from "vitest";
import { fail, type Play, succeed, World } from "../../../test/faults/world.ts";
import { compileSteps } from "../../../test/simulation/uhlp.ts";
import { liftControls } from "../../core/graph/lift-controls.ts";
import type { Json } from "../../core/json.ts";
import { failExecutor } from "../../executors/fail-executor.ts";

/** Runs the steps on the real host, in memory; the paths that reached the executor, and how it ended. */
async function runOnHost(yaml: string, plays: { readonly [stepId: string]: Play }, payload: Json = {}) {
  const world = new World({ plays });
  const graph = liftControls(await compileSteps(yaml));
  const { id, status, error } = await world.run(graph, {
    requestData: { source: "internal", payload },
    context: {},
  });
  const inputs = Object.fromEntries(world.calls.map(({ stepId, input }) => [stepId, argumentsOf(input)]));
  return { world, id, status, error, inputs, defects: world.defects };
}

function argumentsOf(input: Json): Json | undefined {
  return (input as { readonly arguments?: Json }).arguments;
}

test("workflow.lastError has code, message and details of the latest failure", async () => {
  const yaml = `steps:
  a: { type: mcp, target: t, transitions: { onSuccess: b, onFailureDefault: b } }
  b: { type: mcp, target: t, inputMapping: { last: workflow.lastError }, end: true }
`;
  const { inputs, status } = await runOnHost(yaml, {
    a: () => fail("BAD", { message: "no", details: { why: "x" } }),
  });
  expect(inputs["b"]).toEqual({ last: { code: "BAD", message: "no", details: { why: "x" } } });
  expect(status).toBe("completed");
});

test("`reduce` is mapped, decides a transition, and sees steps, variables and other lists around it", async () => {
  const total = "reduce(steps.items.output, (sum, item) => sum + item.price * trigger.payload.times, 0)";
  const yaml = `steps:
  items: { type: mcp, target: t, transitions: [{ condition: "${total.replace("steps.items", "step")} > 20", nextStep: dear }, { nextStep: cheap }] }
  dear: { type: mcp, target: t, inputMapping: { total: "${total}", best: "reduce(steps.items.output, (best, item) => item.price > best.price ? item : best, {price: 0}).name", none: "reduce(steps.items.output, (sum, item) => sum + item.gone, 0)" }, end: true }
  cheap: { type: mcp, target: t, end: true }
`;
  const items = [
    { name: "a", price: 3 },
    { name: "b", price: 5 },
  ];
  const run = (times: number) => runOnHost(yaml, { items: () => succeed(items) }, { times });
  expect((await run(3)).inputs["dear"]).toEqual({ total: 24, best: "b" });
  expect(Object.keys((await run(2)).inputs)).toContain("cheap");
});

test("a failure that comes before any executor is read by conditions", async () => {
  const yaml = `steps:
  s: { type: control, subtype: subworkflow, workflowId: gone, transitions: [{ condition: step.output.error.code == 'WORKFLOW_NOT_FOUND', nextStep: b }, { end: true }] }
  b: { type: mcp, target: t, inputMapping: { last: workflow.lastError.code, message: steps.s.output.error.message }, end: true }
`;
  const { inputs } = await runOnHost(yaml, {});
  expect(inputs["b"]).toEqual({ last: "WORKFLOW_NOT_FOUND", message: 'No workflow "gone".' });
});

test("a time that cannot be waited for is a failure that conditions read", async () => {
  const yaml = `steps:
  w: { type: control, subtype: wait, duration: trigger.payload.soon, transitions: { onFailure: [{ condition: step.output.error.code == 'WAIT_INVALID', nextStep: b }], end: true } }
  b: { type: mcp, target: t, end: true }
`;
  const { inputs, status } = await runOnHost(yaml, {}, { soon: "in a while" });
  expect(Object.keys(inputs)).toEqual(["b"]);
  expect(status).toBe("completed");
});

test("a condition on details of an error, and on items of loops around, is computed on full values", async () => {
  const yaml = `steps:
  outer:
    type: control
    subtype: loop
    list: trigger.payload
    iteratorVar: row
    end: true
    body:
      type: control
      subtype: try
      body: { type: mcp, target: t, inputMapping: { row: row } }
      catch:
        startAt: look
        steps:
          look: { type: mcp, target: t, transitions: [{ condition: error.details.retry == row.retry, nextStep: again }, { end: true }] }
          again: { type: mcp, target: t, inputMapping: { row: row.id } }
`;
  const { world, status, defects } = await runOnHost(
    yaml,
    { body: () => fail("BAD", { details: { retry: "yes" } }), look: () => succeed("left") },
    [
      { id: 1, retry: "yes" },
      { id: 2, retry: "no" },
    ],
  );
  expect(world.calls.filter(({ stepId }) => stepId === "again").map(({ input }) => argumentsOf(input))).toEqual([
    { row: 1 },
  ]);
  expect(status).toBe("completed");
  expect(defects).toEqual([]);
});

test("a loop that is not over a list fails with LIST_MISSING", async () => {
  const yaml = `steps:\n  l: { type: control, subtype: loop, list: trigger.payload, body: { type: mcp, target: t }, end: true }\n`;
  const { status, error } = await runOnHost(yaml, {}, "text");
  expect(status).toBe("failed");
  expect(error?.code).toBe("LIST_MISSING");
});

test("split, parallel and merge bring what they promise", async () => {
  const yaml = `steps:
  s:
    type: control
    subtype: split
    list: trigger.payload
    routes: { large: { condition: item.n > 2, body: { type: mcp, target: t, inputMapping: { n: item.n } } } }
    default: small
    transitions: { onSuccess: p }
  p: { type: control, subtype: parallel, branches: [x, y], transitions: { onSuccess: m } }
  x: { type: mcp, target: t, inputMapping: { small: steps.s.output.small } }
  y: { type: mcp, target: t, inputMapping: { large: steps.s.output.large } }
  m: { type: control, subtype: merge, sources: [steps.p.output.x, steps.p.output.y], transitions: { onSuccess: r } }
  r: { type: mcp, target: t, inputMapping: { all: steps.m.output }, end: true }
`;
  const echo: Play = ({ input }) => succeed(argumentsOf(input) ?? null);
  const { inputs } = await runOnHost(yaml, { x: echo, y: echo, large: echo }, [{ n: 1 }, { n: 3 }]);
  expect(inputs["r"]).toEqual({ all: [{ small: [{ n: 1 }] }, { large: [{ n: 3 }] }] });
});

const reallyFail: Play = (task, signal) => failExecutor.run(task, signal);

test.each([
  "code: ORDER_REFUSED, message: \"join(['No ', trigger.payload.name], '')\"",
  "inputMapping: { code: \"'ORDER_REFUSED'\", message: \"'No tea'\" }",
  "target: { code: ORDER_REFUSED, message: No tea }",
])("fail ends the run as failed with its code and message: %s", async (keys) => {
  const yaml = `steps:\n  f: { type: control, subtype: fail, ${keys} }\n`;
  const { status, error } = await runOnHost(yaml, { f: reallyFail }, { name: "tea" });
  expect(status).toBe("failed");
  expect(error).toMatchObject({ code: "ORDER_REFUSED", message: "No tea" });
});

test("fail without a message says which step it was", async () => {
  const yaml = `steps:\n  f: { type: control, subtype: fail, code: NO, message: trigger.payload.nowhere }\n`;
  const { error } = await runOnHost(yaml, { f: reallyFail });
  expect(error).toMatchObject({ code: "NO", message: '"f" ends the flow as failed.' });
});

test("fail in a block fails the block, and catch reads its details", async () => {
  const yaml = `steps:
  t:
    type: control
    subtype: try
    body: { type: control, subtype: fail, code: NO, message: "'because'", details: { n: trigger.payload.n } }
    catch: { type: mcp, target: t, inputMapping: { code: error.code, why: error.message, n: error.details.n } }
    end: true
`;
  const { inputs, status } = await runOnHost(yaml, { body: reallyFail }, { n: 1 });
  expect(inputs["catch"]).toEqual({ code: "NO", why: "because", n: 1 });
  expect(status).toBe("completed");
});

test("catch reads the steps of its try, in inputs and in conditions on full values", async () => {
  const yaml = `steps:
  t:
    type: control
    subtype: try
    body: { startAt: a, steps: { a: { type: mcp, target: t, transitions: { onSuccess: b } }, b: { type: mcp, target: t } } }
    catch:
      startAt: c
      steps:
        c: { type: mcp, target: t, inputMapping: { a: steps.a.output, b: steps.b.output.error.details }, transitions: [{ condition: error.details.n == steps.a.output.n, nextStep: d }, { end: true }] }
        d: { type: mcp, target: t, inputMapping: { n: steps.a.output.n } }
    end: true
`;
  const { inputs, status, defects } = await runOnHost(yaml, {
    a: () => succeed({ n: 3 }),
    b: () => fail("BAD", { details: { n: 3 } }),
  });
  expect(inputs).toMatchObject({ c: { a: { n: 3 }, b: { n: 3 } }, d: { n: 3 } });
  expect(status).toBe("completed");
  expect(defects).toEqual([]);
});

test("uuid() is another one at each place, item and run, and the same when a step is tried again", async () => {
  const yaml = `steps:
  fan: { type: control, subtype: loop, list: [1, 2], body: ask, transitions: { onSuccess: last } }
  ask: { type: mcp, target: t, inputMapping: { key: uuid(), other: "map([1, 2], x => uuid())" }, retryPolicy: { maxAttempts: 2, initialDelay: 0 }, end: true }
  last: { type: mcp, target: t, inputMapping: { key: uuid() }, end: true }
`;
  const tried = new Set<string>();
  const { world, status } = await runOnHost(yaml, {
    ask: ({ path }) => {
      if (tried.has(path)) return succeed("done");
      tried.add(path);
      return fail("TIMEOUT", { retryable: true });
    },
  });
  expect(status).toBe("completed");
  const calls = world.calls.map(({ path, input }) => [path, argumentsOf(input)] as const);
  expect(calls).toHaveLength(5);
  const byPath = new Map(calls);
  for (const [path, input] of calls) expect(input, path).toEqual(byPath.get(path));
  const made = [...byPath.values()].flatMap((input) => Object.values(input as object).flat() as string[]);
  expect(made).toHaveLength(7);
  expect(new Set(made).size).toBe(7);
});

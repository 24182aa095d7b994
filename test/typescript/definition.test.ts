import { inspect } from "node:util";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Step } from "../../src/core/graph/graph.ts";
import { eq, gt, text } from "../../src/dialects/typescript/conditions.ts";
import { each, loop, when } from "../../src/dialects/typescript/flows.ts";
import { agent, approval, run, wait } from "../../src/dialects/typescript/steps.ts";
import type { Value } from "../../src/dialects/typescript/types.ts";
import { workflow } from "../../src/dialects/typescript/workflow.ts";

const Input = z.object({ name: z.string(), list: z.array(z.object({ id: z.string() })) });
type Given = Value<z.infer<typeof Input>>;

/** A definition that does this with its input. */
const define = (does: (input: Given) => unknown) => () =>
  workflow("w", { input: Input }, ({ input }) => void does(input));
const untyped = (value: unknown) => value as string;
const HERE = /definition\.test\.ts:\d+:\d+/;

test.each<readonly [string, (input: Given) => unknown, string]>([
  ["a template without its tag", (input) => `Dear ${untyped(input.name)}`, "used as a text or a number"],
  ["a sum", (input) => untyped(input.name) + 1, "used as a text or a number"],
  ["JSON", (input) => JSON.stringify(input), "written as JSON"],
  ["a spread into a list", (input) => [...untyped(input.name)], "taken apart as a list"],
  ["a spread into an object", (input) => ({ ...(input as object) }), "taken apart"],
  ["its keys", (input) => Object.keys(input), "taken apart"],
  ["a call", (input) => untyped(input.name).trim(), "called"],
  ["an assignment", (input) => Object.assign(input, { name: "x" }), "changed"],
])("%s of a reference is refused at its line", (_, does, words) => {
  expect(define(does)).toThrow(
    expect.objectContaining({ code: "REFERENCE_MISUSED", message: expect.stringContaining(words) }),
  );
  expect(define(does)).toThrow(HERE);
});

test.each<readonly [string, () => unknown]>([
  ["no place for a step", () => workflow("w", { concurrency: 0 }, () => 1)],
  ["a negative cost", () => workflow("w", {}, () => run("a", {}, () => 1, { maxCost: -1 }))],
  ["no name", () => workflow(" ", {}, () => 1)],
  ["no function", () => workflow("w", {}, undefined as never)],
])("a workflow with %s is refused at its line", (_, defines) => {
  expect(defines).toThrow(
    expect.objectContaining({ code: "DEFINITION_INVALID", message: expect.stringMatching(HERE) }),
  );
});

test("a reference that is awaited is refused by the definition, and nothing is rejected", async () => {
  const rejected: unknown[] = [];
  const note = (error: unknown) => rejected.push(error);
  process.on("unhandledRejection", note);
  const awaits = async (input: Given) => {
    await (input.name as unknown);
  };
  expect(define((input) => void awaits(input))).toThrow(expect.objectContaining({ code: "REFERENCE_MISUSED" }));
  expect(define((input) => void Promise.all([input.name]))).toThrow(/awaited/);
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", note);
  expect(rejected).toEqual([]);
});

test.each<readonly [string, (input: Given) => unknown, string]>([
  ["two steps of one name", () => [run("a", {}, () => 1), run("a", {}, () => 2)], "STEP_DUPLICATE"],
  [
    "a step with the name of one around it",
    (input) => each(input.list, () => run("all", {}, () => 1), { name: "all" }),
    "STEP_DUPLICATE",
  ],
  ["a step without a name", () => run("", {}, () => 1), "DEFINITION_INVALID"],
  ["a step without a function", () => run("a", {}, untyped(undefined) as never), "DEFINITION_INVALID"],
  ["a branch without a function", (input) => when(eq(input.name, "a"), untyped("b") as never), "DEFINITION_INVALID"],
  [
    "a loop without rounds",
    () => loop("l", { max: 0, first: 1 }, (was) => ({ next: was, done: true })),
    "DEFINITION_INVALID",
  ],
  ["a duration without its unit", () => wait("w", "30"), "DEFINITION_INVALID"],
  ["a value that is not JSON", () => run("a", { at: new Date() }, () => 1), "DEFINITION_INVALID"],
  ["a value that is not a number", () => run("a", { n: Number.NaN }, () => 1), "DEFINITION_INVALID"],
  ["a value in itself", () => run("a", circle(), () => 1), "DEFINITION_INVALID"],
  ["a schema with a date", () => agent("a", { prompt: "x", model: "m", output: z.date() }), "DEFINITION_INVALID"],
  ["a definition within a definition", () => workflow("inner", {}, () => undefined), "DEFINITION_INVALID"],
])("%s is refused at its line", (_, does, code) => {
  expect(define(does)).toThrow(expect.objectContaining({ code }));
  expect(define(does)).toThrow(HERE);
});

function circle(): object {
  const inner: { self?: unknown } = {};
  inner.self = inner;
  return inner;
}

test("what belongs to an item, an arm or another workflow is known there only", () => {
  let leaked: Value<string> | undefined;
  const keep = (value: Value<string>): undefined => {
    leaked = value;
  };
  const leak = (from: (input: Given) => unknown) =>
    define((input) => {
      from(input);
      run("late", { leaked }, () => 1);
    });
  expect(leak((input) => each(input.list, (item) => keep(item.id)))).toThrow(/inside `each\/item`/);
  const ofArm = leak((input) => when(eq(input.name, "x"), () => keep(run("inner", {}, () => "x"))));
  expect(ofArm).toThrow(expect.objectContaining({ code: "REFERENCE_MISUSED" }));
  workflow("other", { input: Input }, ({ input }) => keep(input.name));
  expect(leak(() => undefined)).toThrow(/from the workflow `other`/);
});

test("a definition that throws leaves nothing open", () => {
  expect(
    define(() => {
      throw new Error("mine");
    }),
  ).toThrow("mine");
  expect(() => run("outside", {}, () => 1)).toThrow(/stands outside of a definition/);
  expect(define(() => undefined)).not.toThrow();
});

test("a reference that a step's function touches says so", () => {
  let kept: Given | undefined;
  const { functions } = workflow("w", { input: Input }, ({ input }) => {
    kept = input;
    return run("a", {}, () => untyped(kept?.name));
  });
  const does = functions.get("w/a")?.does;
  expect(() => does?.({}, {} as never)).toThrow(expect.objectContaining({ code: "REFERENCE_IN_STEP" }));
});

test("to look at a reference is no use of it", () => {
  expect(define((input) => inspect(input))).not.toThrow();
});

test("what is declared behind a gate waits for it, and what is given to a step is waited for", () => {
  const { graph } = workflow("w", { input: Input }, ({ input }) => {
    const early = run("early", { name: input.name }, () => 1);
    approval("yes?", { show: early });
    run("send", {}, () => 1);
    each(input.list, () => run("inner", { early }, () => 1), { name: "all" });
    run("free", {}, () => 1, { after: [early] });
  });
  const after = Object.fromEntries(graph.flow.steps.map((step: Step) => [step.id, step.after ?? []]));
  expect(after).toEqual({
    early: [],
    "yes?": ["early"],
    send: ["yes?"],
    all: ["yes?", "early"],
    free: ["early", "yes?"],
  });
});

test("the same definition has the same graph", () => {
  const build = () =>
    workflow("w", { input: Input, budget: { usd: 1 } }, ({ input }) => {
      const marks = each(input.list, (item) => agent("mark", { prompt: text`Mark ${item.id}`, model: "m" }));
      const best = loop("best", { max: 3, first: { n: 0 } }, (was) => ({ next: { n: 1 }, done: gt(was.n, 0) }));
      return when(
        gt(best.n, 0),
        () => marks,
        () => null,
      );
    });
  expect(build().graph).toEqual(build().graph);
});

test("steps may have the names that loops and lists give to their own parts", async () => {
  const flow = workflow("w", { input: z.object({ list: z.array(z.number()) }) }, ({ input }) => {
    const all = each(input.list, (item) => each(input.list, () => run("item", { item }, ({ item }) => item)));
    return loop("rounds", { max: 2, first: 0 }, (was) => ({ next: run("round", { was, all }, () => 1), done: false }));
  });
  expect(flow.graph.flow.steps.length).toBeGreaterThan(0);
});

test.each([
  "POST leads",
  "POST",
  "FETCH /leads",
  "POST /leads/{id}/{id}",
  "POST /leads/x{id}",
  "POST /leads?x=1",
  "POST /a /b",
])("a route that cannot be is refused with its line: %s", (route) => {
  const define = () => workflow("w", { trigger: { route: route as "POST /x" } }, () => undefined);
  expect(define).toThrow(/is no route.* at .*definition\.test\.ts:\d+:\d+\./);
});

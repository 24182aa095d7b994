import { expect, test } from "vitest";
import type { Expr } from "../../core/expressions/expr.ts";
import { inferAnswerSchemas } from "../../core/graph/answer-schemas.ts";
import { liftControls } from "../../core/graph/lift-controls.ts";
import { loadDefinition } from "../load-definition.ts";

async function schemasOf(steps: string) {
  const { graph, problems } = await loadDefinition({ text: `name: x\nsteps:\n${steps}` });
  expect(problems).toEqual([]);
  if (graph === undefined) throw new Error("There is no graph.");
  const named = (of: typeof graph) =>
    Object.fromEntries([...inferAnswerSchemas(of)].map(([{ id }, schema]) => [id, schema]));
  expect(named(liftControls(graph))).toEqual(named(graph));
  return named(graph);
}

const TEXT = { type: "string" };
const object = (properties: object) => ({ type: "object", properties, required: Object.keys(properties) });
const list = (items: object) => ({ type: "array", items, minItems: 3 });

test("fields that later prompts name are fields of the answer", async () => {
  expect(
    await schemasOf(`
  - {id: a, prompt: Go.}
  - {id: b, depends_on: [a], prompt: "{steps.a.output.market.size} {steps.a.output.name} {steps.a.output}"}`),
  ).toEqual({ a: object({ market: object({ size: TEXT }), name: TEXT }) });
});

test("an answer that is read as a whole is in no shape", async () => {
  expect(
    await schemasOf('\n  - {id: a, prompt: Go.}\n  - {id: b, depends_on: [a], prompt: "{steps.a.output}"}'),
  ).toEqual({});
});

test("a fan-out reads a list, and steps that follow its items read their fields", async () => {
  expect(
    await schemasOf(`
  - {id: find, prompt: Go.}
  - {id: fetch, depends_on: [find], parallel_over: steps.find.output.sites, prompt: "{input.url} {input._item}"}
  - {id: judge, depends_on: [fetch], prompt: "{input.name}: {steps.fetch.output.summary}"}
  - {id: rank, depends_on: [judge], prompt: "{steps.judge.output} {steps.judge.output.0.score}"}`),
  ).toEqual({
    find: object({ sites: list(object({ url: TEXT, name: TEXT })) }),
    fetch: object({ summary: TEXT }),
    judge: object({ score: TEXT }),
  });
});

test("the items of a fan-out over a fan-out are the answers of its steps", async () => {
  expect(
    await schemasOf(`
  - {id: a, parallel_over: input.list, prompt: "{item}"}
  - {id: b, depends_on: [a], parallel_over: steps.a.output, prompt: "{item.title}"}`),
  ).toEqual({ a: object({ title: TEXT }) });
});

test("a fallback answers in the shape of its step, and an approval passes on what it shows", async () => {
  expect(
    await schemasOf(`
  - {id: a, prompt: Go., fallback: {prompt: Or go.}}
  - {id: ask, type: approval, depends_on: [a], prompt: Wait., approval_config: {message: Yes?, show_data: steps.a.output}}
  - {id: b, depends_on: [ask], prompt: "{steps.ask.output.text}"}`),
  ).toEqual({ a: object({ text: TEXT }), fallback: object({ text: TEXT }) });
});

test("comparisons hold: numbers are beyond their bounds, texts are the first that is asked for", async () => {
  const { graph } = await loadDefinition({ text: "name: x\nsteps: [{id: a, prompt: Go.}, {id: b, prompt: Go.}]" });
  if (graph === undefined) throw new Error("There is no graph.");
  const output = (name: string): Expr => ({ op: "path", root: "steps", name: "a", path: [name] });
  const when: Expr = {
    op: "and",
    of: [
      { op: "compare", by: ">", left: output("score"), right: { op: "literal", value: 80 } },
      { op: "compare", by: ">=", left: { op: "literal", value: 3 }, right: output("rank") },
      { op: "compare", by: "==", left: output("kind"), right: { op: "literal", value: "good" } },
      { op: "compare", by: "==", left: output("kind"), right: { op: "literal", value: "bad" } },
      { op: "defined", of: output("note") },
    ],
  };
  const [a, b] = graph.flow.steps;
  if (a === undefined || b === undefined) throw new Error("There are two steps.");
  const steps = [a, { ...b, after: ["a"], when }];
  expect(inferAnswerSchemas({ ...graph, flow: { kind: "dag", steps } }).get(a)).toEqual(
    object({
      score: { type: "integer", exclusiveMinimum: 80 },
      rank: { type: "integer", maximum: 3 },
      kind: { enum: ["good"] },
      note: TEXT,
    }),
  );
});

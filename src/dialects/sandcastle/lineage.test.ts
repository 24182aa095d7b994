import { expect, test } from "vitest";
import { indexGraph } from "../../core/graph/indexed-graph.ts";
import { computeShape } from "../../core/graph/shape.ts";
import { loadDefinition } from "../load-definition.ts";

const pipeline = `name: x
steps:
  - {id: scrape, parallel_over: input.companies, prompt: "{input.website}"}
  - {id: enrich, depends_on: [scrape], prompt: "{input.name}: {steps.scrape.output.text}"}
  - {id: score, depends_on: [scrape, enrich], prompt: "{item.name}: {steps.enrich.output}"}
  - {id: report, depends_on: [score], prompt: "{steps.score.output}"}
`;

/** Which fan-out each step follows in a run with these names in its input. */
async function shapeOf(text: string, inputNames: readonly string[]) {
  const { graph, problems } = await loadDefinition({ text });
  expect(problems).toEqual([]);
  if (graph === undefined) throw new Error("There is no graph.");
  const shape = computeShape(indexGraph(graph, "").root, new Set(inputNames));
  if (!shape.ok) return shape;
  return Object.fromEntries(
    graph.flow.steps.map((step, index) => [step.id, graph.flow.steps[shape.shape[index] ?? -1]?.id ?? "once"]),
  );
}

test("steps that name a field of an item follow the fan-out that they depend on", async () => {
  expect(await shapeOf(pipeline, ["companies"])).toEqual({
    scrape: "scrape",
    enrich: "scrape",
    score: "scrape",
    report: "once",
  });
});

test("a name that the input has is no field of an item", async () => {
  expect(await shapeOf(pipeline.replace("{item.name}: ", ""), ["companies", "name"])).toEqual({
    scrape: "scrape",
    enrich: "once",
    score: "once",
    report: "once",
  });
});

test("a fallback that names a field of an item makes its step follow the fan-out", async () => {
  const text = `${pipeline}  - {id: mail, depends_on: [scrape], prompt: Write., fallback: {prompt: "Write to {input.mail}"}}\n`;
  expect(await shapeOf(text, ["companies"])).toMatchObject({ mail: "scrape" });
});

test("a step outside every fan-out names no fields of items", async () => {
  const { graph } = await loadDefinition({ text: 'name: x\nsteps: [{id: a, prompt: "{input.name}"}]\n' });
  expect(graph?.flow.steps[0]?.itemFields).toBeUndefined();
});

const DECLARED = `name: x
input_schema:
  properties:
    companies: {type: array, items: {type: object, properties: {name: {type: string}, website: {type: string}}}}
steps:
  - {id: scrape, parallel_over: input.companies, prompt: "{input.website}"}
  - {id: enrich, depends_on: [scrape], prompt: "{input.name}: {steps.scrape.output}"}
  - {id: report, depends_on: [enrich], prompt: "In {input.language}: {steps.enrich.output}"}
`;

test("where items declare their fields, these alone make a step follow them, whatever the input has", async () => {
  const shape = { scrape: "scrape", enrich: "scrape", report: "once" };
  expect(await shapeOf(DECLARED, ["companies"])).toEqual(shape);
  expect(await shapeOf(DECLARED, ["companies", "language", "name"])).toEqual(shape);
});

test("`each` says which items a step follows, or that it follows none", async () => {
  const text = pipeline
    .replace(
      '{id: score, depends_on: [scrape, enrich], prompt: "{item.name}: ',
      '{id: score, depends_on: [enrich], each: scrape, prompt: "',
    )
    .replace(
      '{id: enrich, depends_on: [scrape], prompt: "{input.name}: {steps.scrape.output.text}"',
      '{id: enrich, each: scrape, depends_on: [scrape], prompt: "{steps.scrape.output.text}"',
    );
  const both = `${text}  - {id: all, depends_on: [scrape], each: false, prompt: "{input.mail}: {steps.scrape.output}"}\n`;
  const shape = { scrape: "scrape", enrich: "scrape", score: "scrape", report: "once", all: "once" };
  expect(await shapeOf(both, ["companies"])).toEqual(shape);
  expect(await shapeOf(both, ["companies", "name", "mail"])).toEqual(shape);
});

test("`each` settles whose items are meant where two fan-outs could give them", async () => {
  const text = `name: x
steps:
  - {id: a, parallel_over: input.as, prompt: "{item}"}
  - {id: b, parallel_over: input.bs, prompt: "{item}"}
  - {id: c, depends_on: [a, b], each: b, prompt: "{input.name}"}
`;
  expect(await shapeOf(text, ["as", "bs"])).toMatchObject({ c: "b" });
});

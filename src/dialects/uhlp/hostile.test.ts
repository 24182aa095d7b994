import { describe, expect, test } from "vitest";
import { checkGraph } from "../../core/graph/check-graph.ts";
import { loadDefinition } from "../load-definition.ts";
import { renderProblem } from "../render-problem.ts";

const head = "workflowId: w\nstartAt: s0\nsteps:\n";
const range = (count: number) => Array.from({ length: count }, (_, index) => index);
const task = "{type: mcp, target: t, end: true}";

const hostile: { readonly [name: string]: string } = {
  "a step inside of a step inside of a step": `${head}  s0: ${"{type: control, subtype: try, body: ".repeat(90)}${task}${", end: true}".repeat(90)}\n`,
  "blocks that share all steps":
    head +
    range(400)
      .map(
        (i) =>
          `  s${i}: {type: control, subtype: parallel, branches: [a${i}, b${i}], end: true}\n` +
          `  a${i}: {type: mcp, target: t, transitions: {onSuccess: s${i + 1}}}\n` +
          `  b${i}: {type: mcp, target: t, transitions: {onSuccess: s${i + 1}}}\n`,
      )
      .slice(0, 160)
      .join("") +
    `  s160: ${task}\n`,
  "a chain of loops, each the body of the one before":
    head +
    range(499)
      .map((i) => `  s${i}: {type: control, subtype: loop, list: trigger.payload, body: s${i + 1}, end: true}\n`)
      .join("") +
    `  s499: ${task}\n`,
  "loops whose bodies are each other":
    head +
    range(300)
      .map((i) => `  s${i}: {type: control, subtype: loop, list: "[1]", body: s${(i + 1) % 300}}\n`)
      .join(""),
  "600 steps":
    head +
    range(600)
      .map((i) => `  s${i}: ${task}\n`)
      .join(""),
  "600 steps inside of one":
    head +
    `  s0: {type: control, subtype: try, body: {startAt: x0, steps: {${range(600)
      .map((i) => `x${i}: ${task}`)
      .join(", ")}}}, end: true}\n`,
  "10,000 branches": `${head}  s0: {type: control, subtype: parallel, branches: [${"s1, ".repeat(10_000)}], end: true}\n  s1: ${task}\n`,
  "5,000 routes":
    head +
    `  s0: {type: control, subtype: split, list: "[1]", routes: {${range(5_000)
      .map((i) => `r${i}: {condition: item == ${i}}`)
      .join(", ")}}, end: true}\n`,
  "an expression of 100,000 brackets": `${head}  s0: {type: mcp, target: t, inputMapping: {x: "${"(".repeat(100_000)}"}, end: true}\n`,
  "an expression of 900,000 characters": `${head}  s0: {type: mcp, target: t, inputMapping: {x: "${"trigger.a && ".repeat(70_000)}"}, end: true}\n`,
  "20,000 transitions to nowhere":
    head +
    `  s0:\n    type: mcp\n    target: t\n    transitions:\n${range(20_000)
      .map((i) => `      - {condition: "step.output.x == ${i}", nextStep: z${i}}\n`)
      .join("")}`,
  "names that every object has, as kinds": `${head}  s0: {type: __proto__, subtype: constructor, target: t}\n  s1: {type: control, subtype: toString}\n`,
  "a schema that refers to itself": `inputSchema: {$ref: '#'}\n${head}  s0: {type: mcp}\n`,
  "a trigger of nothing but braces": `trigger: {{{}: {}}: {}}\n${head}`,
};

describe("hostile text gives problems with places and never an exception", () => {
  for (const [name, text] of Object.entries(hostile)) {
    test(name, async () => {
      const { graph, problems } = await loadDefinition({ text });
      expect(graph).toBeUndefined();
      expect(problems.filter((problem) => problem.severity === "error" && problem.place !== undefined)).not.toEqual([]);
      for (const problem of problems) expect(renderProblem(problem, text)).not.toBe("");
    });
  }
});

test("names that every object has are ids like any other", async () => {
  const ids = ["__proto__", "constructor", "hasOwnProperty", "toString"];
  const steps = ids.map((id, i) => {
    const next = ids[i + 1];
    const way = next === undefined ? "end: true" : `transitions: {onSuccess: ${next}}`;
    return `  ${id}: {type: mcp, target: t, inputMapping: {${id}: trigger.${id}}, ${way}}\n`;
  });
  const { graph, problems } = await loadDefinition({
    text: `workflowId: w\nstartAt: __proto__\nsteps:\n${steps.join("")}`,
  });
  expect(problems).toEqual([]);
  expect(graph?.flow.steps.map((step) => step.id)).toEqual(ids);
});

test("too many steps are one problem, whatever leads to those that are not read", async () => {
  const chain = range(600).map((i) => `  s${i}: {type: mcp, target: t, transitions: {onSuccess: s${i + 1}}}\n`);
  const { problems } = await loadDefinition({ text: head + chain.join("") });
  expect(problems.map(({ code, place }) => [code, place?.line])).toEqual([["TOO_MANY_STEPS", 504]]);
});

test("500 steps in a chain are allowed, and so is what shares a step here and there", async () => {
  const chain = range(500).map(
    (i) => `  s${i}: {type: mcp, target: t, ${i === 499 ? "end: true" : `transitions: {onSuccess: s${i + 1}}`}}\n`,
  );
  expect((await loadDefinition({ text: `maxSteps: 500\n${head}${chain.join("")}` })).problems).toEqual([]);
  const shared = `  s0: {type: control, subtype: try, body: a, catch: b, end: true}
  a: {type: mcp, target: t, transitions: {onSuccess: c}}
  b: {type: mcp, target: t, transitions: {onSuccess: c}}
  c: {type: mcp, target: t}
`;
  const { graph, problems } = await loadDefinition({ text: head + shared });
  expect(problems).toEqual([]);
  expect(graph === undefined ? undefined : checkGraph(graph)).toEqual([]);
});

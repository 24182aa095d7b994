import { expect } from "vitest";
import { checkGraph } from "../../src/core/graph/check-graph.ts";
import type { Graph } from "../../src/core/graph/graph.ts";
import { liftControls } from "../../src/core/graph/lift-controls.ts";
import type { Definition } from "../../src/dialects/definition.ts";
import { listNames } from "../../src/dialects/list-names.ts";
import { loadDefinition } from "../../src/dialects/load-definition.ts";
import { renderProblem } from "../../src/dialects/render-problem.ts";

/** A definition, whatever it is, compiles to sound graphs or gives an error; and every problem has a place in it. */
export async function expectPlaces(definition: Definition & { readonly file: string }): Promise<void> {
  const { text, file } = definition;
  expect(Array.isArray(listNames(definition))).toBe(true);
  const { graph, parts, problems } = await loadDefinition(definition, { select: "all" });
  const hasErrors = problems.some(({ severity }) => severity === "error");
  expect(graph === undefined && parts === undefined).toBe(hasErrors);
  const graphs: Graph[] = [...(graph === undefined ? [] : [graph]), ...(parts ?? []).map((part) => part.toGraph())];
  for (const compiled of graphs) {
    expect(checkGraph(compiled)).toEqual([]);
    liftControls(compiled);
  }
  const lines = text.split("\n").length;
  for (const problem of problems) {
    const { line = 0, column = 0 } = problem.place ?? {};
    expect(line > 0 && line <= lines && column > 0).toBe(true);
    expect(renderProblem(problem, text)).toContain(`${file}:`);
  }
}

import { expect, test } from "vitest";
import { compileFile, ROOT, testFixtures } from "../../../test/support/fixtures.ts";
import type { Graph } from "../../core/graph/graph.ts";

testFixtures({ dialect: "sandcastle", extension: ".yaml", toLines });

test("the example has no problems", async () => {
  const { graphs, rendered } = await compileFile(`${ROOT}examples/lead-enrichment.yaml`);
  expect(rendered).toBe("");
  expect(graphs[0]?.flow.steps.map((step) => step.id)).toEqual(["scrape", "enrich", "score"]);
});

/** Each step on a line of its own, so that a difference shows the step. */
function toLines(graphs: readonly Graph[]): string {
  return graphs
    .map((graph) => {
      const steps = graph.flow.steps.map((_, index) => `@${index}`);
      const frame = JSON.stringify({ ...graph, flow: { ...graph.flow, steps } }, null, 2);
      return frame.replace(/"@([0-9]+)"/g, (_, index) => JSON.stringify(graph.flow.steps[Number(index)]));
    })
    .join("\n");
}

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Graph } from "../../core/graph/graph.ts";
import { loadDefinition } from "../load-definition.ts";
import { renderProblem } from "../render-problem.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const fixtures = `${root}test/fixtures/sandcastle/`;

describe("valid files compile to the graph that is written beside them", () => {
  for (const name of namesIn(`${fixtures}valid`)) {
    test(name, async () => {
      const { graph, rendered } = await compileFile(`${fixtures}valid/${name}.yaml`);
      expectFile(`${fixtures}valid/${name}.graph.json`, graph === undefined ? rendered : toLines(graph));
      expectFile(`${fixtures}valid/${name}.problems.txt`, rendered);
    });
  }
});

describe("broken files give the problems that are written beside them", () => {
  for (const name of namesIn(`${fixtures}broken`)) {
    test(name, async () => {
      const { graph, rendered } = await compileFile(`${fixtures}broken/${name}.yaml`);
      expect(graph).toBeUndefined();
      expectFile(`${fixtures}broken/${name}.problems.txt`, rendered);
    });
  }
});

test("the example has no problems", async () => {
  const { graph, rendered } = await compileFile(`${root}examples/lead-enrichment.yaml`);
  expect(rendered).toBe("");
  expect(graph?.flow.steps.map((step) => step.id)).toEqual(["scrape", "enrich", "score"]);
});

function namesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".yaml"))
    .map((file) => file.slice(0, -".yaml".length));
}

async function compileFile(path: string) {
  const text = readFileSync(path, "utf8");
  const { graph, problems } = await loadDefinition({ text, file: path.slice(path.lastIndexOf("/") + 1) });
  return { graph, rendered: problems.map((problem) => renderProblem(problem, text)).join("\n\n") };
}

/** `UPDATE=1` writes what is there now; read the difference before committing it. */
function expectFile(path: string, content: string): void {
  const update = process.env["UPDATE"] === "1";
  if (update && content !== "") writeFileSync(path, `${content}\n`);
  const expected = content === "" ? "" : readFileSync(path, "utf8");
  expect(content === "" ? "" : `${content}\n`).toBe(expected);
}

/** JSON with each step on a line of its own, so that a difference shows the step. */
function toLines(graph: Graph): string {
  const steps = graph.flow.steps.map((_, index) => `@${index}`);
  const frame = JSON.stringify({ ...graph, flow: { ...graph.flow, steps } }, null, 2);
  return frame.replace(/"@([0-9]+)"/g, (_, index) => JSON.stringify(graph.flow.steps[Number(index)]));
}

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { checkGraph } from "../../core/graph/check-graph.ts";
import { loadDefinition } from "../load-definition.ts";
import { renderProblem } from "../render-problem.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const fixtures = `${root}test/fixtures/agents/`;

describe("every part of a valid file compiles to the graph that is written beside it", () => {
  for (const name of namesIn(`${fixtures}valid`)) {
    test(name, async () => {
      const { graphs, rendered } = await compileFile(`${fixtures}valid/${name}.json`);
      expect(rendered).toBe("");
      expectFile(`${fixtures}valid/${name}.graphs.json`, toLines(graphs));
      expect(graphs.flatMap((graph) => checkGraph(graph))).toEqual([]);
    });
  }
});

test("files in the original's structure fit the published schema", () => {
  const schema = JSON.parse(readFileSync(`${root}schemas/agents-file.schema.json`, "utf8"));
  const validate = new Ajv({ strict: false }).compile(schema);
  const fits = (path: string) => validate(JSON.parse(readFileSync(path, "utf8")));
  for (const name of ["original", "nested", "empty-steps"]) expect(fits(`${fixtures}valid/${name}.json`)).toBe(true);
  for (const name of ["missing-names", "wrong-types"]) expect(fits(`${fixtures}broken/${name}.json`)).toBe(false);
});

describe("doubtful files compile with the warnings that are written beside them", () => {
  for (const name of namesIn(`${fixtures}warned`)) {
    test(name, async () => {
      const { graphs, rendered } = await compileFile(`${fixtures}warned/${name}.json`);
      expect(graphs).not.toEqual([]);
      expectFile(`${fixtures}warned/${name}.problems.txt`, rendered);
    });
  }
});

describe("broken files give the problems that are written beside them", () => {
  for (const name of namesIn(`${fixtures}broken`)) {
    test(name, async () => {
      const path = `${fixtures}broken/${name}.json`;
      const text = readFileSync(path, "utf8");
      const { graph, problems } = await loadDefinition({ text, file: `${name}.json` });
      expect(graph).toBeUndefined();
      const rendered = problems.map((problem) => renderProblem(problem, text)).join("\n\n");
      expectFile(`${fixtures}broken/${name}.problems.txt`, rendered);
    });
  }
});

function namesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".json") && !file.endsWith(".graphs.json"))
    .map((file) => file.slice(0, -".json".length));
}

async function compileFile(path: string) {
  const text = readFileSync(path, "utf8");
  const definition = { text, file: path.slice(path.lastIndexOf("/") + 1) };
  const { parts = [], problems } = await loadDefinition(definition, { select: "all" });
  const graphs = parts.map((part) => part.toGraph());
  return { graphs, rendered: problems.map((problem) => renderProblem(problem, text)).join("\n\n") };
}

/** `UPDATE=1` writes what is there now; read the difference before committing it. */
function expectFile(path: string, content: string): void {
  expect(content).not.toBe("");
  if (process.env["UPDATE"] === "1") writeFileSync(path, `${content}\n`);
  expect(`${content}\n`).toBe(readFileSync(path, "utf8"));
}

/** JSON with the parts of each step on lines of their own, so that a difference shows where it is. */
function toLines(graphs: readonly object[]): string {
  return JSON.stringify(graphs, null, 1).replace(/\n {9,}/g, "");
}

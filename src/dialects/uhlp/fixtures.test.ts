import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { checkGraph } from "../../core/graph/check-graph.ts";
import { loadDefinition } from "../load-definition.ts";
import { renderProblem } from "../render-problem.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const fixtures = `${root}test/fixtures/uhlp/`;

describe("valid files compile to the graph that is written beside them", () => {
  for (const name of namesIn(`${fixtures}valid`)) {
    test(name, async () => {
      const { graph, rendered } = await compileFile(`${fixtures}valid/${name}.yaml`);
      expectFile(`${fixtures}valid/${name}.graph.json`, graph === undefined ? rendered : toLines(graph));
      expectFile(`${fixtures}valid/${name}.problems.txt`, rendered);
      expect(graph === undefined ? undefined : checkGraph(graph)).toEqual([]);
    });
  }
});

describe("doubtful files compile with the warnings that are written beside them", () => {
  for (const name of namesIn(`${fixtures}warned`)) {
    test(name, async () => {
      const { graph, rendered } = await compileFile(`${fixtures}warned/${name}.yaml`);
      expect(rendered).not.toBe("");
      expectFile(`${fixtures}warned/${name}.problems.txt`, rendered);
      expect(graph === undefined ? undefined : checkGraph(graph)).toEqual([]);
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

describe("examples and valid files", () => {
  const schema = JSON.parse(readFileSync(`${root}schemas/uhlp-workflow.schema.json`, "utf8"));
  const validate = new Ajv({ strict: false }).compile(schema);
  const files = [
    // Keys that mean nothing are a matter of warnings for the loader only.
    ...namesIn(`${fixtures}valid`).flatMap((name) =>
      name === "warnings" ? [] : `test/fixtures/uhlp/valid/${name}.yaml`,
    ),
    ...namesIn(`${root}examples/uhlp`).map((name) => `examples/uhlp/${name}.yaml`),
    ...namesIn(`${root}examples/orders/workflows`).map((name) => `examples/orders/workflows/${name}.yaml`),
  ];
  for (const file of files) {
    test(`${file} has no problems and fits the published schema`, async () => {
      const { graph, rendered } = await compileFile(`${root}${file}`);
      expect(rendered).toBe("");
      expect(graph === undefined ? undefined : checkGraph(graph)).toEqual([]);
      validate(parse(readFileSync(`${root}${file}`, "utf8")));
      expect(validate.errors).toBeNull();
    });
  }
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

/** JSON with the parts of each step on lines of their own, so that a difference shows where it is. */
function toLines(graph: object): string {
  return JSON.stringify(graph, null, 1).replace(/\n {8,}/g, "");
}

import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { compileFile, namesIn, ROOT, testFixtures } from "../../../test/support/fixtures.ts";
import { checkGraph } from "../../core/graph/check-graph.ts";

testFixtures({
  dialect: "uhlp",
  extension: ".yaml",
  // The parts of each step on lines of their own.
  toLines: ([graph]) => JSON.stringify(graph, null, 1).replace(/\n {8,}/g, ""),
});

describe("examples and valid files", () => {
  const schema = JSON.parse(readFileSync(`${ROOT}schemas/uhlp-workflow.schema.json`, "utf8"));
  const validate = new Ajv({ strict: false }).compile(schema);
  const files = ["test/fixtures/uhlp/valid", "examples/uhlp", "examples/orders/workflows"].flatMap((folder) =>
    namesIn(`${ROOT}${folder}`, ".yaml").map((name) => `${folder}/${name}.yaml`),
  );
  for (const file of files) {
    test(`${file} has no problems and fits the published schema`, async () => {
      const { graphs, rendered } = await compileFile(`${ROOT}${file}`);
      expect(rendered).toBe("");
      expect(graphs).toHaveLength(1);
      expect(graphs.flatMap((graph) => checkGraph(graph))).toEqual([]);
      validate(parse(readFileSync(`${ROOT}${file}`, "utf8")));
      expect(validate.errors).toBeNull();
    });
  }
});

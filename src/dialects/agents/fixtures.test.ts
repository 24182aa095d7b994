import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { ROOT, testFixtures } from "../../../test/support/fixtures.ts";

const fixtures = `${ROOT}test/fixtures/agents/`;

testFixtures({
  dialect: "agents",
  extension: ".json",
  hasParts: true,
  // The parts of each step on lines of their own.
  toLines: (graphs) => JSON.stringify(graphs, null, 1).replace(/\n {9,}/g, ""),
});

test("files in the original's structure fit the published schema", () => {
  const schema = JSON.parse(readFileSync(`${ROOT}schemas/agents-file.schema.json`, "utf8"));
  const validate = new Ajv({ strict: false }).compile(schema);
  const fits = (path: string) => validate(JSON.parse(readFileSync(path, "utf8")));
  for (const name of ["original", "nested", "empty-steps"]) expect(fits(`${fixtures}valid/${name}.json`)).toBe(true);
  for (const name of ["missing-names", "wrong-types"]) expect(fits(`${fixtures}broken/${name}.json`)).toBe(false);
});

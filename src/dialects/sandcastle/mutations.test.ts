import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { test } from "vitest";
import { parse } from "yaml";
import { expectPlaces } from "../../../test/properties/expect-places.ts";
import { editedTexts, editedTrees } from "../../../test/properties/random-edits.ts";
import { rounds } from "../../../test/properties/rounds.ts";

const folder = new URL("../../../test/fixtures/sandcastle/valid/", import.meta.url);
const valid = readdirSync(folder)
  .filter((file) => file.endsWith(".yaml"))
  .map((file) => readFileSync(new URL(file, folder), "utf8"));

const FRAGMENTS = [
  "{input.x}",
  "{",
  "}",
  `\${X}`,
  ": ",
  "- ",
  "\t",
  "\n",
  '"',
  "'",
  "*a",
  "&a ",
  "<<: ",
  "#",
  "[",
  "]",
  "steps",
  "\u0000",
  "1e999",
  "{steps.a.output.b}",
];

test("a valid text with random edits compiles or gives an error with a place", async () => {
  const texts = editedTexts(valid, FRAGMENTS);
  await fc.assert(
    fc.asyncProperty(texts, (text) => expectPlaces({ text, file: "mutated.yaml" })),
    { numRuns: rounds(150) },
  );
});

test("a valid tree with random edits compiles or gives an error with a place", async () => {
  const trees = editedTrees(
    valid.map((text): unknown => parse(text, { merge: true })),
    FRAGMENTS,
  );
  await fc.assert(
    fc.asyncProperty(trees, (tree) => expectPlaces({ text: JSON.stringify(tree), file: "mutated.yaml" })),
    { numRuns: rounds(150) },
  );
});

import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { test } from "vitest";
import { expectPlaces } from "../../../test/properties/expect-places.ts";
import { editedTexts, editedTrees } from "../../../test/properties/random-edits.ts";
import { rounds } from "../../../test/properties/rounds.ts";

const folder = new URL("../../../test/fixtures/agents/valid/", import.meta.url);
const valid = readdirSync(folder)
  .filter((file) => file.endsWith(".json") && !file.endsWith(".graphs.json"))
  .map((file) => readFileSync(new URL(file, folder), "utf8"));

const MARKDOWN =
  "---\nname: reviewer\ndescription: Reviews: all\ntools: Read, Bash(git *), mcp__a__b\nmodel: opus\n---\n\nBe strict.\n";

const FRAGMENTS = [
  '"type": "agent",',
  '"name": "Writer",',
  '{"name": "Writer", "type": "workflow"}',
  "---",
  "name:",
  ": ",
  ",",
  "[",
  "]",
  "{",
  "}",
  '"',
  "\n",
  "__proto__",
  "constructor",
  "\u0000",
  "\uFEFF",
  "1e999",
  "null",
  "*",
  "&a ",
];

const PARTS: readonly unknown[] = [
  { name: "Writer", type: "agent" },
  { name: "Article", type: "workflow" },
  ["Article", "Revise", "Revise"],
  { type: "graph_workflow", name: "G", nodes: ["A", "A"], edges: [["A", "A"]] },
  { type: "linear_workflow", name: "L", steps: ["L"] },
  JSON.parse('{"__proto__": {"name": "x"}, "constructor": 1, "toString": "x"}'),
  "True",
  "0.7",
  null,
  true,
  1e308,
  "",
];

test("a valid text with random edits compiles or gives an error with a place", async () => {
  const texts = editedTexts(valid, FRAGMENTS);
  await fc.assert(
    fc.asyncProperty(texts, (text) => expectPlaces({ text, file: "mutated.json" })),
    { numRuns: rounds(100) },
  );
});

test("an agent in Markdown with random edits compiles or gives an error with a place", async () => {
  const texts = editedTexts([MARKDOWN], FRAGMENTS);
  await fc.assert(
    fc.asyncProperty(texts, (text) => expectPlaces({ text, file: "mutated.md" })),
    { numRuns: rounds(100) },
  );
});

test("a valid tree with random edits compiles or gives an error with a place", async () => {
  const trees = editedTrees(
    valid.map((text): unknown => JSON.parse(text)),
    PARTS,
  );
  await fc.assert(
    fc.asyncProperty(trees, (tree) => expectPlaces({ text: JSON.stringify(tree), file: "mutated.json" })),
    { numRuns: rounds(100) },
  );
});

import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { test } from "vitest";
import { parse } from "yaml";
import { expectPlaces } from "../../../test/properties/expect-places.ts";
import { editedTexts, editedTrees } from "../../../test/properties/random-edits.ts";
import { rounds } from "../../../test/properties/rounds.ts";

const root = new URL("../../../", import.meta.url);
const valid = ["test/fixtures/uhlp/valid/", "examples/uhlp/"].flatMap((folder) =>
  readdirSync(new URL(folder, root))
    .filter((file) => file.endsWith(".yaml"))
    .map((file) => readFileSync(new URL(`${folder}${file}`, root), "utf8")),
);

const FRAGMENTS = [
  "steps.a.output.b",
  "trigger.payload.list",
  "item.x == 1 && (",
  "filter(trigger.payload, x => x > item)",
  "'text'",
  "{{ x }}",
  `\${X}`,
  "{",
  "}",
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
  "startAt",
  "__proto__",
  "constructor",
  "\u0000",
  "1e999",
  "-1",
];

/** Steps and blocks in places where there should be none, and names that every object has. */
const PARTS: readonly unknown[] = [
  { type: "control", subtype: "loop", list: "trigger.payload", body: "a" },
  { type: "control", subtype: "try", body: { type: "jit", target: "a.py" }, catch: "a", finally: "b" },
  { type: "control", subtype: "parallel", branches: ["a", "b", "a"] },
  {
    type: "control",
    subtype: "split",
    list: "item",
    routes: { a: {}, b: { condition: "item", body: "a" } },
    default: "a",
  },
  { type: "control", target: { subtype: "wait", duration: "1d" } },
  { startAt: "a", steps: { a: { type: "mcp", target: "t" } } },
  JSON.parse('{"__proto__": {"type": "mcp"}, "constructor": 1, "toString": "x"}'),
  [{ condition: "step.output.x", nextStep: "a" }, { end: true }],
  null,
  true,
  1e308,
  "",
];

test("a valid text with random edits compiles or gives an error with a place", async () => {
  const texts = editedTexts(valid, FRAGMENTS);
  await fc.assert(
    fc.asyncProperty(texts, (text) => expectPlaces({ text, file: "mutated.yaml" })),
    { numRuns: rounds(200) },
  );
});

test("a valid tree with random edits compiles or gives an error with a place", async () => {
  const trees = editedTrees(
    valid.map((text): unknown => parse(text, { merge: true })),
    [...FRAGMENTS, ...PARTS],
  );
  await fc.assert(
    fc.asyncProperty(trees, (tree) => expectPlaces({ text: JSON.stringify(tree), file: "mutated.yaml" })),
    { numRuns: rounds(200) },
  );
});

import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkGraph } from "../../core/graph/check-graph.ts";
import { liftControls } from "../../core/graph/lift-controls.ts";
import type { Definition } from "../definition.ts";
import { listNames } from "../list-names.ts";
import { loadDefinition } from "../load-definition.ts";
import { renderProblem } from "../render-problem.ts";

const folder = new URL("../../../test/fixtures/agents/valid/", import.meta.url);
const valid = readdirSync(folder)
  .filter((file) => file.endsWith(".json") && !file.endsWith(".graphs.json"))
  .map((file) => readFileSync(new URL(file, folder), "utf8"));

const MARKDOWN =
  "---\nname: reviewer\ndescription: Reviews: all\ntools: Read, Bash(git *), mcp__a__b\nmodel: opus\n---\n\nBe strict.\n";

const RUNS = 400;

test("a valid text with random edits compiles or gives an error with a place", async () => {
  const edits = fc.array(fc.tuple(fc.nat(), fc.nat(9), fc.nat()), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...valid), edits, async (text, chosen) => {
      await expectAnswer({ text: chosen.reduce(editText, text), file: "mutated.json" });
    }),
    { numRuns: RUNS },
  );
}, 120_000);

test("an agent in Markdown with random edits compiles or gives an error with a place", async () => {
  const edits = fc.array(fc.tuple(fc.nat(), fc.nat(9), fc.nat()), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(edits, async (chosen) => {
      await expectAnswer({ text: chosen.reduce(editText, MARKDOWN), file: "mutated.md" });
    }),
    { numRuns: RUNS },
  );
}, 120_000);

test("a valid tree with random edits compiles or gives an error with a place", async () => {
  const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(...PARTS));
  const edits = fc.array(fc.tuple(fc.nat(), fc.nat(4), value, fc.nat()), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...valid), edits, async (text, chosen) => {
      const tree: unknown = JSON.parse(text);
      for (const edit of chosen) editTree(tree, edit);
      await expectAnswer({ text: JSON.stringify(tree), file: "mutated.json" });
    }),
    { numRuns: RUNS },
  );
}, 120_000);

async function expectAnswer(definition: Definition): Promise<void> {
  const { text, file = "" } = definition;
  expect(Array.isArray(listNames(definition))).toBe(true);
  const { graph, parts, problems } = await loadDefinition(definition, { select: "all" });
  const errors = problems.filter((problem) => problem.severity === "error");
  const isCompiled = graph !== undefined || parts !== undefined;
  expect(isCompiled).toBe(errors.length === 0);
  for (const part of parts ?? []) {
    const compiled = part.toGraph();
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

/** One edit of a text: `kind` says which, `at` where, `pick` with what. */
function editText(text: string, [at, kind, pick]: [number, number, number]): string {
  const lines = text.split("\n");
  const line = at % lines.length;
  const offset = at % (text.length + 1);
  const fragment = FRAGMENTS[pick % FRAGMENTS.length] ?? "";
  if (kind === 0) return lines.toSpliced(line, 1).join("\n");
  if (kind === 1) return lines.toSpliced(line, 0, lines[pick % lines.length] ?? "").join("\n");
  if (kind === 2) return text.slice(0, offset);
  if (kind === 3) return text.slice(0, offset) + text.slice(offset + 1 + (pick % 10));
  if (kind === 4)
    return text.replaceAll(/\b\w+\b/g, (word, from: number) => (from % 17 === at % 17 ? `${word}x` : word));
  return text.slice(0, offset) + fragment + text.slice(offset);
}

/** Replaces, removes, repeats, renames or exchanges one part of a tree. */
function editTree(tree: unknown, [at, kind, value, pick]: [number, number, unknown, number]): void {
  const owners = collectOwners(tree);
  const owner = owners[at % Math.max(1, owners.length)];
  if (owner === undefined) return;
  const keys = Object.keys(owner);
  const key = keys[pick % Math.max(1, keys.length)];
  if (key === undefined) return;
  const other = owners[pick % owners.length] ?? owner;
  if (kind === 0) owner[key] = structuredClone(value);
  if (kind === 1) delete owner[key];
  if (kind === 2) owner[key] = structuredClone(other);
  if (kind === 3) owner[`${key}s`] = owner[key];
  if (kind === 4) owner[keys[at % keys.length] ?? key] = structuredClone(owner[key]);
}

function collectOwners(tree: unknown): Record<string, unknown>[] {
  if (typeof tree !== "object" || tree === null) return [];
  const owner = tree as Record<string, unknown>;
  return [owner, ...Object.values(owner).flatMap(collectOwners)];
}

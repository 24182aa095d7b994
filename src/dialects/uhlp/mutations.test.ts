import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { checkGraph } from "../../core/graph/check-graph.ts";
import { liftControls } from "../../core/graph/lift-controls.ts";
import { loadDefinition } from "../load-definition.ts";
import { renderProblem } from "../render-problem.ts";

const root = new URL("../../../", import.meta.url);
const valid = ["test/fixtures/uhlp/valid/", "examples/uhlp/"].flatMap((folder) =>
  readdirSync(new URL(folder, root))
    .filter((file) => file.endsWith(".yaml"))
    .map((file) => readFileSync(new URL(`${folder}${file}`, root), "utf8")),
);

const RUNS = 2_000;

test("a valid text with random edits compiles or gives an error with a place", async () => {
  const edits = fc.array(fc.tuple(fc.nat(), fc.nat(9), fc.nat()), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...valid), edits, async (text, chosen) => {
      await expectAnswer(chosen.reduce(editText, text));
    }),
    { numRuns: RUNS },
  );
}, 300_000);

test("a valid tree with random edits compiles or gives an error with a place", async () => {
  const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(...FRAGMENTS, ...PARTS));
  const edits = fc.array(fc.tuple(fc.nat(), fc.nat(4), value, fc.nat()), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...valid), edits, async (text, chosen) => {
      const tree: unknown = parse(text, { merge: true });
      for (const edit of chosen) editTree(tree, edit);
      await expectAnswer(JSON.stringify(tree));
    }),
    { numRuns: RUNS },
  );
}, 300_000);

async function expectAnswer(text: string): Promise<void> {
  const { graph, problems } = await loadDefinition({ text, file: "mutated.yaml" });
  const errors = problems.filter((problem) => problem.severity === "error");
  expect(graph === undefined).toBe(errors.length > 0);
  if (graph !== undefined && checkGraph(graph).length === 0) liftControls(graph);
  const lines = text.split("\n").length;
  for (const problem of problems) {
    const { line = 0, column = 0 } = problem.place ?? {};
    expect(line > 0 && line <= lines && column > 0).toBe(true);
    expect(renderProblem(problem, text)).toContain("mutated.yaml:");
  }
}

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

/** One edit of a text: `kind` says which, `at` where, `pick` with what. */
function editText(text: string, [at, kind, pick]: [number, number, number]): string {
  const lines = text.split("\n");
  const line = at % lines.length;
  const offset = at % (text.length + 1);
  const fragment = FRAGMENTS[pick % FRAGMENTS.length] ?? "";
  if (kind === 0) return lines.toSpliced(line, 1).join("\n");
  if (kind === 1) return lines.toSpliced(line, 0, lines[pick % lines.length] ?? "").join("\n");
  if (kind === 2) return lines.with(line, ` ${lines[line]}`).join("\n");
  if (kind === 3) return lines.with(line, (lines[line] ?? "").trimStart()).join("\n");
  if (kind === 4) return text.slice(0, offset);
  if (kind === 5) return text.slice(0, offset) + text.slice(offset + 1 + (pick % 10));
  if (kind === 6)
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

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { evaluate } from "../../src/core/expressions/evaluate.ts";
import { FUNCTIONS } from "../../src/dialects/uhlp/expressions/functions.ts";
import { parseExpression } from "../../src/dialects/uhlp/expressions/parse-expression.ts";

const PAGE = readFileSync(new URL("../../docs/uhlp-expressions.md", import.meta.url), "utf8");
const EXAMPLES = [...PAGE.matchAll(/`([^`]+)` → `([^`]+)`/g)].map(
  ([, text = "", value = ""]) => [text, value] as const,
);
const SCOPE = { steps: new Set<string>(), locals: new Map(), allowsOutput: false, allowsError: false, workflowId: "w" };

test.each(EXAMPLES)("%s → %s, as the page says", (text, value) => {
  const parsed = parseExpression(text, SCOPE);
  if (!parsed.ok) throw new Error(parsed.faults[0]?.message);
  const matches = (searched: string, pattern: string) => new RegExp(pattern).test(searched);
  expect(evaluate(parsed.expr, { path: () => undefined, matches })).toEqual(JSON.parse(value));
});

test("the page has a row for each function, and an example for each but those of paths and times", () => {
  const shown = new Set(EXAMPLES.flatMap(([text]) => [...text.matchAll(/([A-Za-z]\w*)\(/g)].map(([, name]) => name)));
  const named = new Set(
    [...PAGE.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/`(\w+)\(/g)].map(([, name]) => name),
    ),
  );
  expect([...FUNCTIONS.keys()].filter((name) => !named.has(name))).toEqual([]);
  expect([...FUNCTIONS.keys()].filter((name) => !shown.has(name))).toEqual(["defined", "now", "uuid"]);
});

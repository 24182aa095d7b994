import { expect, test } from "vitest";
import { parseExpression } from "../../dialects/uhlp/expressions/parse-expression.ts";
import type { Json } from "../json.ts";
import { evaluate } from "./evaluate.ts";
import { readPath } from "./read-path.ts";

const LIST = Array.from({ length: 20_000 }, (_, n) => (n % 3 === 0 ? n : `text ${n}`));
const DATA: Json = {
  list: LIST,
  text: "ab".repeat(50_000),
  json: JSON.stringify(LIST),
  big: BigInt("9".repeat(290)),
  object: Object.fromEntries(LIST.map((value, n) => [`k${n}`, value])),
};

/** Each took from half a second to twenty when work was bounded by two seconds, and small prices. */
const DEAR = [
  "filter(context.list, x => length(filter(context.list, y => y == x)) > 5)",
  "map(range(0, 5000), x => map(range(0, 5000), y => x * y))",
  "map(range(0, 1000000), x => {a: x, b: [x]})",
  "unique(map(range(0, 500000), x => {a: x}))",
  "sum(map(range(0, 300000), x => x / 7))",
  "map(range(0, 200000), x => context.big * context.big)",
  "map(range(0, 300), x => merge(context.object, context.object))",
  "map(range(0, 3000), x => keys(context.object))",
  "map(range(0, 300), x => join(context.list, ','))",
  "map(range(0, 300), x => replace(context.text, 'a', 'bb'))",
  "map(range(0, 3000), x => contains(context.list, 'zzzz'))",
  "map(range(0, 300), x => mergeBy([[context.object], [context.object]], 'k0'))",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is of the language
  "map(range(0, 100), x => `${context.list}`)",
  "map(range(0, 300), x => parseJson(context.json))",
  "map(range(0, 300), x => base64(context.text))",
  "map(range(0, 300000), x => uuid())",
  "map(range(0, 2000), x => max(context.list))",
];

/** Of the processor, where it has nothing else to do; tests of others run beside. */
const MOST_MS = 250;
const SLACK = 4;

test.each(DEAR)("%s ends within a quarter of a second, with its own code", (text) => {
  const parsed = parseExpression(text, {
    steps: new Set(),
    locals: new Map(),
    allowsOutput: true,
    allowsError: true,
    workflowId: "w",
  });
  if (!parsed.ok) throw new Error(parsed.faults[0]?.message);
  const began = process.cpuUsage();
  expect(() =>
    evaluate(parsed.expr, { path: ({ path }) => readPath(DATA, path[0] === "context" ? path.slice(1) : path, false) }),
  ).toThrow(expect.objectContaining({ code: "EXPRESSION_TOO_COSTLY" }));
  const { user, system } = process.cpuUsage(began);
  expect((user + system) / 1_000).toBeLessThan(SLACK * MOST_MS);
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { rounds } from "../../../test/properties/rounds.ts";
import type { ExpressionScope } from "../../dialects/uhlp/expressions/expression-fault.ts";
import { parseExpression } from "../../dialects/uhlp/expressions/parse-expression.ts";
import { toCanonicalNumber } from "../exact-json.ts";
import type { Json, JsonObject } from "../json.ts";
import { evaluate } from "./evaluate.ts";
import type { Comparison, Expr } from "./expr.ts";
import { readPath } from "./read-path.ts";

const literal = (value: Json): Expr => ({ op: "literal", value });

const numbers = fc.oneof(
  fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }),
  fc.bigInt({ min: 2n ** 53n - 3n, max: 2n ** 53n + 3n }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(1e20, 2 ** 53, -(2 ** 60), 1e21),
);

const COMPARISONS: readonly Comparison[] = ["==", "!=", "<", "<=", ">", ">="];

test("numbers compare by what they are worth, whatever their form", () => {
  fc.assert(
    fc.property(numbers, numbers, fc.boolean(), (a, b, isSame) => {
      const left = toCanonicalNumber(a);
      const right = isSame ? left : toCanonicalNumber(b);
      const [isLess, isMore] = [left < right, left > right];
      const expected = [!isLess && !isMore, isLess || isMore, isLess, !isMore, isMore, !isLess];
      const asDouble = Number(right);
      // A step may still have it as a double, before it is recorded.
      const forms = asDouble <= right && asDouble >= right ? [right, asDouble] : [right];
      for (const form of forms) {
        const given = COMPARISONS.map((by) => {
          return evaluate({ op: "compare", by, left: literal(left), right: literal(form) }, { path: () => undefined });
        });
        expect(given).toEqual(expected);
      }
    }),
    { numRuns: rounds(500) },
  );
});

const SCOPE: ExpressionScope = {
  steps: new Set<string>(),
  locals: new Map(),
  allowsOutput: false,
  allowsError: false,
  workflowId: "w",
};
const PAYLOAD: JsonObject = { id: 9007199254740993n, ids: [9007199254740993n, 1e20] };

test.each([
  ["9007199254740993", 9007199254740993n],
  ["-9223372036854775808", -9223372036854775808n],
  ["9007199254740992 == 9007199254740993", false],
  ["trigger.payload.id == 9007199254740993", true],
  ["toNumber('9007199254740993')", 9007199254740993n],
  ["toNumber(' +18446744073709551615 ')", 18446744073709551615n],
  ["toNumber('9007199254740993.5')", 9007199254740994],
  [`toNumber('${"9".repeat(301)}')`, undefined],
  ["toString(trigger.payload.id)", "9007199254740993"],
  ["join(trigger.payload.ids, '+')", "9007199254740993+100000000000000000000"],
  ["toJson(trigger.payload)", '{"id":9007199254740993,"ids":[9007199254740993,100000000000000000000]}'],
  ["parseJson('[9007199254740993]')", [9007199254740993n]],
  [`parseJson('${"9".repeat(301)}')`, undefined],
  ["contains(trigger.payload.ids, 100000000000000000000)", true],
  ["contains(trigger.payload.ids, 9007199254740992)", false],
  ["parseJson('{\"9007199254740993\": 1}')[trigger.payload.id]", 1],
  ["trigger.payload.ids[trigger.payload.id]", undefined],
  [
    'mergeBy(parseJson(\'[[{"id": 100000000000000000000, "a": 1}], [{"id": 100000000000000000000}]]\'), "id")',
    [{ id: 10n ** 20n, a: 1 }],
  ],
])("the expression %s", (text, expected) => {
  const parsed = parseExpression(text, SCOPE);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  const root = { requestData: { payload: PAYLOAD }, payload: PAYLOAD };
  expect(evaluate(parsed.expr, { path: ({ path, readsJson }) => readPath(root, path, readsJson) })).toEqual(expected);
});

test("an integer of too many digits is no literal", () => {
  const parsed = parseExpression("9".repeat(301), SCOPE);
  expect(parsed).toMatchObject({ ok: false, faults: [{ message: expect.stringContaining("is too large") }] });
});

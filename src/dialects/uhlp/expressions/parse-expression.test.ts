import { describe, expect, test } from "vitest";
import { evaluate } from "../../../core/expressions/evaluate.ts";
import type { Expr, PathExpr } from "../../../core/expressions/expr.ts";
import { readPath } from "../../../core/expressions/read-path.ts";
import type { Json } from "../../../core/json.ts";
import type { ExpressionScope } from "./expression-fault.ts";
import { parseExpression } from "./parse-expression.ts";

const SCOPE: ExpressionScope = {
  steps: new Set(["check-stock", "charge", "1st"]),
  locals: new Map([
    ["order", { root: "item", name: "each-order" }],
    ["i", { root: "index", name: "each-order" }],
  ]),
  allowsOutput: true,
  allowsError: true,
  workflowId: "orders",
};
const OUTSIDE: ExpressionScope = { ...SCOPE, locals: new Map(), allowsOutput: false, allowsError: false };

const path = (root: PathExpr["root"], keys: PathExpr["path"], name?: string): PathExpr => ({
  op: "path",
  root,
  name,
  path: keys,
  readsJson: true,
});

function exprOf(text: string): Expr {
  const parsed = parseExpression(text, SCOPE);
  if (!parsed.ok) throw new Error(`${text}: ${JSON.stringify(parsed.faults)}`);
  return parsed.expr;
}

/** The value where every root is `data`. */
function resultOf(text: string, data: Json = null): Json | undefined {
  return evaluate(exprOf(text), {
    path: (expr) => readPath(data, expr.path, expr.readsJson),
    matches: (searched, pattern) => new RegExp(pattern).test(searched),
  });
}

/** Every fault as what it points at, and its remedy. */
function faultsOf(text: string, scope = SCOPE): readonly (readonly [string, string | undefined])[] {
  const parsed = parseExpression(text, scope);
  if (parsed.ok) return [];
  return parsed.faults.map(({ offset, length, remedy }) => [text.slice(offset, offset + length), remedy]);
}

/** The payload of a request of any source. */
function payload(...rest: readonly string[]): Expr {
  const at = (...names: readonly string[]) => path("input", ["requestData", ...names, ...rest]);
  const body = (details: string): Expr => {
    const text = at(details, "body");
    return rest.length > 0 ? text : { op: "first", of: [{ op: "call", fn: "parseJson", args: [text] }, text] };
  };
  const sent = [at("payload"), at("queueDetails", "payload"), at("triggerDetails", "payload")];
  return { op: "first", of: [...sent, body("httpDetails"), body("callbackDetails")] };
}

describe("paths", () => {
  test.each<[string, Expr]>([
    ["trigger.payload.id", payload("id")],
    ["trigger.requestData.payload.id", payload("id")],
    ["$.input.payload.id", payload("id")],
    ["$.trigger.payload.id", payload("id")],
    ["trigger.payload", payload()],
    ["trigger", path("input", ["requestData"])],
    ["context.userInfo.id", path("input", ["context", "userInfo", "id"])],
    ["$.context.userInfo.id", path("input", ["context", "userInfo", "id"])],
    ["steps.check-stock.output", path("steps", [], "check-stock")],
    ["steps.check-stock.output.items[0].sku", path("steps", ["items", 0, "sku"], "check-stock")],
    ["steps['check-stock']['output']['a b']", path("steps", ["a b"], "check-stock")],
    ["steps.1st.output.items.0", path("steps", ["items", 0], "1st")],
    ["$.steps.check-stock.items", path("steps", ["items"], "check-stock")],
    ["$.steps.check-stock.output.items", path("steps", ["items"], "check-stock")],
    ["$.steps.check-stock", path("steps", [], "check-stock")],
    ["step.output.error.code", path("output", ["error", "code"])],
    ["error.message", path("error", ["message"])],
    ["order.id", path("item", ["id"], "each-order")],
    ["i", path("index", [], "each-order")],
    ["workflow.id", { op: "literal", value: "orders" }],
    ["workflow.name", { op: "literal", value: "orders" }],
    ["workflow.startTime", path("run", ["startedAt"])],
    ["workflow.runId", path("run", ["id"])],
    ["workflow.lastError.code", path("vars", ["code"], "lastError")],
    [" trigger . größe [ 'x' ] ", path("input", ["requestData", "größe", "x"])],
    ["trigger.true.null", path("input", ["requestData", "true", "null"])],
  ])("%s", (text, expr) => {
    expect(exprOf(text)).toEqual(expr);
  });

  test("only a path to the last error says so", () => {
    expect(parseExpression("[1, workflow.lastError]", SCOPE)).toMatchObject({ readsLastError: true });
    expect(parseExpression("[1, error]", SCOPE)).toMatchObject({ readsLastError: false });
  });

  test("a key may be computed, and JSON in a text is still read behind it", () => {
    const data = { at: "b", list: '{"b": "[{\\"c\\": 7}]"}' };
    expect(resultOf("order.list[order.at][0].c", data)).toBe(7);
    expect(resultOf("parseJson(order.list).b[0]['c']", data)).toBe(7);
  });

  test.each(["__proto__", "constructor", "toString", "hasOwnProperty", "length"])("%s is no property", (name) => {
    expect(
      resultOf(`[trigger.requestData.${name}, order.${name}, order['${name}'], order[order.name]]`, { name }),
    ).toEqual([null, null, null, null]);
    expect(resultOf(`map([1], ${name} => ${name}.x)`)).toEqual([null]);
    expect(resultOf(`map([{}], ${name} => ${name})`.replace("{}", "1"))).toEqual([1]);
  });
});

describe("values", () => {
  test.each<[string, Json]>([
    ["'it\\'s'", "it's"],
    [`"it's"`, "it's"],
    ["'a\\n\\t\\\\\\u00e9'", "a\n\t\\é"],
    ["'\\d+\\.\\w'", "\\d+\\.\\w"],
    ["'{{ x }} $y'", "{{ x }} $y"],
    ["''", ""],
    ["0", 0],
    ["-0", 0],
    ["-12.5e1", -125],
    ["true", true],
    ["null", null],
    ["[1, 'a', [], [null]]", [1, "a", [], [null]]],
    ["1 == 1 && 2 > 1 || false", true],
    ["false && true || true", true],
    ["true || true && false", true],
    ["!(1 == 2)", true],
    ["!false == true", true],
    ["(1 < 2) == (2 > 1)", true],
    ["1 == '1'", false],
    ["order.x >= -5", false],
    ["defined(order.x)", false],
    ["defined(order)", true],
    ["coalesce(order.x, null, 'else')", "else"],
    ["length(order.x) == 0", false],
    ["map([1, 2], x => x)", [1, 2]],
    ["map(['a'], (x) => [x, x])", [["a", "a"]]],
    ["filter([1, 5, 9], x => x > 2 && x < 9 || x == 1)", [1, 5]],
    ["map([[1, 2], [3]], x => map(x, x => [x]))", [[[1], [2]], [[3]]]],
    ["map([1], trigger => trigger)", [1]],
    ["map([1], order => map([2], y => [order, y]))", [[[1, 2]]]],
    ["join(split(upper(trim(' a,b ')), ','), '-')", "A-B"],
    ["matches('abc', '^a.c$')", true],
    ["merge(parseJson('{\"a\": 1}'), parseJson('{\"a\": 2}'))", { a: 2 }],
    ["mergeBy([parseJson('[{\"id\": 1}]')], 'id')", [{ id: 1 }]],
    ["toJson(concat(1, [2]))", "[1,2]"],
  ])("%s", (text, value) => {
    expect(resultOf(text, {})).toEqual(value);
  });

  test.each<[string, Json | undefined]>([
    // Numbers are what is written, and exact.
    ["0.1 + 0.2", 0.3],
    ["0.3 / 0.1", 3],
    ["1 - 0.9 - 0.1", 0],
    ["2 + 3 * 4 - 10 / 4", 11.5],
    ["(2 + 3) * -4", -20],
    ["-7 % 3", -1],
    ["7 % -3", 1],
    ["5.5 % 2", 1.5],
    ["1 / 0", undefined],
    ["1 / 3", 1 / 3],
    ["2 / 3", 2 / 3],
    ["9007199254740993 + 1", 9007199254740994n],
    ["9007199254740993 * 9007199254740993", 81129638414606699710187514626049n],
    ["9007199254740993 / 3", 3002399751580331],
    ["1e308 * 10", undefined],
    ["1e-320 * 1e-320", 0],
    ["order.x + 1", undefined],
    ["'a' + 'b' + 'c'", "abc"],
    ["-(1 - 1)", 0],
    ["round(1.005, 2)", 1.01],
    ["round(-2.5)", -3],
    ["round(1250, -2)", 1300],
    ["floor(-1.5)", -2],
    ["ceil(1.2)", 2],
    ["[abs(-3), abs(3), abs('x')]", [3, 3, null]],
    ["sum([0.1, 0.2, null])", 0.3],
    ["sum([])", 0],
    ["sum([1, 'a'])", undefined],
    ["sum([[1], [2]], x => x[0] * 1.1)", 3.3],
    ["[max([3, 1]), min([3, 1]), max(2, 7, 5), max([])]", [3, 1, 7, null]],
    ["min([[2, 'b'], [1, 'a']], x => x[0])", [1, "a"]],
    // Choices.
    ["true ? 'y' : 'n'", "y"],
    ["1 ? 'y' : 'n'", "n"],
    ["false ? 1 : true ? 2 : 3", 2],
    ["order.x ?? null ?? 'else'", "else"],
    ["(order.x ?? 2) > 1", true],
    // Texts.
    ["`a §{1 + 1} §{order.x}§{null} §{'b'} \\` \\§{c}`", "a 2  b ` §{c}"],
    ["`§{`in §{{a: [1]}}`}`", 'in {"a": [1]}'],
    ["[length('a😀b'), slice('a😀b', 1, 2), split('a😀', '')]", [3, "😀", ["a", "😀"]]],
    ["[substring('hello', 1, 3), slice('hello', -2), slice([1, 2, 3], 1)]", ["el", "lo", [2, 3]]],
    ["[padStart('7', 3, '0'), padEnd('ab', 4), padStart(7, 2, '0')]", ["007", "ab  ", "07"]],
    ["[replace('a.b.c', '.', '-'), startsWith('abc', 'ab'), endsWith('abc', 'ab')]", ["a-b-c", true, false]],
    ["[indexOf('a😀b', 'b'), indexOf([1, [2]], [2]), indexOf('a', 'z')]", [2, 1, -1]],
    // Lists and objects.
    ["{a: 1, 'b c': [order.x], d: order.x}", { a: 1, "b c": [null] }],
    ["{__proto__: 1}.constructor", undefined],
    ["sort([10, 9, 'b', 'a', null, true, false, [2], [1, 5]])", [null, false, true, 9, 10, "a", "b", [1, 5], [2]]],
    [
      "sortBy([{n: 2, i: 'a'}, {n: 5, i: 'b'}, {n: 2, i: 'c'}], x => -x.n)",
      [
        { n: 5, i: "b" },
        { n: 2, i: "a" },
        { n: 2, i: "c" },
      ],
    ],
    [
      "groupBy([{k: 1, v: 'a'}, {k: '1', v: 'b'}, {v: 'c'}], x => x.k)",
      {
        1: [
          { k: 1, v: "a" },
          { k: "1", v: "b" },
        ],
      },
    ],
    ["unique([1, '1', 1, {a: 1, b: 2}, {b: 2, a: 1}, 1e20, 100000000000000000000])", [1, "1", { a: 1, b: 2 }, 1e20]],
    ["unique([{a: 1, n: 1}, {a: 1, n: 2}], x => x.a)", [{ a: 1, n: 1 }]],
    ["[find([1, 5, 9], x => x > 2), find([1], x => x > 2)]", [5, null]],
    ["[some([1, 5], x => x > 4), every([1, 5], x => x > 4), every([], x => x)]", [true, false, true]],
    ["toObject(['a', 'b'], x => x, x => upper(x))", { a: "A", b: "B" }],
    ["toObject([{id: 7}], x => x.id)", { 7: { id: 7 } }],
    ["toObject(['__proto__'], x => x)", JSON.parse('{"__proto__": "__proto__"}')],
    [
      "[flatten([1, [2, [3]]]), reverse([1, 2]), first([7, 8]), last([7, 8]), last([])]",
      [[1, 2, [3]], [2, 1], 7, 8, null],
    ],
    ["[range(3), range(1, 4), range(5, 0, -2), range(1, 0)]", [[0, 1, 2], [1, 2, 3], [5, 3, 1], []]],
    [
      "zip([1, 2], ['a', 'b', 'c'])",
      [
        [1, "a"],
        [2, "b"],
      ],
    ],
    ["map(entries({a: 1}), e => `§{e.key}=§{e.value}`)", ["a=1"]],
    ["[values({a: 1}), pick({a: 1, b: 2}, 'a'), omit({a: 1, b: 2}, ['a'])]", [[1], { a: 1 }, { b: 2 }]],
    ["map([1, 2], x => {half: x / 2})", [{ half: 0.5 }, { half: 1 }]],
    ["reduce([[1, 2], [3]], (sum, list) => reduce(list, (all, x) => all + x * 10, sum), 0)", 60],
    ["[reduce([], (a, b) => b, 7), reduce([1, null], (a, b) => a + b, 0), reduce(5, (a, b) => b, 0)]", [7, null, null]],
    ["reduce(['a', 'b'], (text, x) => `§{x}§{text}`, '')", "ba"],
  ])("%s", (text, value) => {
    // A dollar and a brace in a text of TypeScript look like a mistake.
    const written = text.replaceAll("§", "$");
    expect(resultOf(written, {})).toEqual(typeof value === "string" ? value.replaceAll("§", "$") : value);
  });

  test("a sum may be as long as the expression, a chain of products not", () => {
    expect(resultOf(`${"1+ ".repeat(3_000)}1`)).toBe(3_001);
    expect(parseExpression(`${"1 * ".repeat(200)}1`, SCOPE)).toMatchObject({
      faults: [{ code: "EXPRESSION_TOO_COMPLEX" }],
    });
  });

  test("`now()` is the time of the run's latest event", () => {
    expect(exprOf("now()")).toEqual({ op: "path", root: "run", path: ["now"] });
  });

  test.each([
    ["addTime(order.at, 'P1X')", "`P1X` is no duration."],
    ["addTime(order.at, 'P1D', 'Europe/Berln')", "There is no time zone `Europe/Berln`."],
    ["timeBetween(order.at, now(), 'day')", "There is no unit `day`."],
    ["timeBetween(order.at, now(), 5)", "There is no unit `5`."],
    ["format(now(), 'YYYY-MM-DD')", "`YYYY-MM-DD` is no pattern."],
    ["dateAdd(now(), 'P1D')", "There is no function `dateAdd`."],
    ["reduce([1], x => x, 0)", "`reduce` takes a list and what to do with each element."],
    ["map([1], (x, at) => 1)", "`map` takes a list and what to do with each element."],
    ["sortBy([1], (x, at) => 1)", "`sortBy` takes a list and what to do with each element."],
    ["reduce([1], (a-b, x) => 1, 0)", "Before `=>` stands one name of letters, digits and `_`."],
    ["(x, y) => 1", "A comma separates arguments, and elements of a list."],
  ])("%s is refused", (text, message) => {
    expect(parseExpression(text, SCOPE)).toMatchObject({ faults: [{ message }] });
  });

  test.each([
    "padStart('a', 2000000000)",
    "range(1000000000)",
    "flatten(map(range(5000), x => range(5000)))",
    "zip(range(5000000), range(5000000))",
    "sum(map(range(3000), x => sum(map(range(3000), y => 1e-300 + 1e300))))",
    "length(toJson(map(range(3000), x => range(3000))))",
    // What is counted to pay for it is paid for too.
    "map([range(45000)], big => length(map(range(3000), x => [big, x] == [1])))",
    "reduce(range(3000), (deep, x) => [deep], [])",
    "reduce(range(3000), (twice, x) => [twice, twice], [])",
    "reduce(range(3000), (long, x) => concat(long, [x]), [])",
    "reduce(range(3000), (text, x) => text + text, 'ab')",
    "reduce(range(3000), (sum, x) => reduce(range(3000), (all, y) => all + y, sum), 0)",
  ])("%s has a limit that is not taken for missing", (text) => {
    for (const asked of [text, `${text} ?? 1`, `find([1], x => ${text} == x)`])
      expect(() => resultOf(asked)).toThrow(expect.objectContaining({ code: "EXPRESSION_TOO_COSTLY" }));
  });

  test("a comparison or a choice may be as long as the expression", () => {
    expect(resultOf(`${"true && ".repeat(1_200)}true`)).toBe(true);
    expect(resultOf(`${"false||".repeat(1_400)}true`)).toBe(true);
  });
});

describe("faults point at the place and say what to write", () => {
  test.each<[string, string, string]>([
    ["order.a === 1", "===", "Write `==`."],
    ["order.a !== 1", "!==", "Write `!=`."],
    ["order.a = 1", "=", "Write `==`."],
    ["order.a & order.b", "&", "Write `&&`."],
    ["order.a <> 1", "<>", "Write `!=`."],
    ["order.a and order.b", "and", "Write `&&`."],
    ["order.a OR order.b", "OR", "Write `||`."],
    ["not order.a", "not", "Write `!`."],
    ["order.a is 1", "is", "Write `==`."],
    ["order.a ?? 0 > 5", "??", "Write `(a ?? b) > c`, or `a ?? (b > c)`."],
    ["1 + 'a'", "1", "Write the text in backticks, with the value in it."],
    ["2026-10-31", "2026-10-31", "Write text in single quotes inside of double ones: `\"'2026-10-31'\"`."],
    ["[1/2]", "/", "To calculate write blanks around it; write text in single quotes."],
    ["order.a ? 1", "?", "Write `condition ? value : other`."],
    ["{order.a}", ".", "Write `{name: value}`. A path stands alone, without braces."],
    ["sortBy(order)", "sortBy", "Write `sortBy(list, x => key)`."],
    ["sortBy(order, 'a')", "'a'", "Write `sortBy(list, x => key)`."],
    ["any(order, x => x)", "any", "Did you mean `some(list, x => condition)`?"],
    ["`a ${order.a", "${order.a", "Write `}`."],
    ["`a", "`a", "Close it; inside of it write one as `\\``."],
    ["order.a ** 2", "**", "Write `a * a`."],
    ["order.a.includes('x')", "includes", "Write `contains(listOrText, value)`."],
    ["lenght(order)", "lenght", "Did you mean `length(value)`?"],
    ["toLowerCase(order.a)", "toLowerCase", "Did you mean `lower(text)`?"],
    ["contains(order)", "contains", "Write `contains(listOrText, value)`."],
    ["map(order, order.x)", "order.x", "Write `map(list, x => value)`."],
    ["map(order, 1 => 2)", "1", "Write `x => ...`."],
    ["triger.payload", "triger", "Did you mean `trigger`?"],
    ["steps.chek-stock.output", "chek-stock", "Did you mean `check-stock`?"],
    ["$.steps.chek-stock.x", "chek-stock", "Did you mean `check-stock`?"],
    ["steps.charge.receipt.id", "receipt", "Write `steps.charge.output.receipt.id`."],
    ["steps.charge.ouput.id", "ouput", "Write `steps.charge.output.id`."],
    ["steps.charge", "charge", "Write `steps.charge.output`."],
    ["step.error.code", "error", "Write `step.output...`."],
    ["workflow.starttime", "starttime", "Did you mean `startTime`?"],
    ["input.x", "input", "Write `trigger...` or `$.input...`."],
    ["length", "length", "`length` is a function: `length(value)`."],
    ["order.a == True", "True", "Did you mean `true`?"],
    [
      "application/json",
      "application/json",
      "Write text in single quotes inside of double ones: `\"'application/json'\"`.",
    ],
    [" hello world ", "hello world", "Write text in single quotes inside of double ones: `\"'hello world'\"`."],
    ["/api/tasks", "/api/tasks", "Write text in single quotes inside of double ones: `\"'/api/tasks'\"`."],
    [
      "https://a.example/x?y=z",
      "https://a.example/x?y=z",
      "Write text in single quotes inside of double ones: `\"'https://a.example/x?y=z'\"`.",
    ],
    ["2024-01-31", "2024-01-31", "Write text in single quotes inside of double ones: `\"'2024-01-31'\"`."],
    ["1h30m", "1h30m", "Write text in single quotes inside of double ones: `\"'1h30m'\"`."],
    ["'it''s'", "'s'", "Inside of a text write a quote as `\\'`."],
    ["'open", "'open", "Close it; inside of a text write a quote as `\\'`."],
    ["1 < order.a < 3", "<", "Write `a < b && b < c`, or parentheses around one."],
    ["order[-1]", "-1", "Write a whole number from 0, or a name as `['name']`."],
    ["order.a => 3", "=>", "For greater or equal write `>=`."],
    ["(order.a", "(", "Write `)`."],
    ["order.a)", ")", "Remove it."],
    ["defined('order.a')", "'order.a'", "Write `defined(steps.ID.output.name)`, without quotes."],
    ["", "", "For an empty text write `''`."],
  ])("%s", (text, at, remedy) => {
    const [fault] = faultsOf(text);
    expect(fault).toEqual([at, remedy]);
  });

  test.each([
    ["{{ order.a }}", "{{"],
    ["order.a +", "+"],
    ["order.a : 1", ":"],
    ["{1: 2}", "1"],
    ["{a: 1,}", "}"],
    ["map([1], x => x-1)", "x-1"],
    ["order.a; order.b", ";"],
    ["(order.a, order.b)", ","],
    ["order.a,", ","],
    ["contains(order,)", ")"],
    ["[1,,2]", ","],
    ["order..a", "."],
    ["order.", "."],
    ["order.a ==", "=="],
    ["== order.a", "=="],
    ["order.a !order.b", "!"],
    ["()", ")"],
    ["order.a()", "a"],
    ["'a'()", "'a'"],
    ["'a'.b", "'a'"],
    ["order[true]", "true"],
    ["order[0.5]", "0.5"],
    ["1e999", "1e999"],
    ["this.a", "this"],
    ["constructor(1)", "constructor"],
    ["constructor.name == 1", "constructor"],
    ["map([1], x-y => 1)", "x-y"],
    ["map([1], (x => x))", "=>"],
    ["order.a == 'x' extra", "extra"],
    ["$", "$"],
    ["steps", "steps"],
    ["workflow.id.x", "x"],
  ])("%s at %s", (text, at) => {
    const [fault] = faultsOf(text);
    expect(fault?.[0]).toBe(at);
  });

  test("a step that cannot be seen has a code of its own, and so has a regular expression that cannot be used", () => {
    expect(parseExpression("steps.x.output", SCOPE)).toMatchObject({ faults: [{ code: "STEP_UNKNOWN" }] });
    const faults = [{ code: "REGEX_INVALID", offset: 13, length: 7 }];
    expect(parseExpression("matches('a', '(?=a)')", SCOPE)).toMatchObject({ ok: false, faults });
    expect(parseExpression(`matches('a', '${"a".repeat(1_001)}')`, SCOPE)).toMatchObject({ ok: false });
    expect(parseExpression("matches('a', '(a{1000})b{1000}[a-z]{1000}')", SCOPE)).toMatchObject({ ok: true });
  });

  test("several unknown names are reported together", () => {
    expect(faultsOf("filter(stps.a, x => x == y) == triger").map(([at]) => at)).toEqual(["stps", "y", "triger"]);
  });

  test("loop variables, `step` and `error` can be read only where they mean something", () => {
    for (const text of ["order.id", "step.output", "error.code"]) expect(faultsOf(text, OUTSIDE)).toHaveLength(1);
  });

  test("nesting and length are limited", () => {
    const nested = (levels: number) => `${"(".repeat(levels)}1${")".repeat(levels)}`;
    expect(faultsOf(nested(90))).toEqual([]);
    const tooComplex = { ok: false, faults: [{ code: "EXPRESSION_TOO_COMPLEX" }] };
    expect(parseExpression(nested(101), SCOPE)).toMatchObject(tooComplex);
    expect(parseExpression(`'${"x".repeat(9_999)}'`, SCOPE)).toMatchObject(tooComplex);
  });
});

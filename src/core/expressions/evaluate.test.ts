import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rounds } from "../../../test/properties/rounds.ts";
import type { Json } from "../json.ts";
import { evaluate } from "./evaluate.ts";
import type { Expr, FunctionName, Matches, PathExpr, Scope } from "./expr.ts";
import { readPath } from "./read-path.ts";

const scopeOf = (value: Json | undefined): Scope => ({
  path: ({ path, readsJson }) => readPath(value, path, readsJson),
});
const literal = (value: Json): Expr => ({ op: "literal", value });
const path = (...keys: (string | number)[]): PathExpr => ({ op: "path", root: "input", path: keys });
const call = (fn: FunctionName, ...args: Expr[]): Expr => ({ op: "call", fn, args });
const read = (value: Json | undefined, expr: Expr) => evaluate(expr, scopeOf(value));

/** A list in a list in a list, deeper than any stack. */
function deepList(levels: number): Json {
  let list: Json = [];
  for (let n = 1; n < levels; n += 1) list = [list];
  return list;
}

describe("paths", () => {
  test.each([
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "valueOf",
    "__defineGetter__",
    "__lookupSetter__",
    "length",
    "map",
  ])("%s is no property of a value", (name) => {
    expect(read({ a: 1 }, path(name))).toBeUndefined();
    expect(read([1], path(name))).toBeUndefined();
    expect(read("text", path(name))).toBeUndefined();
    expect(read(7, path(name))).toBeUndefined();
    expect(read({ a: 1 }, { op: "index", of: path(), at: literal(name) })).toBeUndefined();
    expect(read({ a: { b: 1 } }, path("a", name, "b"))).toBeUndefined();
  });

  test("a property that is really there is read, whatever its name", () => {
    expect(read(JSON.parse('{"__proto__": 1, "constructor": 2}'), path("__proto__"))).toBe(1);
    expect(read(JSON.parse('{"constructor": {"x": 2}}'), path("constructor", "x"))).toBe(2);
  });

  test.each([
    [[10, 20], 1, 20],
    [[10, 20], "1", 20],
    [[10, 20], "01", undefined],
    [[10, 20], -1, undefined],
    [[10, 20], 1.5, undefined],
    [[10, 20], "1e0", undefined],
    [{ "1": "one" }, 1, "one"],
    ["text", 0, undefined],
    [null, "a", undefined],
  ] as const)("%j at %j is %j", (value, key, found) => {
    expect(read(value, path(key))).toEqual(found);
  });

  test("a string on the way is read as JSON only where the path says so", () => {
    const value = { answer: '{"x": [1, 2]}' };
    expect(read(value, { ...path("answer", "x", 1), readsJson: true })).toBe(2);
    expect(read(value, path("answer", "x"))).toBeUndefined();
    expect(read({ answer: "7" }, { ...path("answer", "x"), readsJson: true })).toBeUndefined();
    expect(read({ answer: "{broken" }, { ...path("answer", "x"), readsJson: true })).toBeUndefined();
  });
});

describe("comparisons", () => {
  test.each([
    [1, "==", "1", false],
    [0, "==", false, false],
    [null, "==", 0, false],
    ["", "==", null, false],
    [[1], "==", "1", false],
    [{ a: 1, b: [2] }, "==", { b: [2], a: 1 }, true],
    [[1, 2], "==", [2, 1], false],
    ["10", "<", "9", true],
    [10, "<", 9, false],
    [10, "<", "90", false],
    [1, ">=", 1, true],
    [null, "<", 1, false],
    [true, ">", false, false],
    [1, "!=", "1", true],
  ] as const)("%j %s %j is %j", (left, by, right, holds) => {
    expect(read(null, { op: "compare", by, left: literal(left), right: literal(right) })).toBe(holds);
  });

  test("what is not there equals only what is not there either", () => {
    const missing = path("x");
    expect(read({}, { op: "compare", by: "==", left: missing, right: literal(null) })).toBe(false);
    expect(read({}, { op: "compare", by: "==", left: missing, right: missing })).toBe(true);
    expect(read({}, { op: "compare", by: "<", left: missing, right: literal(1) })).toBe(false);
  });

  test("only true is true", () => {
    for (const value of [1, "true", "yes", [], {}, null]) {
      expect(read(null, { op: "and", of: [literal(value)] })).toBe(false);
      expect(read(null, { op: "not", of: literal(value) })).toBe(true);
    }
    expect(read(null, { op: "or", of: [literal(false), literal(true)] })).toBe(true);
  });
});

describe("text", () => {
  const text = (value: Expr): Expr => ({ op: "text", parts: ["<", { value, written: "{x}" }, ">"] });

  test.each([
    ["plain", "<plain>"],
    [null, "<null>"],
    [true, "<true>"],
    [1.5, "<1.5>"],
    [[1, "a", { b: null }], '<[1, "a", {"b": null}]>'],
    [{ a: 1, "b:,": [], c: {} }, '<{"a": 1, "b:,": [], "c": {}}>'],
    ['quote " and \\', '<quote " and \\>'],
    [['quote " , \\'], '<["quote \\" , \\\\"]>'],
  ])("%j stands as %s", (value, written) => {
    expect(read(null, text(literal(value)))).toBe(written);
  });

  test("what is not there leaves what was written", () => {
    expect(read({}, text(path("nothing")))).toBe("<{x}>");
  });

  test("what is put in is never expanded again", () => {
    expect(read({ a: "{input.b}", b: "secret" }, text(path("a")))).toBe("<{input.b}>");
  });
});

describe("objects, lists and choices", () => {
  test("what is not there leaves its name out of an object, and is null in a list", () => {
    expect(read({}, { op: "object", entries: { a: literal(1), b: path("x") } })).toEqual({ a: 1 });
    expect(read({}, { op: "list", items: [path("x"), literal(1)] })).toEqual([null, 1]);
  });

  test("an entry named __proto__ is an entry", () => {
    const made = read({}, { op: "object", entries: JSON.parse('{"__proto__": {"op": "literal", "value": 1}}') });
    expect(Object.keys(made as object)).toEqual(["__proto__"]);
  });

  test("the first that is defined is taken, null included", () => {
    expect(read({ b: null }, { op: "first", of: [path("a"), path("b"), literal(1)] })).toBeNull();
  });

  test("map and filter see the element, and inner locals hide outer ones", () => {
    const local = (...keys: string[]): Expr => ({ op: "path", root: "local", name: "x", path: keys });
    const list = literal([{ n: 1 }, { n: 2 }]);
    expect(read(null, { op: "map", list, as: "x", body: local("n") })).toEqual([1, 2]);
    const isTwo: Expr = { op: "compare", by: "==", left: local("n"), right: literal(2) };
    expect(read(null, { op: "filter", list, as: "x", body: isTwo })).toEqual([{ n: 2 }]);
    const inner: Expr = { op: "map", list: literal([7]), as: "x", body: local() };
    expect(read(null, { op: "map", list, as: "x", body: inner })).toEqual([[7], [7]]);
    expect(read(null, { op: "map", list: literal("text"), as: "x", body: local() })).toBeUndefined();
  });
});

describe("functions", () => {
  test.each<[FunctionName, Json[], Json | undefined]>([
    ["length", ["abc"], 3],
    ["length", [{ a: 1 }], 1],
    ["length", [7], undefined],
    ["itemCount", [[1, 2]], 2],
    ["itemCount", [null], 0],
    ["itemCount", [{}], -1],
    ["asList", [7], [7]],
    ["asList", [null], []],
    ["asList", [[7]], [7]],
    ["contains", ["abc", "b"], true],
    ["contains", ["a1", 1], false],
    ["contains", [[{ a: 1 }], { a: 1 }], true],
    ["contains", [{ a: 1 }, "a"], true],
    ["contains", [{ a: 1 }, "toString"], false],
    ["contains", [7, 7], undefined],
    ["keys", [{ b: 1, a: 2 }], ["b", "a"]],
    ["keys", [[1]], undefined],
    ["coalesce", [null, 0], 0],
    ["toNumber", ["12.5"], 12.5],
    ["toNumber", [" "], undefined],
    ["toNumber", ["1x"], undefined],
    ["toNumber", ["Infinity"], undefined],
    ["toNumber", [true], undefined],
    ["toString", [{ a: [1] }], '{"a": [1]}'],
    ["toJson", [{ a: [1] }], '{"a":[1]}'],
    ["parseJson", ['{"a": 1}'], { a: 1 }],
    ["parseJson", ["{"], undefined],
    ["parseJson", [7], undefined],
    ["lower", ["ÄB"], "äb"],
    ["upper", [1], undefined],
    ["trim", ["  a "], "a"],
    ["split", ["a,b", ","], ["a", "b"]],
    ["split", ["a", 1], undefined],
    ["join", [["a", 1, null], "-"], "a-1-"],
    ["join", [["a", "b"]], "a,b"],
    ["join", ["ab", "-"], undefined],
    ["matches", [1, "a"], false],
    ["split", ["ab", ""], ["a", "b"]],
    ["join", [[], "-"], ""],
    ["join", [["", "", ""], "-"], "--"],
    ["concat", [[1], 2, null, [[3]], { a: 4 }], [1, 2, [3], { a: 4 }]],
    ["concat", [], []],
    ["merge", [{ a: 1, b: { x: 1 } }, { b: { y: 2 } }], { a: 1, b: { y: 2 } }],
    ["merge", [[{ a: 1 }, { a: 2 }], null, { b: 3 }], { a: 2, b: 3 }],
    ["merge", [{ a: 1 }, "text"], undefined],
    ["merge", [[{ a: 1 }, [2]]], undefined],
    ["merge", [], {}],
    ["toMilliseconds", [1.5], 1_500],
    ["toMilliseconds", [0], 0],
    ["toMilliseconds", [-1], undefined],
    ["toMilliseconds", [1e300], undefined],
    ["toMilliseconds", ["90"], 90_000],
    ["toMilliseconds", ["90s"], 90_000],
    ["toMilliseconds", ["500ms"], 500],
    ["toMilliseconds", ["5m"], 300_000],
    ["toMilliseconds", ["1h30m"], 5_400_000],
    ["toMilliseconds", ["2d"], 172_800_000],
    ["toMilliseconds", ["1d2h3m4s5ms"], 93_784_005],
    ["toMilliseconds", ["30m1h"], undefined],
    ["toMilliseconds", [""], undefined],
    ["toMilliseconds", ["5 m"], undefined],
    ["toMilliseconds", ["-5m"], undefined],
    ["toMilliseconds", ["1.5h"], undefined],
    ["toMilliseconds", [`${"9".repeat(15)}d`], undefined],
    ["toMilliseconds", [true], undefined],
    ["toMilliseconds", [[90]], undefined],
  ])("%s of %j is %j", (fn, args, result) => {
    expect(read(null, call(fn, ...args.map(literal)))).toEqual(result);
  });

  test("of nothing gives nothing, and never throws", () => {
    const all: FunctionName[] = [
      "length",
      "itemCount",
      "asList",
      "keys",
      "coalesce",
      "toNumber",
      "toString",
      "parseJson",
      "toJson",
      "lower",
      "upper",
      "trim",
      "split",
      "join",
    ];
    for (const fn of all) expect([fn, read(undefined, call(fn, path()))]).toEqual([fn, undefined]);
    for (const fn of all) expect([fn, read(null, call(fn))]).toEqual([fn, undefined]);
  });

  test("mergeBy makes one object of those with the same value of a field, where the first of them stood", () => {
    const prices: Json = [{ id: 1, price: 5 }, "no object", { id: "1", price: 6 }];
    const names: Json = [{ id: 2, name: "two" }, { name: "without" }, { id: 1, name: "one", price: 7 }];
    expect(read(null, call("mergeBy", literal([prices, null, names]), literal("id")))).toEqual([
      { id: 1, price: 7, name: "one" },
      "no object",
      { id: "1", price: 6 },
      { id: 2, name: "two" },
      { name: "without" },
    ]);
  });

  test("mergeBy leaves what has a list or an object in the field as it is, and takes null for a value", () => {
    const list: Json = [{ id: [1] }, { id: [1] }, { id: null, a: 1 }, { id: null, b: 2 }];
    const merged = [{ id: [1] }, { id: [1] }, { id: null, a: 1, b: 2 }];
    expect(read(null, call("mergeBy", literal([list]), literal("id")))).toEqual(merged);
    expect(read(null, call("mergeBy", literal({ id: 1 }), literal("id")))).toBeUndefined();
    expect(read(null, call("mergeBy", literal([list]), literal(1)))).toBeUndefined();
  });

  test("a field named __proto__ is merged as data", () => {
    const evil = JSON.parse('{"__proto__": {"polluted": true}, "id": 1}');
    const merged = read(null, call("merge", literal(evil), literal({ a: 1 }))) as Record<string, Json>;
    expect(Object.keys(merged)).toEqual(["__proto__", "id", "a"]);
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
    const byId = read(null, call("mergeBy", literal([[evil], [{ id: 1 }]]), literal("id"))) as readonly Json[];
    expect(JSON.stringify(byId)).toBe('[{"__proto__":{"polluted":true},"id":1}]');
    expect(read(null, call("mergeBy", literal([[{ a: 1 }, { a: 2 }]]), literal("__proto__")))).toEqual([
      { a: 1 },
      { a: 2 },
    ]);
  });

  test("matches is the host's, and undefined without it", () => {
    const matches = call("matches", literal("abc"), literal("b"));
    expect(read(null, matches)).toBeUndefined();
    expect(evaluate(matches, { path: () => undefined, matches: (text, pattern) => text.includes(pattern) })).toBe(true);
  });
});

const TOO_COSTLY = expect.objectContaining({ code: "EXPRESSION_TOO_COSTLY" });

test("a value that is nested 100,000 deep is written and compared", () => {
  const deep = deepList(100_000);
  expect(read({ deep }, call("toString", path("deep")))).toHaveLength(200_000);
  expect(read({ deep }, { op: "compare", by: "==", left: path("deep"), right: literal(deepList(100_000)) })).toBe(true);
  expect(read({ deep }, { op: "compare", by: "==", left: path("deep"), right: literal(deepList(99_999)) })).toBe(false);
});

describe("hostile sizes", () => {
  const read16 = (expr: Expr) => read(null, expr);
  const million = literal(Array.from({ length: 1_000_000 }, () => 0));
  const longText = literal("ab".repeat(8 * 1024 * 1024));

  test("JSON that is nested too deeply is not parsed, wherever it stands", () => {
    const deep = "[".repeat(501) + "]".repeat(501);
    expect(read16(call("parseJson", literal(deep)))).toBeUndefined();
    expect(read({ a: `${" ".repeat(5_000)}${deep}` }, { ...path("a", 0), readsJson: true })).toBeUndefined();
    expect(read16(call("parseJson", literal("[".repeat(500) + "]".repeat(500))))).toBeDefined();
    expect(read16(call("parseJson", literal(JSON.stringify(["[".repeat(2_000)]))))).toEqual(["[".repeat(2_000)]);
    expect(read16(call("parseJson", literal("[".repeat(1_000_000))))).toBeUndefined();
  });

  test("a text that would be longer than any value is not made", () => {
    const isTooCostly = (expr: Expr) => expect(() => read16(expr)).toThrow(TOO_COSTLY);
    isTooCostly(call("join", million, longText));
    isTooCostly(call("split", longText, literal("")));
    const repeated: Expr = { op: "map", list: million, as: "x", body: longText };
    isTooCostly(call("toJson", repeated));
    isTooCostly(call("join", repeated));
    const part = { value: longText, written: "" };
    isTooCostly({ op: "text", parts: [part, part, part, part, part] });
  });

  test("a small value that prints huge is told by its parts, which are looked at once", () => {
    // map([[1, 1]], x1 => map([[x1, x1]], x2 => ...)): as long as it is deep.
    const nest = (levels: number, of: Expr, at = 1): Expr => {
      if (levels === 0) return of;
      const list: Expr = { op: "list", items: [{ op: "list", items: [of, of] }] };
      const as = `x${at}`;
      return { op: "map", list, as, body: nest(levels - 1, { op: "path", root: "local", name: as, path: [] }, at + 1) };
    };
    // A list that holds the one below it twice: each level reads one value, and prints two.
    const bomb = Array.from({ length: 90 }).reduce<Json>((below) => [below, below], "x");
    const other = Array.from({ length: 90 }).reduce<Json>((below) => [below, below], "x");
    const compare: Expr = { op: "compare", by: "==", left: literal(bomb), right: literal(other) };
    const text: Expr = { op: "text", parts: [{ value: literal(bomb), written: "" }] };
    const list: Expr = { op: "list", items: [literal(bomb)] };
    const all = [compare, text, list, call("contains", list, literal(other)), nest(60, literal(1))];
    for (const fn of ["toJson", "toString", "join", "escapeRegex"] as const) all.push(call(fn, list));
    const before = process.cpuUsage();
    for (const expr of all) expect(() => read16(expr)).toThrow(TOO_COSTLY);
    expect(process.cpuUsage(before).user).toBeLessThan(5_000_000);
    // Equal as they stand, and small enough.
    expect(read16({ op: "compare", by: "==", left: literal(bomb), right: literal(bomb) })).toBe(true);
    expect(read16(call("toJson", nest(2, literal(1))))).toBe("[[[[1,1],[1,1]]]]");
  });

  test("long lists are put together without the stack, up to a limit", () => {
    expect(read16(call("length", call("concat", million, million)))).toBe(2_000_000);
    const nine = Array.from({ length: 9 }, () => million);
    expect(() => read16(call("concat", ...nine))).toThrow(TOO_COSTLY);
    expect(read16(call("length", call("mergeBy", { op: "list", items: [million, million] }, literal("id"))))).toBe(
      2_000_000,
    );
  });

  test("an evaluation that would not end in time is given up as a whole", () => {
    const quadratic: Expr = {
      op: "filter",
      list: million,
      as: "x",
      body: { op: "defined", of: { op: "filter", list: million, as: "y", body: literal(true) } },
    };
    expect(() => read16({ op: "list", items: [literal(1), quadratic] })).toThrow(TOO_COSTLY);
    // The first that is defined is no way around a limit.
    expect(() => read16({ op: "first", of: [quadratic, literal(1)] })).toThrow(TOO_COSTLY);
    const search = call("contains", longText, literal("b".repeat(10)));
    expect(() => read16({ op: "filter", list: million, as: "x", body: search })).toThrow(TOO_COSTLY);
    const texts = literal(Array.from({ length: 1_000 }, () => "a".repeat(10_000)));
    const body = call("matches", { op: "path", root: "local", name: "x", path: [] }, literal("(x+x+)+(y|z)".repeat(5)));
    const matches: Matches = (text, pattern, pay) => {
      pay(text.length * pattern.length);
      return true;
    };
    const scope: Scope = { path: () => undefined, matches };
    expect(() => evaluate({ op: "filter", list: texts, as: "x", body }, scope)).toThrow(TOO_COSTLY);
  });
});

test("what toJson writes is what JSON.stringify writes", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(read(null, call("toJson", literal(value as Json)))).toBe(JSON.stringify(value));
    }),
  );
});

const functionNames = fc.constantFrom<FunctionName>(
  ...([
    "length",
    "itemCount",
    "asList",
    "contains",
    "keys",
    "coalesce",
    "toNumber",
    "toString",
    "parseJson",
    "toJson",
  ] as const),
  ...(["lower", "upper", "trim", "split", "join", "matches"] as const),
  ...(["concat", "merge", "mergeBy", "toMilliseconds"] as const),
);
const keys = fc.oneof(
  fc.constantFrom("a", "__proto__", "constructor", "length"),
  fc.integer({ min: -2, max: 3 }),
  fc.string(),
);

const exprs = fc.letrec<{ expr: Expr }>((tie) => ({
  expr: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.jsonValue().map((value) => literal(value as Json)),
    fc
      .record({ path: fc.array(keys, { maxLength: 3 }), readsJson: fc.boolean() })
      .map((rest): Expr => ({ op: "path", root: "input", ...rest })),
    fc.constant<Expr>({ op: "path", root: "local", name: "x", path: ["a"] }),
    tie("expr").map((of): Expr => ({ op: "not", of })),
    tie("expr").map((of): Expr => ({ op: "defined", of })),
    fc.array(tie("expr"), { maxLength: 3 }).map((of): Expr => ({ op: "and", of })),
    fc.array(tie("expr"), { maxLength: 3 }).map((of): Expr => ({ op: "first", of })),
    fc.array(tie("expr"), { maxLength: 3 }).map((items): Expr => ({ op: "list", items })),
    fc.dictionary(fc.string(), tie("expr"), { maxKeys: 3 }).map((entries): Expr => ({ op: "object", entries })),
    fc
      .tuple(fc.constantFrom("==", "!=", "<", ">="), tie("expr"), tie("expr"))
      .map(([by, left, right]): Expr => ({ op: "compare", by, left, right })),
    fc.tuple(tie("expr"), tie("expr")).map(([of, at]): Expr => ({ op: "index", of, at })),
    fc
      .tuple(functionNames, fc.array(tie("expr"), { maxLength: 3 }))
      .map(([fn, args]): Expr => ({ op: "call", fn, args })),
    fc
      .tuple(fc.constantFrom("map", "filter"), tie("expr"), tie("expr"))
      .map(([op, list, body]): Expr => ({ op, list, as: "x", body })),
    tie("expr").map((value): Expr => ({ op: "text", parts: ["t", { value, written: "{v}" }] })),
  ),
})).expr;

test("no expression on any value throws, and equal ones give equal results", () => {
  fc.assert(
    fc.property(exprs, fc.jsonValue(), (expr, value) => {
      expect(read(value as Json, expr)).toEqual(read(value as Json, expr));
    }),
    { numRuns: rounds(125) },
  );
});

import { describe, expect, test } from "vitest";
import { rounds } from "../../../../test/properties/rounds.ts";
import { evaluate } from "../../../core/expressions/evaluate.ts";
import { readPath } from "../../../core/expressions/read-path.ts";
import type { Json } from "../../../core/json.ts";
import type { ExpressionScope } from "./expression-fault.ts";
import { parseExpression } from "./parse-expression.ts";

const SCOPE: ExpressionScope = {
  steps: new Set(["a", "check-stock", "__proto__"]),
  locals: new Map([["order", { root: "item", name: "loop" }]]),
  allowsOutput: true,
  allowsError: true,
  workflowId: "w",
};

const CODES = new Set(["EXPRESSION_INVALID", "EXPRESSION_TOO_COMPLEX", "STEP_UNKNOWN", "REGEX_INVALID"]);

/** A value whose prototypes throw when anything is read from them but what lists need to be walked. */
function guard(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  const guarded = Array.isArray(value)
    ? value.map(guard)
    : Object.fromEntries(Object.entries(value).map(([name, item]) => [name, guard(item)]));
  return Object.setPrototypeOf(guarded, Array.isArray(value) ? LISTS : OBJECTS) as Json;
}

const LIST_METHODS: ReadonlySet<PropertyKey> = new Set([Symbol.iterator, "map", "some", "entries"]);
const LISTS = new Proxy(Array.prototype, {
  get(target, name, receiver) {
    if (!LIST_METHODS.has(name)) throw new Error(`Read ${String(name)} from the prototype of a list.`);
    return Reflect.get(target, name, receiver);
  },
});
const OBJECTS = new Proxy(Object.create(null), {
  get(_, name) {
    throw new Error(`Read ${String(name)} from the prototype of an object.`);
  },
});

const DATA = guard(
  JSON.parse(`{
    "requestData": {"payload": {"n": 1, "list": [1, "b", {"id": 7}], "text": "{\\"x\\": [1]}", "__proto__": {"own": 1}}},
    "context": {"userInfo": {"id": "u"}, "list": [[1], [2, [3]]]},
    "error": {"code": "TIMEOUT"}
  }`),
);

/** Parses and, where that goes well, evaluates. Throws where something is wrong with the outcome. */
function check(text: string): "value" | "faults" {
  const parsed = parseExpression(text, SCOPE);
  if (parsed.ok) {
    const value = evaluate(parsed.expr, {
      path: (expr) => readPath(DATA, expr.path, expr.readsJson),
      matches: () => true,
    });
    if (!isJson(value)) throw new Error("What comes out is no JSON.");
    return "value";
  }
  if (parsed.faults.length === 0) throw new Error("There is no fault.");
  for (const { code, message, remedy, offset, length } of parsed.faults) {
    if (!CODES.has(code) || message === "" || remedy === "") throw new Error(`No typed fault: ${code} ${message}`);
    if (!(offset >= 0 && length >= 0 && offset + length <= text.length))
      throw new Error(`Outside: ${offset}+${length}`);
  }
  return "faults";
}

function isJson(value: unknown): boolean {
  if (typeof value === "function" || typeof value === "symbol") return false;
  if (typeof value === "number") return Number.isFinite(value);
  return (
    typeof value !== "object" || value === null || Object.keys(value).every((key) => isJson((value as never)[key]))
  );
}

/** Mulberry32: the same texts in every run. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const VALID = [
  "defined(step.output.error) && step.output.error.code == 'TIMEOUT'",
  "steps.check-stock.output.items[0]['a b'].sku != null",
  "filter(map(trigger.payload.list, x => x.id), (y) => y >= -1.5e3 || !(y == 'b'))",
  '$.steps.a.output.x == "it\'s" && contains($.input.payload.list, order.n)',
  "coalesce(context.userInfo['id'], join(split('a,b', ','), '-'), [1, [true, null]])",
  "mergeBy([trigger.payload.list, order.list], 'id')[order.n].x",
  "matches(order.text, '^[a-z]+\\d{2,3}$')",
  "parseJson(trigger.payload.text).x[0] <= workflow.lastError.code",
  "-order.n + 2 * (7 % 3) - round(1 / 3, 2) ?? {a: order.n, 'b': [1]}",
  "sum(trigger.payload.list, x => x.n ? x.n * 2 : 0) > 1 ? slice('abc', -2) : groupBy(context.list, x => x[0])",
  "`a §{order.n + 1} §{length(sortBy(context.list, x => -x[0]))}`".replaceAll("§", "$"),
];
const PIECES = [
  ...["(", ")", "[", "]", ",", ".", "..", "=>", "==", "===", "!=", "<", ">=", "&&", "||", "!", "=", "&", "|", "?", ":"],
  ...["+", "-", "*", "/", "{", "}", "${", "{{", "`", "'", '"', "\\", "\\u00", ";", "@", "#", " ", "\n", "\t", "\u00a0"],
  ...["__proto__", "constructor", "prototype", "toString", "valueOf", "hasOwnProperty", "__defineGetter__", "this"],
  ...["trigger", "context", "steps", "step", "output", "error", "workflow", "order", "$", "input", "x", "lastError"],
  ...["map", "filter", "defined", "length", "matches", "concat", "mergeBy", "toJson", "parseJson", "keys", "coalesce"],
  ...["sum(", "sortBy(", "range(", "toObject(", "now()", "max("],
  ...["map(", "x =>", "order.", "steps.a.output", "trigger.payload", "and", "or", "not", "true", "null", "undefined"],
  ...[
    "0",
    "-0",
    "1e308",
    "1e309",
    "-1",
    "0x1f",
    "007",
    "99999999999999999999999",
    "4294967296",
    "1.5",
    ".5",
    "5m",
    "NaN",
  ],
  ...["'a'", "''", "'\\''", "[0]", "['__proto__']", "[constructor]", "(1)", "\u{1f600}", "\ud800", "é", "\u202e", "\0"],
];

type Random = (below: number) => number;

function pick<T>(list: readonly T[], random: Random): T {
  return list[random(list.length)] as T;
}

function randomText(random: Random): string {
  const chars = Array.from({ length: random(40) }, () => random(random(2) === 0 ? 128 : 65_536));
  return String.fromCharCode(...chars);
}

function soup(random: Random): string {
  return Array.from({ length: 1 + random(15) }, () => pick(PIECES, random)).join(random(2) === 0 ? "" : " ");
}

function mutated(random: Random): string {
  let text = pick(VALID, random);
  for (let times = 1 + random(3); times > 0; times -= 1) {
    const at = random(text.length + 1);
    const piece = random(3) === 0 ? "" : random(4) === 0 ? pick(VALID, random) : pick(PIECES, random);
    text = text.slice(0, at) + piece + text.slice(at + random(6));
  }
  return text;
}

function nested(random: Random): string {
  const around = pick(
    [
      ["(", ")"],
      ["[", "]"],
      ["!(", ")"],
      ["length(", ")"],
      ["order[", "]"],
      ["map(order, x => ", ")"],
    ],
    random,
  );
  const levels = 1 + random(130);
  return `${around[0]?.repeat(levels)}${pick(VALID, random)}${around[1]?.repeat(levels - random(2) * random(2))}`;
}

test("the values of these tests notice when a prototype is read", () => {
  const [object, list] = [guard({ a: 1 }), guard([1])] as unknown as [
    { toString: unknown },
    { length: 1; join: unknown },
  ];
  expect(() => object.toString).toThrow("toString");
  expect(() => list.join).toThrow("join");
  expect(list).toHaveProperty("length", 1);
});

const TEXTS = rounds(500);

test(`${TEXTS} hostile texts give a value or typed faults, touch no prototype and never throw`, () => {
  const random = randomOf(20_260_101);
  const makers = [randomText, soup, soup, soup, mutated, mutated, mutated, mutated, mutated, nested];
  const counts = { value: 0, faults: 0 };
  for (let n = 0; n < TEXTS; n += 1) {
    const text = (makers[n % makers.length] ?? soup)(random);
    try {
      counts[check(text)] += 1;
    } catch (error) {
      expect.fail(`${JSON.stringify(text)}: ${error}`);
    }
  }
  // The texts must reach further than the first sign.
  expect(counts.value).toBeGreaterThan(TEXTS / 20);
  expect(counts.faults).toBeGreaterThan(TEXTS / 20);
  expect(Object.keys(Object.prototype)).toEqual([]);
});

describe("the longest texts", () => {
  const fill = (piece: string, end = "") => piece.repeat(Math.floor((10_000 - end.length) / piece.length)) + end;
  const pieces = [
    ...["(", "[", "!", "a.", "order.", "a[", "order[", "f(", "length(", "map(order, x => ", "x =>", "x => (", ")", "]"],
    ...[
      "true||",
      "true && ",
      "1 == ",
      "a, ",
      "1 ",
      "'",
      "\\",
      "'\\u00",
      "-",
      "- ",
      "$.",
      ".",
      "=>",
      "(x) =>",
      "!(",
      "[[",
    ],
    ...[
      "__proto__.",
      "9",
      "9.",
      "1e9",
      "é",
      "\u{1f600}",
      "\0",
      " ",
      "\n",
      "a-",
      "a&&b||",
      "order[0]",
      "order.a(",
      "()",
    ],
  ];
  test.each(pieces)("%j, over and over", (piece) => {
    for (const end of ["", "1", "order", "order.a", "]", ")"]) check(fill(piece, end));
  });

  test("brackets that are all closed again are refused, whatever they are", () => {
    for (const [open, close] of [
      ["(", ")"],
      ["[", "]"],
      ["!(", ")"],
      ["order[", "]"],
      ["length(", ")"],
      ["[order[", "]]"],
    ]) {
      const text = `${open?.repeat(700)}order${close?.repeat(700)}`;
      expect(parseExpression(text, SCOPE)).toMatchObject({ faults: [{ code: "EXPRESSION_TOO_COMPLEX" }] });
    }
    const fields = `order[order[0]${".a".repeat(50)}]${".a".repeat(60)}`;
    expect(parseExpression(fields, SCOPE)).toMatchObject({ faults: [{ code: "EXPRESSION_TOO_COMPLEX" }] });
  });

  test("a text of a million characters is refused at once", () => {
    expect(check("order.".repeat(200_000))).toBe("faults");
  });
});

test("names of Object.prototype are found nowhere: not as root, function, parameter, step or field", () => {
  for (const name of Object.getOwnPropertyNames(Object.prototype)) {
    const isStep = name === "__proto__";
    expect(parseExpression(`${name}.x == 1`, SCOPE).ok).toBe(false);
    expect(parseExpression(`$.${name}`, SCOPE).ok).toBe(false);
    expect(parseExpression(`workflow.${name}`, SCOPE).ok).toBe(false);
    expect(parseExpression(`${name}(order)`, SCOPE).ok).toBe(name === "toString");
    expect(parseExpression(`steps.${name}.output`, SCOPE).ok).toBe(isStep);
    expect(check(`map([order], ${name} => ${name}.${name}['${name}'])`)).toBe("value");
  }
});

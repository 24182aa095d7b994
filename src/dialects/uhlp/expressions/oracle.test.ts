import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, test } from "vitest";
import { rounds } from "../../../../test/properties/rounds.ts";
import { evaluate } from "../../../core/expressions/evaluate.ts";
import { readPath } from "../../../core/expressions/read-path.ts";
import type { Json } from "../../../core/json.ts";
import type { ExpressionScope } from "./expression-fault.ts";
import { parseExpression } from "./parse-expression.ts";

/*
 * A second reading of the language, as plain as can be: a tree is printed as text, parsed and evaluated, and must give
 * what this file computes from the tree alone.
 */

type Node =
  | { kind: "literal"; value: string | number | boolean | null }
  | { kind: "path"; root: string; keys: (string | number)[] }
  | { kind: "local"; name: string; keys: (string | number)[] }
  | { kind: "computed"; of: Node; at: Node }
  | { kind: "not"; of: Node }
  | { kind: "and" | "or"; left: Node; right: Node }
  | { kind: "compare"; by: string; left: Node; right: Node }
  | { kind: "list"; items: Node[] }
  | { kind: "call"; name: string; args: Node[] }
  | { kind: "map" | "filter"; list: Node; as: string; body: Node }
  /** A step that does not exist. */
  | { kind: "broken" };

type Value = Json | undefined;
type Locals = Record<string, Value>;

const SCOPE: ExpressionScope = {
  steps: new Set(["a", "b-2"]),
  locals: new Map([["order", { root: "item", name: "loop" }]]),
  allowsOutput: true,
  allowsError: true,
  workflowId: "w",
};

const PAYLOAD: Json = { n: 1, t: "a,b", list: [1, "x", { n: 2 }], text: '{"deep": [{"n": 3}]}', "": { "it's": true } };
const DATA: Record<string, Json> = {
  "trigger.payload": PAYLOAD,
  "context.configuration": { n: 2, list: [{ id: 1, v: "p" }, { id: 2 }], flag: true },
  "steps.a.output": [{ id: 1, w: [null] }, { id: 3, list: "no list" }, 7],
  "steps.b-2.output": PAYLOAD,
  "step.output": "[[1, 2], [3]]",
  error: { code: "TIMEOUT", n: -1 },
  order: { n: 5, t: " Ünï ", list: ["b", "a"] },
};
const SPELLINGS: Record<string, string[]> = {
  "trigger.payload": ["trigger.payload", "trigger.requestData.payload", "$.input.payload", "$['trigger'].payload"],
  "context.configuration": ["context.configuration", "$.context['configuration']", "context . configuration"],
  "steps.a.output": ["steps.a.output", "$.steps.a", "$.steps.a.output", "steps['a'].output"],
  "steps.b-2.output": ["steps.b-2.output", "$.steps.b-2"],
  "step.output": ["step.output", 'step["output"]'],
  error: ["error", "$.error"],
  order: ["order"],
};

// What the text means.

function meaningOf(node: Node, locals: Locals): Value {
  switch (node.kind) {
    case "literal":
      return node.value;
    case "path":
      return node.keys.reduce<Value>(lookUp, DATA[node.root]);
    case "local":
      return node.keys.reduce<Value>(lookUp, node.name in locals ? locals[node.name] : undefined);
    case "computed": {
      const at = meaningOf(node.at, locals);
      return typeof at === "string" || typeof at === "number" ? lookUp(meaningOf(node.of, locals), at) : undefined;
    }
    case "not":
      return meaningOf(node.of, locals) !== true;
    case "and":
      return meaningOf(node.left, locals) === true && meaningOf(node.right, locals) === true;
    case "or":
      return meaningOf(node.left, locals) === true || meaningOf(node.right, locals) === true;
    case "compare":
      return compare(node.by, meaningOf(node.left, locals), meaningOf(node.right, locals));
    case "list":
      return node.items.map((item) => meaningOf(item, locals) ?? null);
    case "call":
      return call(
        node.name,
        node.args.map((arg) => meaningOf(arg, locals)),
      );
    case "map":
    case "filter": {
      const list = meaningOf(node.list, locals);
      if (!Array.isArray(list)) return undefined;
      const each = (item: Json) => meaningOf(node.body, { ...locals, [node.as]: item });
      return node.kind === "map" ? list.map((item) => each(item) ?? null) : list.filter((item) => each(item) === true);
    }
    case "broken":
      return undefined;
  }
}

function lookUp(holder: Value, key: string | number): Value {
  let value = holder;
  if (typeof value === "string" && /^\s*[[{]/.test(value)) {
    try {
      value = JSON.parse(value) as Json;
    } catch {
      return undefined;
    }
  }
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value) && !/^(0|[1-9]\d*)$/.test(String(key))) return undefined;
  return Object.entries(value).find(([name]) => name === String(key))?.[1];
}

function compare(by: string, left: Value, right: Value): boolean {
  if (by === "==") return isDeepStrictEqual(left, right);
  if (by === "!=") return !isDeepStrictEqual(left, right);
  const areOrdered =
    (typeof left === "number" && typeof right === "number") || (typeof left === "string" && typeof right === "string");
  if (!areOrdered) return false;
  const [l, r] = [left as string, right as string];
  return by === "<" ? l < r : by === "<=" ? l <= r : by === ">" ? l > r : l >= r;
}

function call(name: string, args: Value[]): Value {
  const [a, b] = args;
  const text = typeof a === "string" ? a : undefined;
  switch (name) {
    case "defined":
      return a !== undefined;
    case "length":
      return typeof a === "string" || Array.isArray(a) ? a.length : isObject(a) ? Object.keys(a).length : undefined;
    case "contains":
      if (b === undefined) return false;
      if (Array.isArray(a)) return a.some((item) => isDeepStrictEqual(item, b));
      if (typeof a === "string") return typeof b === "string" && a.split(b).length > 1;
      return isObject(a) ? Object.keys(a).some((key) => key === b) : undefined;
    case "keys":
      return isObject(a) ? Object.keys(a) : undefined;
    case "coalesce":
      return args.find((arg) => arg !== undefined && arg !== null);
    case "toNumber":
      return typeof a === "number" ? a : text?.trim() && Number.isFinite(Number(text)) ? Number(text) : undefined;
    case "toJson":
      return a === undefined ? undefined : JSON.stringify(a);
    case "parseJson":
      try {
        return text === undefined ? undefined : (JSON.parse(text) as Json);
      } catch {
        return undefined;
      }
    case "lower":
      return text?.toLowerCase();
    case "upper":
      return text?.toUpperCase();
    case "trim":
      return text?.trim();
    case "split":
      return typeof b === "string" ? text?.split(b) : undefined;
    case "concat":
      return args.flatMap((arg) => (arg === undefined || arg === null ? [] : arg)) as Json;
    case "merge": {
      const parts = args.flatMap((arg) => arg ?? []).filter((part) => part !== null && part !== undefined);
      return parts.every(isObject) ? Object.assign({}, ...parts) : undefined;
    }
  }
  throw new Error(name);
}

function isObject(value: Value): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// How it is written.

/** `style` chooses between spellings that mean the same. */
function print(node: Node, style: () => number): string {
  const gap = () => ["", " ", "  ", "\n"][style() % 4] ?? "";
  const inner = (child: Node) => print(child, style);
  const tight = (child: Node, isTight: boolean) =>
    isTight && style() % 3 !== 0 ? inner(child) : `(${gap()}${inner(child)}${gap()})`;
  const operator = (sign: string) => `${gap()}${sign}${gap()}`;
  switch (node.kind) {
    case "literal":
      return typeof node.value === "string" ? quote(node.value, style) : String(node.value);
    case "path": {
      const spellings = SPELLINGS[node.root] ?? [];
      return `${spellings[style() % spellings.length]}${printKeys(node.keys, style)}`;
    }
    case "local":
      return `${node.name}${printKeys(node.keys, style)}`;
    case "computed":
      return `${tight(node.of, ["path", "local", "call", "computed", "list"].includes(node.of.kind))}[${gap()}${inner(node.at)}${gap()}]`;
    case "not":
      return `!${gap()}${tight(node.of, !["and", "or", "compare"].includes(node.of.kind))}`;
    case "and":
      return `${tight(node.left, node.left.kind !== "or")}${operator("&&")}${tight(node.right, node.right.kind !== "or")}`;
    case "or":
      return `${tight(node.left, true)}${operator("||")}${tight(node.right, true)}`;
    case "compare": {
      const isTight = (child: Node) => !["and", "or", "compare"].includes(child.kind);
      return `${tight(node.left, isTight(node.left))}${operator(node.by)}${tight(node.right, isTight(node.right))}`;
    }
    case "list":
      return `[${gap()}${node.items.map(inner).join(operator(","))}${gap()}]`;
    case "call":
      return `${node.name}${gap()}(${gap()}${node.args.map(inner).join(operator(","))}${gap()})`;
    case "map":
    case "filter": {
      const parameter = style() % 2 === 0 ? node.as : `(${gap()}${node.as}${gap()})`;
      return `${node.kind}(${inner(node.list)},${gap()}${parameter}${operator("=>")}${inner(node.body)})`;
    }
    case "broken":
      return BROKEN;
  }
}

const BROKEN = "steps.no-such-step.output";

function printKeys(keys: (string | number)[], style: () => number): string {
  return keys
    .map((key) => {
      if (typeof key === "number") return style() % 2 === 0 ? `[${key}]` : `.${key}`;
      const isName = /^[a-z][a-z0-9_-]*$/i.test(key);
      return isName && style() % 2 === 0 ? `.${key}` : `[${quote(key, style)}]`;
    })
    .join("");
}

function quote(text: string, style: () => number): string {
  const mark = style() % 3 === 0 ? '"' : "'";
  let written = "";
  for (const char of text) {
    if (char === mark || char === "\\") written += `\\${char}`;
    else if (char === "\n") written += style() % 2 === 0 ? "\\n" : "\n";
    else if (char.length === 1 && style() % 20 === 0)
      written += `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
    else written += char;
  }
  return `${mark}${written}${mark}`;
}

// Random trees.

const keys = fc.array(
  fc.oneof(
    fc.constantFrom("n", "t", "list", "text", "deep", "id", "v", "w", "code", "", "it's"),
    fc.constantFrom("__proto__", "constructor", "length", "toString", "0", "true", "b-2"),
    fc.nat(3),
  ),
  { maxLength: 4 },
);
const names = fc.constantFrom("x", "y", "order", "trigger", "item", "constructor", "__proto__", "hasOwnProperty");
const unary = fc.constantFrom(
  ...["length", "keys", "coalesce", "toNumber", "toJson", "parseJson", "lower", "upper", "trim", "concat", "merge"],
);
const binary = fc.constantFrom("contains", "split", "coalesce", "concat", "merge");
const literals = fc.oneof(
  fc.constantFrom<string | number | boolean | null>(
    true,
    false,
    null,
    0,
    1,
    2,
    -1,
    0.5,
    1e21,
    "",
    "a",
    "TIMEOUT",
    "[1]",
  ),
  fc.string({ unit: "grapheme", maxLength: 6 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
);
/** Paths that lead somewhere, so that more is compared than undefined with undefined. */
function realPaths(root: string, value: Value, path: (string | number)[] = []): Node[] {
  const holder = typeof value === "string" && /^[[{]/.test(value) ? (JSON.parse(value) as Json) : value;
  const inner = typeof holder === "object" && holder !== null ? Object.entries(holder) : [];
  const toKey = (name: string) => (Array.isArray(holder) ? Number(name) : name);
  return [
    { kind: "path", root, keys: path },
    ...inner.flatMap(([name, item]) => realPaths(root, item, [...path, toKey(name)])),
  ];
}

const leaf: fc.Arbitrary<Node> = fc.oneof(
  literals.map((value): Node => ({ kind: "literal", value })),
  fc.record({ root: fc.constantFrom(...Object.keys(DATA)), keys }).map((to): Node => ({ kind: "path", ...to })),
  { arbitrary: fc.constantFrom(...Object.entries(DATA).flatMap(([root, value]) => realPaths(root, value))), weight: 3 },
);

function trees(extraLeaves: fc.Arbitrary<Node>): fc.Arbitrary<Node> {
  const { tree } = fc.letrec<{ tree: Node }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5, depthSize: "small" },
      fc.oneof(leaf, leaf, extraLeaves),
      tie("tree").map((of): Node => ({ kind: "not", of })),
      fc.record({ kind: fc.constantFrom("and", "or"), left: tie("tree"), right: tie("tree") }),
      fc
        .record({ by: fc.constantFrom("==", "!=", "<", "<=", ">", ">="), left: tie("tree"), right: tie("tree") })
        .map((sides): Node => ({ kind: "compare", ...sides })),
      fc.array(tie("tree"), { maxLength: 3 }).map((items): Node => ({ kind: "list", items })),
      fc.tuple(unary, tie("tree")).map(([name, arg]): Node => ({ kind: "call", name, args: [arg] })),
      fc.tuple(binary, tie("tree"), tie("tree")).map(([name, ...args]): Node => ({ kind: "call", name, args })),
      fc
        .record({ of: tie("tree"), at: tie("tree") })
        .filter(isComputed)
        .map((to): Node => ({ kind: "computed", ...to })),
      leaf.filter(({ kind }) => kind === "path").map((arg): Node => ({ kind: "call", name: "defined", args: [arg] })),
      fc
        .record({ kind: fc.constantFrom("map", "filter"), list: tie("tree"), as: names, body: tie("tree"), keys })
        .map(({ keys: path, ...loop }): Node => ({ ...loop, body: withLocal(loop.body, loop.as, path) })),
    ),
  }));
  return tree;
}

/** A literal in the brackets is a key that is written out, and behind a literal there is none. */
function isComputed({ of, at }: { of: Node; at: Node }): boolean {
  return of.kind !== "literal" && at.kind !== "literal";
}

/** Puts the parameter of an arrow where a leaf of its body was. */
function withLocal(body: Node, name: string, path: (string | number)[]): Node {
  const local: Node = { kind: "local", name, keys: path };
  if (body.kind === "literal" || body.kind === "path") return local;
  if (body.kind === "compare" || body.kind === "and") return { ...body, left: withLocal(body.left, name, path) };
  return { kind: "list", items: [body, local] };
}

/** A root that is hidden by a parameter of the same name means the parameter. */
function hidesRoot(node: Node, hidden: readonly string[] = []): boolean {
  switch (node.kind) {
    case "path":
      return hidden.some((name) => node.root.split(".")[0] === name);
    case "literal":
    case "local":
    case "broken":
      return false;
    case "not":
      return hidesRoot(node.of, hidden);
    case "computed":
      return hidesRoot(node.of, hidden) || hidesRoot(node.at, hidden);
    case "and":
    case "or":
    case "compare":
      return hidesRoot(node.left, hidden) || hidesRoot(node.right, hidden);
    case "list":
      return node.items.some((item) => hidesRoot(item, hidden));
    case "call":
      return node.args.some((arg) => hidesRoot(arg, hidden));
    case "map":
    case "filter":
      return hidesRoot(node.list, hidden) || hidesRoot(node.body, [...hidden, node.as]);
  }
}

function toStyle(numbers: readonly number[]): () => number {
  let at = 0;
  return () => {
    at += 1;
    return (numbers[at % numbers.length] ?? 0) + at;
  };
}

const styles = fc.array(fc.nat(1_000), { minLength: 5, maxLength: 20 }).map(toStyle);
const ROOTS: Record<string, Json> = {
  input: {
    requestData: { payload: DATA["trigger.payload"] ?? null },
    context: { configuration: DATA["context.configuration"] ?? null },
  },
  output: DATA["step.output"] ?? null,
  error: DATA["error"] ?? null,
  item: DATA["order"] ?? null,
};

function run(text: string): Value {
  const parsed = parseExpression(text, SCOPE);
  if (!parsed.ok) throw new Error(`${text}\n${JSON.stringify(parsed.faults)}`);
  return evaluate(parsed.expr, {
    path: ({ root, name, path, readsJson }) =>
      readPath(root === "steps" ? DATA[`steps.${name}.output`] : ROOTS[root], path, readsJson),
  });
}

test("what is printed, parsed and evaluated is what it means", () => {
  fc.assert(
    fc.property(trees(leaf), styles, (tree, style) => {
      fc.pre(!hidesRoot(tree));
      expect(run(print(tree, style))).toEqual(meaningOf(tree, Object.create(null)));
    }),
    { numRuns: rounds(500), seed: 7 },
  );
});

test("faults stand exactly where the broken names stand", () => {
  const broken = fc.constant<Node>({ kind: "broken" });
  fc.assert(
    fc.property(trees(broken), styles, (tree, style) => {
      fc.pre(!hidesRoot(tree));
      const text = print(tree, style);
      const parsed = parseExpression(text, SCOPE);
      const places = [...text.matchAll(/no-such-step/g)].map(({ index }) => index);
      const found = parsed.ok ? [] : parsed.faults.map(({ offset }) => offset).sort((a, b) => a - b);
      expect(found).toEqual(places.slice(0, 20));
      if (parsed.ok) return;
      for (const { offset, length } of parsed.faults) expect(text.slice(offset, offset + length)).toBe("no-such-step");
    }),
    { numRuns: rounds(125), seed: 7 },
  );
});

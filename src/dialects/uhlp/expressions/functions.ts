import type { FunctionName } from "../../../core/expressions/expr.ts";

/** A function as people call it: which of the core's it is, and how many arguments it takes. */
export interface Signature {
  readonly does: FunctionName | "defined" | "map" | "filter";
  readonly least: number;
  readonly most: number;
  readonly usage: string;
}

/** A map: `constructor` and its like are no functions. */
export const FUNCTIONS: ReadonlyMap<string, Signature> = new Map(
  [
    signature("defined", 1, 1, "defined(path)"),
    signature("length", 1, 1, "length(value)"),
    signature("contains", 2, 2, "contains(listOrText, value)"),
    signature("keys", 1, 1, "keys(object)"),
    signature("coalesce", 1, Number.POSITIVE_INFINITY, "coalesce(a, b)"),
    signature("toNumber", 1, 1, "toNumber(text)"),
    signature("toString", 1, 1, "toString(value)"),
    signature("parseJson", 1, 1, "parseJson(text)"),
    signature("toJson", 1, 1, "toJson(value)"),
    signature("lower", 1, 1, "lower(text)"),
    signature("upper", 1, 1, "upper(text)"),
    signature("trim", 1, 1, "trim(text)"),
    signature("split", 2, 2, "split(text, separator)"),
    signature("join", 1, 2, "join(list, separator)"),
    signature("concat", 1, Number.POSITIVE_INFINITY, "concat(listA, listB)"),
    signature("merge", 1, Number.POSITIVE_INFINITY, "merge(objectA, objectB)"),
    signature("mergeBy", 2, 2, "mergeBy(lists, 'field')"),
    signature("matches", 2, 2, "matches(text, 'pattern')"),
    signature("map", 2, 2, "map(list, x => value)"),
    signature("filter", 2, 2, "filter(list, x => condition)"),
  ].map((known) => [known.does, known]),
);

function signature(does: Signature["does"], least: number, most: number, usage: string): Signature {
  return { does, least, most, usage };
}

/** Names of other languages for these functions, in small letters. */
export const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ["len", "length"],
  ["size", "length"],
  ["count", "length"],
  ["includes", "contains"],
  ["has", "contains"],
  ["exists", "defined"],
  ["isdefined", "defined"],
  ["default", "coalesce"],
  ["number", "toNumber"],
  ["int", "toNumber"],
  ["parseint", "toNumber"],
  ["parsefloat", "toNumber"],
  ["str", "toString"],
  ["string", "toString"],
  ["json", "toJson"],
  ["stringify", "toJson"],
  ["fromjson", "parseJson"],
  ["parse", "parseJson"],
  ["tolowercase", "lower"],
  ["lowercase", "lower"],
  ["touppercase", "upper"],
  ["uppercase", "upper"],
  ["strip", "trim"],
  ["match", "matches"],
  ["test", "matches"],
  ["regex", "matches"],
  ["where", "filter"],
  ["select", "filter"],
]);

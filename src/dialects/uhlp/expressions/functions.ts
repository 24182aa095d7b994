import type { FunctionName } from "../../../core/expressions/expr.ts";

/** A function as people call it: what it does in the core, and how many arguments it takes. */
export interface Signature {
  readonly name: string;
  readonly does: FunctionName | "defined" | "map" | "filter" | "reduce" | "now";
  readonly least: number;
  readonly most: number;
  readonly usage: string;
  readonly arrow?: Arrow;
}

/**
 * The arguments behind the list are arrows for its elements. The core's function takes what they give in place of the list, or beside it
 * (`beside`), or the elements for which they hold (`filter`).
 */
export interface Arrow {
  readonly gives: "instead" | "beside" | "filter";
  /** Without an arrow it takes the list alone (`list`), or several values as one (`values`). Absent: it needs one. */
  readonly without?: "list" | "values";
}

const BESIDE: Arrow = { gives: "beside" };
const ANY = Number.POSITIVE_INFINITY;

/** A map: `constructor` and its like are no functions. The usage says the name. */
export const FUNCTIONS: ReadonlyMap<string, Signature> = new Map(
  [
    signature("defined", 1, 1, "defined(path)"),
    signature("coalesce", 1, ANY, "coalesce(a, b)"),
    signature("length", 1, 1, "length(value)"),
    signature("contains", 2, 2, "contains(listOrText, value)"),
    signature("indexOf", 2, 2, "indexOf(listOrText, value)"),
    signature("slice", 2, 3, "slice(listOrText, from, to)"),
    signature("slice", 2, 3, "substring(text, from, to)"),
    signature("toNumber", 1, 1, "toNumber(text)"),
    signature("toString", 1, 1, "toString(value)"),
    signature("parseJson", 1, 1, "parseJson(text)"),
    signature("toJson", 1, 1, "toJson(value)"),
    signature("lower", 1, 1, "lower(text)"),
    signature("upper", 1, 1, "upper(text)"),
    signature("trim", 1, 1, "trim(text)"),
    signature("split", 2, 2, "split(text, separator)"),
    signature("join", 1, 2, "join(list, separator)"),
    signature("replace", 3, 3, "replace(text, 'from', 'to')"),
    signature("startsWith", 2, 2, "startsWith(text, part)"),
    signature("endsWith", 2, 2, "endsWith(text, part)"),
    signature("padStart", 2, 3, "padStart(text, length, '0')"),
    signature("padEnd", 2, 3, "padEnd(text, length, ' ')"),
    signature("matches", 2, 2, "matches(text, 'pattern')"),
    signature("abs", 1, 1, "abs(number)"),
    signature("round", 1, 2, "round(number, places)"),
    signature("floor", 1, 2, "floor(number, places)"),
    signature("ceil", 1, 2, "ceil(number, places)"),
    signature("sum", 1, 2, "sum(list, x => number)", { gives: "instead", without: "values" }),
    signature("min", 1, ANY, "min(list, x => key)", { ...BESIDE, without: "values" }),
    signature("max", 1, ANY, "max(list, x => key)", { ...BESIDE, without: "values" }),
    signature("map", 2, 2, "map(list, x => value)"),
    signature("filter", 2, 2, "filter(list, x => condition)"),
    signature("reduce", 3, 3, "reduce(list, (sum, x) => value, first)"),
    signature("firstOf", 2, 2, "find(list, x => condition)", { gives: "filter" }),
    signature("some", 2, 2, "some(list, x => condition)", { gives: "instead" }),
    signature("every", 2, 2, "every(list, x => condition)", { gives: "instead" }),
    signature("sort", 1, 1, "sort(list)"),
    signature("sortBy", 2, 2, "sortBy(list, x => key)", BESIDE),
    signature("groupBy", 2, 2, "groupBy(list, x => key)", BESIDE),
    signature("unique", 1, 2, "unique(list, x => key)", { ...BESIDE, without: "list" }),
    signature("toObject", 2, 3, "toObject(list, x => name, x => value)", BESIDE),
    signature("flatten", 1, 1, "flatten(lists)"),
    signature("reverse", 1, 1, "reverse(list)"),
    signature("firstOf", 1, 1, "first(list)"),
    signature("lastOf", 1, 1, "last(list)"),
    signature("range", 1, 3, "range(from, to, step)"),
    signature("zip", 1, ANY, "zip(listA, listB)"),
    signature("concat", 1, ANY, "concat(listA, listB)"),
    signature("keys", 1, 1, "keys(object)"),
    signature("values", 1, 1, "values(object)"),
    signature("entries", 1, 1, "entries(object)"),
    signature("pick", 2, ANY, "pick(object, 'a', 'b')"),
    signature("omit", 2, ANY, "omit(object, 'a', 'b')"),
    signature("merge", 1, ANY, "merge(objectA, objectB)"),
    signature("mergeBy", 2, 2, "mergeBy(lists, 'field')"),
    signature("now", 0, 0, "now()"),
    signature("addTime", 2, 3, "addTime(time, 'P1D', 'Europe/Berlin')"),
    signature("timeBetween", 3, 4, "timeBetween(from, to, 'days', 'Europe/Berlin')"),
    signature("format", 2, 3, "format(timeOrNumber, 'yyyy-MM-dd', 'Europe/Berlin')"),
    signature("hash", 1, 1, "hash(text)"),
    signature("base64", 1, 1, "base64(text)"),
    signature("fromBase64", 1, 1, "fromBase64(text)"),
    signature("uuid", 0, 0, "uuid()"),
  ].map((known) => [known.name, known]),
);

function signature(does: Signature["does"], least: number, most: number, usage: string, arrow?: Arrow): Signature {
  return { name: usage.slice(0, usage.indexOf("(")), does, least, most, usage, ...(arrow && { arrow }) };
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
  ["fold", "reduce"],
  ["any", "some"],
  ["all", "every"],
  ["distinct", "unique"],
  ["uniq", "unique"],
  ["flat", "flatten"],
  ["orderby", "sortBy"],
  ["avg", "sum"],
  ["head", "first"],
  ["substr", "substring"],
  ["replaceall", "replace"],
  ["lpad", "padStart"],
  ["rpad", "padEnd"],
  ["ceiling", "ceil"],
  ["today", "now"],
  ["date", "now"],
  ["dateadd", "addTime"],
  ["plus", "addTime"],
  ["datediff", "timeBetween"],
  ["diff", "timeBetween"],
  ["formatdate", "format"],
  ["formatnumber", "format"],
  ["sha256", "hash"],
  ["uuid4", "uuid"],
  ["guid", "uuid"],
  ["btoa", "base64"],
  ["atob", "fromBase64"],
  ["base64encode", "base64"],
  ["base64decode", "fromBase64"],
  ["fromentries", "toObject"],
]);

import { isJsonObject, isNumber, type Json } from "../json.ts";
import { add, divide, formatNumber, multiply, negate, remainder, roundTo } from "./decimals.ts";
import { fromBase64, sha256, toBase64, uuidOf } from "./encodings.ts";
import { isEqual } from "./equality.ts";
import { type CollectionFunction, MAX_LIST_ITEMS, MAX_TEXT_CHARS } from "./expr.ts";
import { compareValues } from "./order.ts";
import { addTime, formatTime, timeBetween } from "./times.ts";
import { joinTexts, toText } from "./to-text.ts";
import { tooLarge, type Work } from "./work.ts";

type Args = readonly (Json | undefined)[];
type Num = number | bigint;

type Compute = (args: Args, work: Work) => Json | undefined;

/** An argument of the wrong type gives undefined, never an error. */
export const COLLECTIONS: { readonly [Name in CollectionFunction]: Compute } = {
  add: (args: Args, work: Work) => (args.every(isText) ? joinTexts(args as string[], "", work) : add(args, work)),
  multiply: ofTwo(multiply),
  divide: ofTwo(divide),
  remainder: ofTwo(remainder),
  negate: ([value]: Args) => (isNumber(value) ? negate(value) : undefined),
  abs: ([value]: Args) => (isNumber(value) ? (value < 0 ? negate(value) : value) : undefined),
  round: ([value, places = 0]: Args) => roundTo(value, places, "round"),
  floor: ([value, places = 0]: Args) => roundTo(value, places, "floor"),
  ceil: ([value, places = 0]: Args) => roundTo(value, places, "ceil"),
  /** Null counts as nothing. */
  sum: ([list]: Args, work: Work) => (isList(list) ? add(withoutNulls(list), work) : undefined),
  min: ([list, keys]: Args, work: Work) => first(sortBy(list, keys, work)),
  max: ([list, keys]: Args, work: Work) => maxOf(list, keys, work),
  sort: ([list]: Args, work: Work) => sortBy(list, list, work),
  sortBy: ([list, keys]: Args, work: Work) => sortBy(list, keys, work),
  groupBy: ([list, keys]: Args, work: Work) => groupBy(list, keys, work),
  unique: ([list, keys]: Args, work: Work) => unique(list, keys ?? list, work),
  toObject: ([list, keys, values = list]: Args, work: Work) => toObject(keys, values, work),
  some: ([list]: Args) => (isList(list) ? [...list].includes(true) : undefined),
  every: ([list]: Args) => (isList(list) ? [...list].every((item) => item === true) : undefined),
  flatten: ([list]: Args) => flatten(list),
  reverse: ([list]: Args) => (isList(list) ? [...list].reverse() : undefined),
  firstOf: ([list]: Args) => first(list),
  lastOf: ([list]: Args) => (isList(list) ? list[list.length - 1] : undefined),
  slice: ([value, from = 0, to]: Args) => slice(value, from, to),
  range: (args: Args, work: Work) => range(args, work),
  zip,
  indexOf: ([value, wanted]: Args, work: Work) => indexOf(value, wanted, work),
  values: ([value]: Args) => (isJsonObject(value) ? Object.values(value) : undefined),
  entries: ([value]: Args) =>
    isJsonObject(value) ? Object.entries(value).map(([key, item]) => ({ key, value: item })) : undefined,
  pick: ([value, ...names]: Args) => withFields(value, names, true),
  omit: ([value, ...names]: Args) => withFields(value, names, false),
  replace: ([value, from, to]: Args, work: Work) => replace(value, from, to, work),
  startsWith: ([value, part]: Args) => (isText(value) && isText(part) ? value.startsWith(part) : undefined),
  endsWith: ([value, part]: Args) => (isText(value) && isText(part) ? value.endsWith(part) : undefined),
  padStart: ([value, length, fill = " "]: Args) => padding(value, length, fill, (text, pad) => pad + text),
  padEnd: ([value, length, fill = " "]: Args) => padding(value, length, fill, (text, pad) => text + pad),
  addTime: ([time, duration, zone = "UTC"]: Args, work: Work) => addTime(time, duration, zone, work),
  timeBetween,
  format: ([value, pattern, zone]: Args, work: Work) => format(value, pattern, zone, work),
  hash: ofBytes(sha256),
  base64: ofBytes(toBase64),
  fromBase64: ofBytes(fromBase64),
  uuid: ([place]: Args, work: Work) => uuidOf(`${String(place)}/${work.nextUuid()}`),
};

function ofTwo(compute: (left: Num, right: Num, work: Work) => Num | undefined) {
  return ([left, right]: Args, work: Work) =>
    isNumber(left) && isNumber(right) ? compute(left, right, work) : undefined;
}

/** Each byte costs about as much as a look at a part of an expression takes for four. */
function ofBytes(compute: (text: string) => string | undefined) {
  return ([text]: Args, work: Work) => {
    if (!isText(text)) return undefined;
    work.pay(text.length >> 2);
    return compute(text);
  };
}

function format(value: Json | undefined, pattern: Json | undefined, zone: Json | undefined, work: Work) {
  if (!isText(pattern)) return undefined;
  return isNumber(value) ? formatNumber(value, pattern) : formatTime(value, pattern, zone, work);
}

function withoutNulls(list: readonly Json[]): readonly Json[] {
  const kept: Json[] = [];
  for (const item of list) if (item !== null) kept.push(item);
  return kept;
}

function isText(value: Json | undefined): value is string {
  return typeof value === "string";
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** Before a list is made. */
function refuseLong(length: number): void {
  if (length > MAX_LIST_ITEMS) throw tooLarge();
}

const HAS_HALVES = /[\ud800-\udfff]/;

/** In characters as people count them: code points, not their halves. */
export function lengthOfText(text: string): number {
  return HAS_HALVES.test(text) ? Array.from(text).length : text.length;
}

function sliceText(text: string, from: number, to?: number): string {
  return HAS_HALVES.test(text) ? Array.from(text).slice(from, to).join("") : text.slice(from, to);
}

function first(list: Json | undefined): Json | undefined {
  return isList(list) ? list[0] : undefined;
}

/** Each element with its key, in the order of the keys; those that are equal stay in theirs. */
function inOrder(list: Json | undefined, keys: Json | undefined, work: Work) {
  if (!isList(list) || !isList(keys)) return undefined;
  work.pay(list.length);
  return Array.from(list, (item, at) => ({ item, at, key: keys[at] ?? null })).sort(
    (a, b) => compareValues(a.key, b.key, work) || a.at - b.at,
  );
}

function sortBy(list: Json | undefined, keys: Json | undefined, work: Work): readonly Json[] | undefined {
  return inOrder(list, keys ?? list, work)?.map(({ item }) => item);
}

/** Of several that are equal the one that stands first. */
function maxOf(list: Json | undefined, keys: Json | undefined, work: Work): Json | undefined {
  const sorted = inOrder(list, keys ?? list, work);
  const last = sorted?.at(-1);
  return sorted?.find(({ key }) => last !== undefined && compareValues(key, last.key, work) === 0)?.item;
}

function unique(list: Json | undefined, keys: Json | undefined, work: Work): readonly Json[] | undefined {
  const sorted = inOrder(list, keys, work);
  const firsts = sorted?.filter(({ key }, at) => {
    const before = sorted[at - 1];
    return before === undefined || compareValues(before.key, key, work) !== 0;
  });
  return firsts?.toSorted((a, b) => a.at - b.at).map(({ item }) => item);
}

/** Keys become texts; what has none is left out. */
function groupBy(list: Json | undefined, keys: Json | undefined, work: Work): Json | undefined {
  if (!isList(list) || !isList(keys)) return undefined;
  const groups = new Map<string, Json[]>();
  for (const [at, item] of [...list].entries()) {
    const key = keys[at] ?? null;
    if (key === null) continue;
    const name = toText(key, work);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [item]);
    else group.push(item);
  }
  return Object.fromEntries(groups);
}

/** The later one wins; what has no key is left out. */
function toObject(keys: Json | undefined, values: Json | undefined, work: Work): Json | undefined {
  if (!isList(keys) || !isList(values)) return undefined;
  const entries = new Map<string, Json>();
  for (const [at, key] of [...keys].entries()) if (key !== null) entries.set(toText(key, work), values[at] ?? null);
  return Object.fromEntries(entries);
}

/** One level. */
function flatten(list: Json | undefined): readonly Json[] | undefined {
  if (!isList(list)) return undefined;
  const lists = Array.from(list, (item) => (isList(item) ? item : [item]));
  refuseLong(lists.reduce((sum, { length }) => sum + length, 0));
  return lists.flatMap((items) => [...items]);
}

/** The end is excluded; numbers below zero count from the end. */
function slice(value: Json | undefined, from: Json, to: Json | undefined): Json | undefined {
  if (typeof from !== "number" || (to !== undefined && typeof to !== "number")) return undefined;
  if (isText(value)) return sliceText(value, from, to);
  return isList(value) ? [...value].slice(from, to) : undefined;
}

/** `range(n)` counts from 0. The end is excluded. */
function range(args: Args, work: Work): readonly number[] | undefined {
  const [from, to, step = 1] = args.length === 1 ? [0, ...args] : args;
  const isWhole = (value: Json | undefined) => typeof value === "number" && Number.isSafeInteger(value);
  if (!isWhole(from) || !isWhole(to) || !isWhole(step) || step === 0) return undefined;
  const count = Math.max(0, Math.ceil((Number(to) - Number(from)) / Number(step)));
  refuseLong(count);
  work.pay(count);
  return Array.from({ length: count }, (_, at) => Number(from) + at * Number(step));
}

/** As long as the shortest. */
function zip(lists: Args): Json | undefined {
  if (!lists.every(isList)) return undefined;
  const length = Math.min(...lists.map((list) => list.length));
  refuseLong(length * lists.length);
  return Array.from({ length }, (_, at) => lists.map((list) => list[at] ?? null));
}

/** Of an element, or of a part of a text in characters. -1: it is not there. */
function indexOf(value: Json | undefined, wanted: Json | undefined, work: Work): number | undefined {
  if (wanted === undefined) return undefined;
  if (isList(value)) return [...value].findIndex((item) => isEqual(item, wanted, work));
  if (!isText(value) || !isText(wanted)) return undefined;
  const at = value.indexOf(wanted);
  return at < 0 ? -1 : lengthOfText(value.slice(0, at));
}

/** Each place where the text `from` stands. */
function replace(
  value: Json | undefined,
  from: Json | undefined,
  to: Json | undefined,
  work: Work,
): string | undefined {
  if (!isText(value) || !isText(from) || !isText(to) || from === "") return undefined;
  const parts = value.split(from, MAX_LIST_ITEMS + 1);
  refuseLong(parts.length);
  work.pay(parts.length);
  return joinTexts(parts, to, work);
}

/** Names one by one, or as a list. */
function withFields(value: Json | undefined, names: Args, isWanted: boolean): Json | undefined {
  if (!isJsonObject(value)) return undefined;
  const wanted = new Set(names.flatMap((name) => (isList(name) ? [...name] : [name ?? null])));
  return Object.fromEntries(Object.entries(value).filter(([name]) => wanted.has(name) === isWanted));
}

function padding(
  value: Json | undefined,
  length: Json | undefined,
  fill: Json,
  put: (text: string, pad: string) => string,
): string | undefined {
  const text = isNumber(value) ? String(value) : value;
  if (!isText(text) || typeof length !== "number" || !isText(fill) || fill === "") return undefined;
  if (length > MAX_TEXT_CHARS) throw tooLarge();
  const missing = Math.max(0, Math.floor(length) - lengthOfText(text));
  const times = Math.ceil(missing / lengthOfText(fill));
  return put(text, sliceText(fill.repeat(times), 0, missing));
}

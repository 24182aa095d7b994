import { toInteger, writeExact } from "../exact-json.ts";
import { toMilliseconds } from "../iso-time.ts";
import { isJsonObject, isNumber, type Json } from "../json.ts";
import { parseJson } from "../parse-json.ts";
import { COLLECTIONS, lengthOfText } from "./collections.ts";
import { concat, merge, mergeBy } from "./combine.ts";
import { isEqual } from "./equality.ts";
import { type FunctionName, MAX_LIST_ITEMS, type Scope } from "./expr.ts";
import { escapeBackslashes, escapeRegex, joinTexts, toText, writeJson } from "./to-text.ts";
import { tooLarge, type Work } from "./work.ts";

type Args = readonly (Json | undefined)[];

/** Pure functions of the expression language. An argument of the wrong type gives undefined, never an error. */
export function callFunction(fn: FunctionName, args: Args, work: Work): Json | undefined {
  const [first, second] = args;
  switch (fn) {
    case "length":
      return lengthOf(first);
    case "itemCount":
      return countItems(first);
    case "asList":
      return first === undefined || Array.isArray(first) ? first : first === null ? [] : [first];
    case "contains":
      return contains(first, second, work);
    case "keys":
      return isJsonObject(first) ? Object.keys(first) : undefined;
    case "coalesce":
      return args.find((value) => value !== undefined && value !== null);
    case "toNumber":
      return toNumber(first);
    case "toString":
      return first === undefined ? undefined : toText(first, work);
    case "parseJson":
      return typeof first === "string" ? parseText(first, work.scope) : undefined;
    case "toJson":
      return first === undefined ? undefined : toJson(first, work);
    case "lower":
      return typeof first === "string" ? first.toLowerCase() : undefined;
    case "upper":
      return typeof first === "string" ? first.toUpperCase() : undefined;
    case "trim":
      return typeof first === "string" ? first.trim() : undefined;
    case "split":
      return split(first, second);
    case "join":
      return join(first, second, work);
    case "concat":
      return concat(args);
    case "merge":
      return merge(args, work);
    case "mergeBy":
      return mergeBy(first, second, work);
    case "toMilliseconds":
      return toMilliseconds(first);
    case "escapeBackslashes":
      return first === undefined ? undefined : mapText(first, escapeBackslashes, work);
    case "escapeRegex":
      return first === undefined ? undefined : mapText(first, escapeRegex, work);
    case "matches":
      return typeof first === "string" && typeof second === "string"
        ? work.scope.matches?.(first, second, (looks) => work.pay(looks))
        : false;
    default:
      return COLLECTIONS[fn](args, work);
  }
}

function toJson(value: Json, work: Work): string {
  work.payWalk(value);
  try {
    // The engine is many times as fast, but has no room for what is nested most deeply.
    return writeExact(value);
  } catch (error) {
    if (error instanceof RangeError) return writeJson(value, "");
    throw error;
  }
}

function mapText(value: Json, change: (text: string) => string, work: Work): string {
  return change(toText(value, work));
}

function lengthOf(value: Json | undefined): number | undefined {
  if (typeof value === "string") return lengthOfText(value);
  if (Array.isArray(value)) return value.length;
  return isJsonObject(value) ? Object.keys(value).length : undefined;
}

function countItems(value: Json | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (value === null) return 0;
  return Array.isArray(value) ? value.length : -1;
}

function contains(value: Json | undefined, wanted: Json | undefined, work: Work): boolean | undefined {
  if (wanted === undefined) return false;
  if (typeof value === "string") return typeof wanted === "string" && value.includes(wanted);
  if (Array.isArray(value)) {
    work.pay(value.length >> 1);
    return value.some((item: Json) => isEqual(item, wanted, work));
  }
  if (isJsonObject(value)) return typeof wanted === "string" && Object.hasOwn(value, wanted);
  return undefined;
}

function toNumber(value: Json | undefined): number | bigint | undefined {
  if (isNumber(value)) return value;
  if (typeof value !== "string" || value.trim() === "") return undefined;
  const [, digits] = /^\s*([+-]?\d+)\s*$/.exec(value) ?? [];
  if (digits !== undefined) return toInteger(digits);
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

function parseText(text: string, scope: Scope): Json | undefined {
  return scope.parse === undefined ? parseJson(text) : scope.parse(text);
}

function split(text: Json | undefined, separator: Json | undefined): Json | undefined {
  if (typeof text !== "string" || typeof separator !== "string") return undefined;
  // Between characters, not in the middle of one.
  const parts = text.split(separator === "" ? /(?:)/u : separator, MAX_LIST_ITEMS + 1);
  if (parts.length > MAX_LIST_ITEMS) throw tooLarge();
  return parts;
}

function join(list: Json | undefined, separator: Json | undefined, work: Work): string | undefined {
  if (!Array.isArray(list)) return undefined;
  return joinTexts(textsOf(list, work), typeof separator === "string" ? separator : ",", work);
}

/** One at a time, so that what becomes too long is given up before everything is written. */
function* textsOf(list: readonly Json[], work: Work): Generator<string> {
  // What is missing does not become text.
  for (const item of list) yield item === null ? "" : toText(item, work);
}

import type { Json } from "./json.ts";
import {
  checkLength,
  checkSizes,
  hasHugeNumber,
  hasLongInteger,
  hasMark,
  MAX_INTEGER_DIGITS,
  markIntegers,
  unmark,
} from "./long-integers.ts";

/** Known to the engine and not yet to TypeScript. */
interface Engine {
  parse(text: string, reviver: (this: unknown, key: string, value: unknown, context: Context) => unknown): unknown;
  rawJSON(text: string): object;
}

interface Context {
  /** The text of a number, a string or a literal. */
  readonly source?: string;
}

type Change = (this: unknown, key: string, part: Json) => unknown;

const engine = JSON as unknown as Engine;

/**
 * `JSON.parse`, but a whole number that a double cannot hold is a bigint, and one that nothing can hold is refused. Throws
 * a `SyntaxError`, which is a `NumberTooLarge` for such a number. `Known`: what the text is known to be, where we wrote it.
 */
export function parseExact<Known = Json>(text: string, change?: Change): Known {
  return parse(text, change) as Known;
}

function parse(text: string, change: Change | undefined): unknown {
  if (hasHugeNumber(text)) {
    // First of all it has to be JSON: a prose that names such a number is none.
    JSON.parse(text);
    checkSizes(text);
  }
  if (change !== undefined) return parseWith(text, change);
  if (!hasLongInteger(text)) return JSON.parse(text);
  if (hasMark(text)) return parseWith(text, asItIs);
  // A reviver would visit each part of the value through the engine, which takes three times as long.
  const marked = markIntegers(text);
  return marked === text ? JSON.parse(text) : unmark(parseMarked(marked, text));
}

/** `JSON.stringify`, which throws for a bigint. `how`: the width of an indent, or what to write in place of each part. */
export function writeExact(value: unknown, how?: number | Change): string {
  const [change, indent] = typeof how === "number" ? [undefined, how] : [how];
  try {
    // Most values have no bigint, and without a function the engine is several times as fast.
    return JSON.stringify(value, change, indent);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const write: Change = function (key, part) {
      const written = change === undefined ? part : change.call(this, key, part);
      return typeof written === "bigint" ? toRaw(written) : written;
    };
    return JSON.stringify(value, write, indent);
  }
}

/** The value for a library that writes it with `JSON.stringify`: what stands for a bigint in it is written like one. */
export function toWritable<Value>(value: Value): Value {
  return withRaw(value) as Value;
}

function withRaw(value: unknown): unknown {
  if (typeof value === "bigint") return toRaw(value);
  if (Array.isArray(value)) return value.map(withRaw);
  // Bytes, links and the like are the library's.
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withRaw(part)]));
}

/** The value as it is read back after it was written: a double such as 1e20 is written like an integer. */
export function asReadBack(value: Json, text: string): Json {
  return hasLongInteger(text) ? parseExact(text) : value;
}

/** A number of a text that is nothing but digits; undefined where it has too many of them. One that a double can hold is a double. */
export function toInteger(digits: string): number | bigint | undefined {
  const number = Number(digits);
  if (Number.isSafeInteger(number)) return number;
  return digits.replace(/^[+-]/, "").length > MAX_INTEGER_DIGITS ? undefined : BigInt(digits);
}

/** The one form that a number has: a whole one beyond the safe range is a bigint, every other one is none. */
export function toCanonicalNumber(value: number | bigint): number | bigint {
  if (typeof value === "bigint") return value >= MIN_SAFE && value <= MAX_SAFE ? Number(value) : value;
  // JSON writes larger ones with an exponent, so they stay what they are.
  return Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21 ? BigInt(value) : value;
}

const MIN_SAFE = BigInt(Number.MIN_SAFE_INTEGER);
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

function toRaw(value: bigint): object {
  return engine.rawJSON(String(value));
}

function asItIs(_key: string, part: Json): Json {
  return part;
}

function parseWith(text: string, change: Change): unknown {
  return engine.parse(text, function (key, value, context) {
    const { source = "" } = context;
    const isLong = typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source);
    return change.call(this, key, isLong ? BigInt(checkLength(source, text.indexOf(source))) : (value as Json));
  });
}

/** A fault is that of the text as it was written. */
function parseMarked(marked: string, text: string): Json {
  try {
    return JSON.parse(marked);
  } catch {
    return parseWith(text, asItIs) as Json;
  }
}

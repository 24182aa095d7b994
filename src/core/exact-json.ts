import type { Json } from "./json.ts";
import { checkLength, hasLongInteger, hasMark, MAX_INTEGER_DIGITS, markIntegers, unmark } from "./long-integers.ts";

/** Known to the engine and not yet to TypeScript. */
interface ExactJson {
  parse(text: string, reviver: Reviver): unknown;
  rawJSON(text: string): object;
}

type Reviver = (this: unknown, key: string, value: unknown, context: Context) => unknown;

interface Context {
  /** The text of a number, a string or a literal. */
  readonly source?: string;
}

const engine = JSON as unknown as ExactJson;
/** As they are before `makeJsonExact`. */
const native = { parse: JSON.parse, parseWith: engine.parse, write: JSON.stringify, rawJSON: engine.rawJSON };

/** `JSON.parse`, but a whole number that a double cannot hold is a bigint. Throws a `SyntaxError`. */
export function parseExact(text: string): Json {
  if (!hasLongInteger(text)) return native.parse(text);
  if (hasMark(text)) return parseWith(text, (_key, value) => value) as Json;
  // A reviver would visit each part of the value through the engine, which takes three times as long.
  const marked = markIntegers(text);
  return marked === text ? native.parse(text) : unmark(parseMarked(marked, text));
}

/** `JSON.stringify`, which would throw for a bigint. */
export function writeExact(value: unknown, space?: number): string {
  return native.write(value, (_key, part: unknown) => (typeof part === "bigint" ? toRaw(part) : part), space);
}

/**
 * Makes `JSON.parse` and `JSON.stringify` of this process exact, once, at the entry of a program of ours: libraries that
 * read and write JSON inside (of MCP, of model providers, of HTTP) then keep integers too. See decision 0013.
 */
export function makeJsonExact(): void {
  Object.defineProperty(BigInt.prototype, "toJSON", {
    value(this: bigint) {
      return toRaw(this.valueOf());
    },
    configurable: true,
    writable: true,
  });
  JSON.parse = (given: unknown, reviver?: Reviver) => {
    const text = typeof given === "string" ? given : String(given);
    if (typeof reviver !== "function") return parseExact(text);
    return hasLongInteger(text) ? parseWith(text, reviver) : native.parseWith(text, reviver);
  };
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
  return native.rawJSON(String(value));
}

function parseWith(text: string, reviver: Reviver): unknown {
  return native.parseWith(text, function (key, value, context) {
    const { source = "" } = context;
    const isLong = typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source);
    const exact = isLong ? BigInt(checkLength(source, text.indexOf(source))) : value;
    return reviver.call(this, key, exact, context);
  });
}

/** A fault is that of the text as it was written. */
function parseMarked(marked: string, text: string): Json {
  try {
    return native.parse(marked);
  } catch {
    return parseWith(text, (_key, value) => value) as Json;
  }
}

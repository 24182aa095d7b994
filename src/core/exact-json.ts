import type { Json } from "./json.ts";

/** How many digits a whole number may have. So many still have a nearest double; reading and writing them costs nothing. */
export const MAX_INTEGER_DIGITS = 300;

/** Known to the engine and not yet to TypeScript. */
interface ExactJson {
  parse(text: string, reviver: (this: unknown, key: string, value: unknown, context: Context) => unknown): unknown;
  rawJSON(text: string): object;
}

interface Context {
  /** The text of a number, a string or a literal. */
  readonly source?: string;
}

const engine = JSON as unknown as ExactJson;
/** As they are before `makeJsonExact`. */
const native = { parse: JSON.parse, parseWith: engine.parse, write: JSON.stringify, rawJSON: engine.rawJSON };

/** Thrown for an integer of more than `MAX_INTEGER_DIGITS`. Its message says where it stands. */
export class IntegerTooLong extends SyntaxError {}

/** `JSON.parse`, but a whole number that a double cannot hold is a bigint. Throws a `SyntaxError`. */
export function parseExact(text: string): Json {
  if (!hasLongInteger(text)) return native.parse(text);
  return native.parseWith(text, (_key, value, { source }) => toExact(value, source, text)) as Json;
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
  JSON.parse = (given: unknown, reviver?: Parameters<ExactJson["parse"]>[1]) => {
    const text = typeof given === "string" ? given : String(given);
    // A reviver that is undefined takes the slow way through the engine's parser.
    if (!hasLongInteger(text)) return reviver === undefined ? native.parse(text) : native.parseWith(text, reviver);
    return native.parseWith(text, function (key, value, context) {
      const exact = toExact(value, context.source, text);
      return typeof reviver === "function" ? reviver.call(this, key, exact, context) : exact;
    });
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

function toExact(value: unknown, source: string | undefined, text: string): unknown {
  if (typeof value !== "number" || source === undefined || Number.isSafeInteger(value)) return value;
  if (!/^-?\d+$/.test(source)) return value;
  const exact = toInteger(source);
  if (exact === undefined) throw tooLong(text);
  return exact;
}

function tooLong(text: string): IntegerTooLong {
  const long = new RegExp(`"(?:[^"\\\\]|\\\\.)*"|\\d{${MAX_INTEGER_DIGITS + 1},}`, "gs");
  const position = [...text.matchAll(long)].find(([found]) => !found.startsWith('"'))?.index ?? 0;
  return new IntegerTooLong(`An integer of more than ${MAX_INTEGER_DIGITS} digits in JSON at position ${position}`);
}

/** 2^53 has sixteen digits. */
const MIN_DIGITS = 16;
const DOT = 0x2e;

/**
 * Whether a number of sixteen digits or more, without fraction and exponent, may stand in JSON text: no false "no". Looks back
 * from each sixteenth character until one is no digit, and goes on sixteen behind that one: a text without such costs next to nothing.
 */
export function hasLongInteger(text: string): boolean {
  let at = MIN_DIGITS - 1;
  while (at < text.length) {
    let start = at;
    while (isDigit(text.charCodeAt(start))) start -= 1;
    if (at - start < MIN_DIGITS) {
      at = start + MIN_DIGITS;
      continue;
    }
    let end = at + 1;
    while (isDigit(text.charCodeAt(end))) end += 1;
    if (text.charCodeAt(start) !== DOT && isBefore(text, start) && isAfter(text, end)) return true;
    at = end + MIN_DIGITS;
  }
  return false;
}

/** There is none before the beginning and behind the end. */
function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isBefore(text: string, at: number): boolean {
  return at < 0 || "[,:- \n\t\r".includes(text.charAt(at));
}

function isAfter(text: string, at: number): boolean {
  return at >= text.length || ",]} \n\t\r".includes(text.charAt(at));
}

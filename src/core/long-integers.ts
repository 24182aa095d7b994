import type { Json } from "./json.ts";

/** How many digits a whole number may have. So many still have a nearest double; reading and writing them costs nothing. */
export const MAX_INTEGER_DIGITS = 300;

/** Thrown for an integer of more than `MAX_INTEGER_DIGITS`, and for a number beyond all doubles. Its message says where it stands. */
export class NumberTooLarge extends SyntaxError {}

/** Whether a number that no double holds may stand in JSON text: no false "no". */
export function hasHugeNumber(text: string): boolean {
  // The engine finds a letter many times as fast. A number ends before one of these; a UUID that looks like one does not.
  const hasLetter = text.includes("e") || text.includes("E");
  if (hasLetter && /[0-9][eE]\+?[0-9]{3,}(?:[\s,\]}]|$)/.test(text)) return true;
  for (let at = MANY_DIGITS - 1; at < text.length; at += MANY_DIGITS) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let start = at;
    while (isDigit(text.charCodeAt(start - 1))) start -= 1;
    if (endOfDigits(text, at) - start >= MANY_DIGITS) return true;
  }
  return false;
}

/** Throws `NumberTooLarge` for a number outside of strings that would be read as infinite. Integers have their own limit. */
export function checkSizes(text: string): void {
  eachNumber(text, (start) => {
    let end = start + 1;
    while (end < text.length && "0123456789.eE+-".includes(text.charAt(end))) end += 1;
    const number = text.slice(start, end);
    if (Number(number) !== Number.POSITIVE_INFINITY || /^\d+$/.test(number)) return end;
    const shown = number.length > MAX_SHOWN_CHARS ? `${number.slice(0, MAX_SHOWN_CHARS)}...` : number;
    throw new NumberTooLarge(`The number ${shown} in JSON at position ${start} is too large for a double`);
  });
}

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

/** Each long integer outside of strings as a text, with its mark. Throws `NumberTooLarge`. */
export function markIntegers(text: string): string {
  let marked = "";
  let taken = 0;
  eachNumber(text, (at) => {
    const end = endOfDigits(text, at);
    const start = at > 0 && text.charCodeAt(at - 1) === MINUS ? at - 1 : at;
    if (end - at >= MIN_DIGITS && isLongInteger(text, start, end)) {
      marked += `${text.slice(taken, start)}"${MARK}${checkLength(text.slice(start, end), start)}"`;
      taken = end;
    }
    return end;
  });
  return taken === 0 ? text : marked + text.slice(taken);
}

/** The integers that were marked, as bigints. In place, without recursion: a value may be nested more deeply than the stack. */
export function unmark<Value>(parsed: Value): Value {
  const pending: object[] = [];
  const whole = unmarkOne(parsed as Json, pending);
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (Array.isArray(next)) {
      for (let at = 0; at < next.length; at += 1) next[at] = unmarkOne(next[at], pending);
      continue;
    }
    const fields = next as Record<string, Json>;
    for (const key of Object.keys(fields)) {
      const value = fields[key] ?? null;
      if (value !== null && typeof value !== "number") fields[key] = unmarkOne(value, pending);
    }
  }
  return whole as Value;
}

function unmarkOne(value: Json, pending: object[]): Json {
  if (typeof value === "string") return MARKED.test(value) ? BigInt(value.slice(MARK.length)) : value;
  if (typeof value === "object" && value !== null) pending.push(value);
  return value;
}

/** Whether a text has the mark in it already, as it is or escaped. */
export function hasMark(text: string): boolean {
  return /\ue000|\\ue000/i.test(text);
}

/** The digits, where there are not too many of them. Throws `NumberTooLarge`; `at` is their place. */
export function checkLength(digits: string, at: number): string {
  if (digits.length <= MAX_INTEGER_DIGITS || digits.replace("-", "").length <= MAX_INTEGER_DIGITS) return digits;
  throw new NumberTooLarge(`An integer of more than ${MAX_INTEGER_DIGITS} digits in JSON at position ${at}`);
}

/** Before the digits of a bigint in a text that stands for it. Private use: other texts hardly have it, and those that do are read the slow way. */
const MARK = "\ue000";
const MARKED = /^\ue000-?\d{16,300}$/;

const MAX_SHOWN_CHARS = 40;
/** A number with less needs an exponent of three digits to be more than a double is. */
const MANY_DIGITS = 200;

/** 2^53 has sixteen digits. */
const MIN_DIGITS = 16;
const DOT = 0x2e;
const QUOTE = 0x22;
const MINUS = 0x2d;
const BACKSLASH = 0x5c;

/** Calls `visit` with the place of the first digit of each number outside of strings. It returns where to go on. */
function eachNumber(text: string, visit: (at: number) => number): void {
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else at = isDigit(code) ? visit(at) : at + 1;
  }
}

/** Behind the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before -= 1;
    if ((end - before) % 2 === 1) return end + 1;
  }
  return text.length;
}

function endOfDigits(text: string, start: number): number {
  let end = start + 1;
  while (end < text.length && isDigit(text.charCodeAt(end))) end += 1;
  return end;
}

/** One that no double holds, as JSON writes it, where a value may stand: not a part of another number, and no name of a field. */
function isLongInteger(text: string, start: number, end: number): boolean {
  const digits = text.slice(start, end);
  if (/^-?0/.test(digits) || Number.isSafeInteger(Number(digits))) return false;
  if (start > 0 && !"[,: \n\t\r".includes(text.charAt(start - 1))) return false;
  let next = end;
  while (next < text.length && " \n\t\r".includes(text.charAt(next))) next += 1;
  return next === text.length || ",]}".includes(text.charAt(next));
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

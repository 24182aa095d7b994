import { toInteger } from "../exact-json.ts";
import { isNumber, type Json } from "../json.ts";
import type { Work } from "./work.ts";

/**
 * Numbers by their digits as they are written, so that 0.1 + 0.2 is 0.3: `digits` times ten to the power of `tens`. A whole result is
 * exact up to 300 digits, every other one is the nearest double, and one that is too large is undefined.
 */
interface Decimal {
  readonly digits: bigint;
  readonly tens: number;
}

const MAX_WHOLE_DIGITS = 300;
/** More than a double tells apart. */
const QUOTIENT_DIGITS = 40;

type Num = number | bigint;

function toDecimal(value: Num): Decimal {
  if (typeof value === "bigint" || Number.isSafeInteger(value)) return { digits: BigInt(value), tens: 0 };
  const [mantissa = "", tens = "0"] = String(value).split("e");
  const [whole = "", part = ""] = mantissa.split(".");
  return { digits: BigInt(whole + part), tens: Number(tens) - part.length };
}

function toNumber({ digits, tens }: Decimal): Num | undefined {
  const text = String(digits);
  let zeros = 0;
  while (digits !== 0n && zeros < -tens && text[text.length - 1 - zeros] === "0") zeros += 1;
  const [shown, rest] = [text.slice(0, text.length - zeros), tens + zeros];
  if (digits === 0n) return 0;
  if (rest >= 0 && shown.length + rest <= MAX_WHOLE_DIGITS) return toInteger(shown + "0".repeat(rest));
  return nearest(`${shown}e${rest}`);
}

function nearest(written: string): number | undefined {
  const number = Number(written);
  // `|| 0`: no negative zero, which JSON does not keep.
  return Number.isFinite(number) ? number || 0 : undefined;
}

function shift({ digits, tens }: Decimal, to: number): bigint {
  return digits * 10n ** BigInt(tens - to);
}

/** All numbers: their sum. All texts: one text. Else undefined. */
export function add(args: readonly (Json | undefined)[], work: Work): Num | undefined {
  let sum: Num | undefined = 0;
  for (const arg of args) {
    if (!isNumber(arg) || sum === undefined) return undefined;
    sum = addTwo(sum, arg, work);
  }
  return sum;
}

function addTwo(left: Num, right: Num, work: Work): Num | undefined {
  if (typeof left === "number" && typeof right === "number") {
    const sum = left + right;
    if (Number.isSafeInteger(left) && Number.isSafeInteger(right) && Number.isSafeInteger(sum)) return sum;
  }
  const [a, b] = pay(left, right, work);
  const tens = Math.min(a.tens, b.tens);
  return toNumber({ digits: shift(a, tens) + shift(b, tens), tens });
}

/** Of long numbers, and of those of very different size, each operation walks through all digits. */
function pay(left: Num, right: Num, work: Work): readonly [Decimal, Decimal] {
  const [a, b] = [toDecimal(left), toDecimal(right)];
  const lengthOf = (value: Num) => (typeof value === "bigint" ? String(value).length : 17);
  work.pay(2 + ((Math.abs(a.tens - b.tens) + lengthOf(left) + lengthOf(right)) >> 2));
  return [a, b];
}

export function multiply(left: Num, right: Num, work: Work): Num | undefined {
  const product = Number(left) * Number(right);
  if (Number.isSafeInteger(left) && Number.isSafeInteger(right) && Number.isSafeInteger(product)) return product || 0;
  const [a, b] = pay(left, right, work);
  return toNumber({ digits: a.digits * b.digits, tens: a.tens + b.tens });
}

/** Undefined for a division by zero. */
export function divide(left: Num, right: Num, work: Work): Num | undefined {
  const [a, b] = pay(left, right, work);
  if (b.digits === 0n) return undefined;
  const more = Math.max(0, QUOTIENT_DIGITS + String(b.digits).length - String(a.digits).length);
  const scaled = a.digits * 10n ** BigInt(more);
  const quotient = scaled / b.digits;
  const tens = a.tens - b.tens - more;
  // What is left over only decides how the last digit of the double is rounded.
  return scaled % b.digits === 0n ? toNumber({ digits: quotient, tens }) : nearest(`${quotient}1e${tens - 1}`);
}

/** With the sign of the left one. Undefined for a division by zero. */
export function remainder(left: Num, right: Num, work: Work): Num | undefined {
  const [a, b] = pay(left, right, work);
  if (b.digits === 0n) return undefined;
  const tens = Math.min(a.tens, b.tens);
  return toNumber({ digits: shift(a, tens) % shift(b, tens), tens });
}

export function negate(value: Num): Num {
  return -value || 0;
}

const MAX_PLACES = 400;

/** To so many places behind the point; before it where they are negative. Half goes away from zero. */
export function roundTo(
  value: Json | undefined,
  places: Json | undefined,
  mode: "round" | "floor" | "ceil",
): Num | undefined {
  if (!isNumber(value) || typeof places !== "number" || !Number.isInteger(places)) return undefined;
  const { digits, tens } = toDecimal(value);
  const dropped = -places - tens;
  if (dropped <= 0) return value;
  if (Math.abs(places) > MAX_PLACES) return places > 0 ? value : 0;
  const unit = 10n ** BigInt(dropped);
  const rest = digits % unit;
  const isUp = mode === "ceil" ? rest > 0n : mode === "round" && rest * 2n >= unit;
  const isDown = mode === "floor" ? rest < 0n : mode === "round" && -rest * 2n >= unit;
  return toNumber({ digits: digits / unit + (isUp ? 1n : isDown ? -1n : 0n), tens: -places });
}

const NUMBER_PATTERN = /^([^#0.,]*)(#,##)?(0+)(?:\.(0*)(#*))?([^#0.,]*)$/;

export function isNumberPattern(pattern: string): boolean {
  return NUMBER_PATTERN.test(pattern);
}

/** `0.00`: two places; `0.0#`: the second where it is not 0; `#,##0`: in thousands; what stands around stays. Undefined for another pattern. */
export function formatNumber(value: Num, pattern: string): string | undefined {
  const found = NUMBER_PATTERN.exec(pattern);
  if (found === null) return undefined;
  const [, before = "", group, whole = "", fixed = "", optional = "", behind = ""] = found;
  const places = fixed.length + optional.length;
  const rounded = roundTo(value, places, "round");
  if (rounded === undefined) return undefined;
  const { digits, tens } = toDecimal(rounded);
  const text = String(shift({ digits: digits < 0n ? -digits : digits, tens }, -places)).padStart(
    places + whole.length,
    "0",
  );
  const integer = text.slice(0, text.length - places);
  const fraction = text.slice(text.length - places).replace(new RegExp(`0{0,${optional.length}}$`), "");
  const grouped = group === undefined ? integer : integer.replace(/\B(?=(\d{3})+$)/g, ",");
  return `${digits < 0n ? "-" : ""}${before}${grouped}${fraction === "" ? "" : `.${fraction}`}${behind}`;
}

import { formatFloat, roundQuotient } from "../formats/decimal.ts";
import { FunctionTable } from "../functions/builtin.ts";
import { wrong } from "../template-error.ts";
import { calculate, toFloat } from "../values/arithmetic.ts";
import { type Numeric, plain, toNumeric } from "../values/compare.ts";
import { stripEnd, stripStart } from "../values/text.ts";
import { isText, typeName, Undefined, type Value } from "../values/value.ts";

const table = new FunctionTable();
export const numberFilters = table.functions;

const INTEGER = /^([-+]?)(?:0([xXoObB])_?)?([\da-zA-Z]+(?:_[\da-zA-Z]+)*)$/;
const FLOAT = /^[-+]?(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:[eE][-+]?\d+(?:_\d+)*)?$/;
const SPECIAL = /^([-+]?)(?:(inf(?:inity)?)|nan)$/i;
const RADIX: Readonly<Record<string, number>> = { x: 16, o: 8, b: 2 };
const UNITS = ["k", "M", "G", "T", "P", "E", "Z", "Y"];

table
  .add("abs", {}, (value) => {
    const number = expectNumber(value, "abs");
    return number < 0 || Object.is(number, -0) ? -number : number;
  })
  .add("int", { default: 0n, base: 10n }, (value, given) => {
    if (value instanceof Undefined) throw value.fault();
    if (isText(value))
      return (
        readInteger(plain(value), given.size("base")) ?? truncate(readFloat(plain(value))) ?? given.value("default")
      );
    return truncate(toNumeric(value)) ?? given.value("default");
  })
  .add("float", { default: 0 }, (value, given) => {
    if (value instanceof Undefined) throw value.fault();
    const number = isText(value) ? readFloat(plain(value)) : toNumeric(value);
    return number === undefined ? given.value("default") : toFloat(number);
  })
  .add("round", { precision: 0n, method: "common" }, (value, given, { meter }) => {
    const method = given.text("method");
    const precision = given.size("precision");
    if (method !== "common" && method !== "ceil" && method !== "floor")
      throw wrong("method must be common, ceil or floor");
    if (Math.abs(precision) > 400) throw wrong("the precision is too large");
    const number = expectNumber(value, "round");
    if (method === "common") return roundTo(number, precision);
    const factor = calculate("**", 10n, BigInt(precision), meter);
    const scaled = calculate("*", number, factor, meter);
    return calculate("/", typeof scaled === "bigint" ? scaled : wholeOf(scaled, Math[method]), factor, meter);
  })
  .add("filesizeformat", { binary: false }, (value, given) => {
    if (value instanceof Undefined) throw value.fault();
    const number = isText(value) ? readFloat(plain(value)) : toNumeric(value);
    if (number === undefined) throw wrong(`a size must be a number, not ${typeName(value)}`);
    return toFileSize(toFloat(number), given.isTrue("binary"));
  });

function expectNumber(value: Value, filter: string): Numeric {
  const number = toNumeric(value);
  if (number === undefined) throw wrong(`${filter}() needs a number, not ${typeName(value)}`);
  return number;
}

function strip(text: string): string {
  return stripStart(stripEnd(text));
}

/** A whole number in Python's notation. Undefined: it is none. */
function readInteger(text: string, base: number): bigint | undefined {
  const [, sign = "", prefix, digits = ""] = INTEGER.exec(strip(text)) ?? [];
  const own = prefix === undefined ? undefined : RADIX[prefix.toLowerCase()];
  const radix = base === 0 ? (own ?? 10) : base;
  if (digits === "" || digits.length > 4_300 || radix < 2 || radix > 36) return undefined;
  // `0b1` is a number of base 16 too.
  const plainDigits = (own === radix || prefix === undefined ? digits : `0${prefix}${digits}`).replaceAll("_", "");
  let value = 0n;
  for (const digit of plainDigits.toLowerCase()) {
    const number = Number.parseInt(digit, 36);
    if (!(number < radix)) return undefined;
    value = value * BigInt(radix) + BigInt(number);
  }
  return sign === "-" ? -value : value;
}

function readFloat(written: string): number | undefined {
  const text = strip(written);
  const [isSpecial, sign, infinite] = SPECIAL.exec(text) ?? [];
  if (isSpecial !== undefined) return infinite === undefined ? Number.NaN : sign === "-" ? -Infinity : Infinity;
  return FLOAT.test(text) ? Number(text.replaceAll("_", "")) : undefined;
}

function truncate(value: Numeric | undefined): bigint | undefined {
  if (typeof value !== "number") return value;
  return Number.isFinite(value) ? BigInt(Math.trunc(value)) : undefined;
}

function wholeOf(value: number, round: (value: number) => number): bigint {
  if (!Number.isFinite(value)) throw wrong("cannot convert float infinity or NaN to integer");
  return BigInt(round(value));
}

/** As Python's `round`: to the nearest, and halves to the even digit. */
function roundTo(value: Numeric, precision: number): Numeric {
  if (typeof value === "bigint") {
    if (precision >= 0) return value;
    const unit = 10n ** BigInt(-precision);
    const size = roundQuotient(value < 0n ? -value : value, unit) * unit;
    return value < 0n ? -size : size;
  }
  if (!Number.isFinite(value)) return value;
  const size =
    precision >= 0
      ? Number(formatFloat(value, "f", precision))
      : Number(roundTo(BigInt(Math.trunc(Math.abs(value))), precision));
  return value < 0 || Object.is(value, -0) ? -size : size;
}

function toFileSize(bytes: number, isBinary: boolean): string {
  const base = isBinary ? 1024 : 1000;
  if (bytes === 1) return "1 Byte";
  if (bytes < base) return `${Math.trunc(bytes)} Bytes`;
  const index = UNITS.findIndex((_, at) => bytes < base ** (at + 2));
  const at = index < 0 ? UNITS.length - 1 : index;
  const prefix = isBinary ? `${UNITS[at]?.toUpperCase()}i` : UNITS[at];
  return `${formatFloat((base * bytes) / base ** (at + 2), "f", 1)} ${prefix}B`;
}

import type { Meter } from "../meter.ts";
import { wrong } from "../template-error.ts";
import { toFloat } from "../values/arithmetic.ts";
import { toNumeric } from "../values/compare.ts";
import { floatText, integerText, toText } from "../values/print.ts";
import { sliceText, textLength } from "../values/text.ts";
import { isText, typeName, Undefined, type Value } from "../values/value.ts";
import { formatFloat } from "./decimal.ts";

const SPEC = /^(?:(.)?([<>=^]))?([-+ ])?(z)?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([a-zA-Z%])?$/su;
const RADIX: Readonly<Record<string, readonly [number, string]>> = {
  b: [2, "0b"],
  o: [8, "0o"],
  x: [16, "0x"],
  X: [16, "0X"],
};

interface Spec {
  readonly fill: string;
  readonly align: string | undefined;
  readonly sign: string;
  readonly alternate: boolean;
  readonly width: number;
  readonly grouping: string;
  readonly precision: number | undefined;
  readonly type: string | undefined;
}

/** What `format(value, spec)` gives: the part of `{:>8.2f}` behind the colon. */
export function formatValue(value: Value, written: string, meter: Meter): string {
  if (written === "") return toText(value, meter);
  const isNumber =
    toNumeric(value) !== undefined && !(typeof value === "boolean" && !/[bcdoxXneEfFgG%]$/.test(written));
  if (!isNumber && !isText(value)) {
    if (value instanceof Undefined) value.assertLenient();
    throw wrong(`unsupported format string passed to ${typeName(value)}.__format__`);
  }
  const spec = readSpec(written, value);
  meter.spendText(spec.width + (spec.precision ?? 0));
  return isText(value) ? formatText(toText(value, meter), spec) : formatNumber(value, spec);
}

function readSpec(written: string, value: Value): Spec {
  const found = SPEC.exec(written);
  if (found === null) throw wrong(`Invalid format specifier '${written}' for object of type '${typeName(value)}'`);
  const [, fill, align, sign = "-", , alternate, zero, width, grouping = "", precision, type] = found;
  return {
    fill: fill ?? (zero === undefined ? " " : "0"),
    align: align ?? (zero === undefined ? undefined : "="),
    sign,
    alternate: alternate !== undefined,
    width: Number(width ?? 0),
    grouping,
    precision: precision === undefined ? undefined : Number(precision),
    type,
  };
}

function formatText(text: string, spec: Spec): string {
  if (spec.type !== undefined && spec.type !== "s")
    throw wrong(`Unknown format code '${spec.type}' for object of type 'str'`);
  const cut = spec.precision === undefined ? text : sliceText(text, 0, spec.precision);
  return pad("", cut, { ...spec, align: spec.align === "=" ? "<" : (spec.align ?? "<") });
}

function formatNumber(value: Value, spec: Spec): string {
  const number = toNumeric(value) ?? 0n;
  const isNegative = number < 0 || Object.is(number, -0);
  const sign = isNegative ? "-" : spec.sign === "-" ? "" : spec.sign;
  const isWhole = typeof number === "bigint" && !/^[eEfFgG%]$/.test(spec.type ?? "d");
  const [prefix, digits] = isWhole ? integerDigits(number, spec) : ["", floatDigits(toFloat(number), spec)];
  if (spec.type === "c") return pad("", digits, { ...spec, align: spec.align ?? "<" });
  const grouped = group(digits, spec, spec.width - sign.length - prefix.length);
  return pad(sign + prefix, grouped, { ...spec, align: spec.align ?? ">" });
}

function integerDigits(number: bigint, { type = "d", alternate }: Spec): readonly [string, string] {
  const size = number < 0n ? -number : number;
  if (type === "d" || type === "n") return ["", integerText(size)];
  if (type === "c") return ["", String.fromCodePoint(Number(number))];
  const [radix, prefix] = RADIX[type] ?? [];
  if (radix === undefined || prefix === undefined)
    throw wrong(`Unknown format code '${type}' for object of type 'int'`);
  const digits = size.toString(radix);
  return [alternate ? prefix : "", type === "X" ? digits.toUpperCase() : digits];
}

function floatDigits(number: number, { type, precision, alternate }: Spec): string {
  const size = Math.abs(number);
  if (type === undefined && precision === undefined) return floatText(size);
  if (type === "%") return `${formatFloat(size * 100, "f", precision ?? 6, alternate)}%`;
  if (type !== undefined && !/^[eEfFgGn]$/.test(type))
    throw wrong(`Unknown format code '${type}' for object of type 'float'`);
  if (type === undefined) {
    const short = formatFloat(size, "g", precision ?? 12, alternate);
    return /^\d+$/.test(short) && short.length < (precision ?? 12) + 1 ? `${short}.0` : short;
  }
  const digits = formatFloat(size, type === "n" ? "g" : type.toLowerCase(), precision ?? 6, alternate);
  return /[EFG]/.test(type) ? digits.toUpperCase() : digits;
}

/** Separators every three digits. Zeros in front are grouped too. */
function group(digits: string, { grouping, fill, align, type }: Spec, width: number): string {
  if (grouping === "") return digits;
  const [whole = ""] = /^[\da-fA-F]+/.exec(digits) ?? [];
  const rest = digits.slice(whole.length);
  const every = /^[boxX]$/.test(type ?? "d") ? 4 : 3;
  let padded = whole;
  const withSeparators = () => padded.replace(new RegExp(`\\B(?=(?:[\\da-fA-F]{${every}})+$)`, "g"), grouping);
  const isZeroFilled = fill === "0" && align === "=";
  while (isZeroFilled && withSeparators().length + rest.length < width) padded = `0${padded}`;
  return withSeparators() + rest;
}

function pad(sign: string, body: string, { fill, align, width }: Spec): string {
  const missing = width - textLength(sign) - textLength(body);
  if (missing <= 0) return sign + body;
  if (align === "=") return sign + fill.repeat(missing) + body;
  if (align === "<") return sign + body + fill.repeat(missing);
  if (align === ">") return fill.repeat(missing) + sign + body;
  const left = Math.floor(missing / 2);
  return fill.repeat(left) + sign + body + fill.repeat(missing - left);
}

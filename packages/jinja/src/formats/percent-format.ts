import type { Meter } from "../meter.ts";
import { wrong } from "../template-error.ts";
import { toFloat } from "../values/arithmetic.ts";
import { toNumeric } from "../values/compare.ts";
import { escapeChar, integerText, toRepr, toText } from "../values/print.ts";
import { sliceText, textLength } from "../values/text.ts";
import { Dict, isText, Range, Tuple, typeName, Undefined, type Value } from "../values/value.ts";
import { formatFloat } from "./decimal.ts";

const SPECIFIER = /%(?:\(([^()]*)\))?([-+ #0]*)(\*|\d+)?(?:\.(\*|\d*))?[hlL]?(.)?/gsu;

/** `"%s is %05.1f" % values`. `print` is how texts are put in; HTML escapes them. */
export function formatPercent(template: string, values: Value, meter: Meter, print = toText): string {
  const given = new GivenValues(values);
  const text = template.replace(SPECIFIER, (_, name, flags, width, precision, type, at) => {
    if (type === undefined) throw wrong("incomplete format");
    if (type === "%") return "%";
    const spec = { name, flags, width: given.size(width), precision: given.size(precision), type, at };
    const result = formatOne(spec, given, meter, print);
    meter.spendText(result.length);
    return result;
  });
  given.assertAllUsed();
  return text;
}

interface Specifier {
  readonly name: string | undefined;
  readonly flags: string;
  readonly width: number | undefined;
  readonly precision: number | undefined;
  readonly type: string;
  readonly at: number;
}

class GivenValues {
  readonly #values: Value;
  readonly #list: readonly Value[];
  #used = 0;

  constructor(values: Value) {
    this.#values = values;
    this.#list = values instanceof Tuple ? values.items : [values];
  }

  next(name: string | undefined): Value {
    if (name === undefined) {
      const value = this.#list[this.#used];
      if (value === undefined) throw wrong("not enough arguments for format string");
      this.#used += 1;
      return value;
    }
    if (!(this.#values instanceof Dict)) throw wrong("format requires a mapping");
    const value = this.#values.getText(name);
    if (value === undefined) throw wrong(`there is no value for \`%(${name})\``);
    return value;
  }

  size(written: string | undefined): number | undefined {
    if (written === undefined) return undefined;
    if (written !== "*") return Number(written);
    const value = this.next(undefined);
    if (typeof value !== "bigint") throw wrong("* wants int");
    return Number(value);
  }

  assertAllUsed(): void {
    const values = this.#values;
    // Python lets pass what it could look names up in.
    const mayHaveNames =
      values instanceof Dict || values instanceof Range || values instanceof Undefined || Array.isArray(values);
    if (!mayHaveNames && this.#used < this.#list.length)
      throw wrong("not all arguments converted during string formatting");
  }
}

function formatOne(spec: Specifier, given: GivenValues, meter: Meter, print: typeof toText): string {
  meter.spendText(Math.abs(spec.width ?? 0) + (spec.precision ?? 0));
  const value = given.next(spec.name);
  const { type, precision } = spec;
  if (/[sra]/.test(type)) {
    const text = type === "s" ? print(value, meter) : toRepr(value, meter);
    const ascii = type === "a" ? text.replace(/[^\0-\x7f]/gu, escapeChar) : text;
    return padTo(precision === undefined ? ascii : sliceText(ascii, 0, precision), spec);
  }
  if (type === "c") return padTo(toChar(value), spec);
  if (!/[diuoxXeEfFgG]/.test(type))
    throw wrong(
      `unsupported format character '${type}' (0x${type.charCodeAt(0).toString(16)}) at index ${spec.at + 1}`,
    );
  const number = toNumeric(value);
  if (value instanceof Undefined) throw value.fault();
  if (number === undefined) throw wrong(`%${type} format: a real number is required, not ${typeName(value)}`);
  const isNegative = number < 0 || Object.is(number, -0);
  const sign = isNegative ? "-" : spec.flags.includes("+") ? "+" : spec.flags.includes(" ") ? " " : "";
  return /[eEfFgG]/.test(type)
    ? padTo(sign + toFloatDigits(toFloat(number), spec), spec, sign.length)
    : padInteger(sign, number, spec);
}

function toChar(value: Value): string {
  if (isText(value)) {
    const text = typeof value === "string" ? value : value.text;
    if (textLength(text) !== 1) throw wrong("%c requires int or char");
    return text;
  }
  if (typeof value !== "bigint" || value < 0n || value > 0x10ffffn) throw wrong("%c requires int or char");
  return String.fromCodePoint(Number(value));
}

function toFloatDigits(number: number, { type, precision, flags }: Specifier): string {
  const digits = formatFloat(Math.abs(number), type.toLowerCase(), precision ?? 6, flags.includes("#"));
  return type === type.toUpperCase() ? digits.toUpperCase() : digits;
}

function padInteger(sign: string, number: bigint | number, spec: Specifier): string {
  const { type, flags, precision = 0 } = spec;
  if (typeof number === "number" && /[oxX]/.test(type))
    throw wrong(`%${type} format: an integer is required, not float`);
  if (!Number.isFinite(Number(number)) && typeof number === "number")
    throw wrong("cannot convert float infinity or NaN to integer");
  const whole = typeof number === "bigint" ? number : BigInt(Math.trunc(number));
  const size = whole < 0n ? -whole : whole;
  const radix = type === "o" ? 8 : /[xX]/.test(type) ? 16 : 10;
  const digits = (radix === 10 ? integerText(size) : size.toString(radix)).padStart(precision, "0");
  const prefix = flags.includes("#") && radix !== 10 ? `0${type}` : "";
  const signed = `${whole === 0n && sign === "-" ? "" : sign}${prefix}`;
  return padTo(signed + (type === "X" ? digits.toUpperCase() : digits), spec, signed.length);
}

/** `head`: how many characters stand before the zeros that fill a number. */
function padTo(text: string, { width = 0, flags }: Specifier, head?: number): string {
  const missing = Math.abs(width) - textLength(text);
  if (missing <= 0) return text;
  if (flags.includes("-") || width < 0) return text + " ".repeat(missing);
  if (head !== undefined && flags.includes("0")) return text.slice(0, head) + "0".repeat(missing) + text.slice(head);
  return " ".repeat(missing) + text;
}

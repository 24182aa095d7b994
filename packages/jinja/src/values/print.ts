import type { Meter } from "../meter.ts";
import { TemplateError, wrong } from "../template-error.ts";
import { compare, compareTexts } from "./compare.ts";
import { iterate } from "./iterate.ts";
import { Dict, DictView, Markup, Range, Stream, Tuple, typeName, Undefined, type Value } from "./value.ts";

/** Python refuses to write longer ones. */
const MOST_DIGITS = 4_300;
const UNPRINTABLE = /['\\]|(?! )[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Zs}]/gu;
const ESCAPED: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\" };

/** What `str()` makes of a value. */
export function toText(value: Value, meter: Meter): string {
  if (typeof value === "string") return value;
  if (value instanceof Markup) return value.text;
  if (value instanceof Undefined) {
    value.assertLenient();
    return "";
  }
  return toRepr(value, meter);
}

/** What `repr()` makes of it: lists and maps show their values so. */
export function toRepr(value: Value, meter: Meter): string {
  return new Printer(meter).print(value);
}

/** The same, with the keys of maps in order. */
export function toSortedRepr(value: Value, meter: Meter): string {
  return new Printer(meter, sortedEntries).print(value);
}

/** By their keys; keys of different types by the names of the types. */
export function sortedEntries(dict: Dict, meter: Meter): (readonly [Value, Value])[] {
  meter.spend(dict.size);
  return [...dict.entries.values()].sort(([left], [right]) => {
    try {
      return compare(left, right, "<", meter) ? -1 : compare(right, left, "<", meter) ? 1 : 0;
    } catch (error) {
      if (error instanceof TemplateError && error.kind === "operation")
        return compareTexts(typeName(left), typeName(right));
      throw error;
    }
  });
}

export function integerText(value: bigint): string {
  const text = value.toString();
  if (text.length - (value < 0n ? 1 : 0) > MOST_DIGITS) throw wrong(`the number has more than ${MOST_DIGITS} digits`);
  return text;
}

/** The shortest text that is read as the same number, with an exponent where Python has one. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  const [mantissa = "", written = "0"] = Math.abs(value).toExponential().split("e");
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const exponent = Number(written);
  const digits = mantissa.replace(".", "");
  if (exponent < -4 || exponent >= 16)
    return `${sign}${mantissa}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${sign}${whole}.${digits.slice(exponent + 1) || "0"}`;
}

export function textRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(UNPRINTABLE, (char) => {
    if (char === "'") return char === quote ? "\\'" : char;
    return ESCAPED[char] ?? escapeChar(char);
  });
  return quote + escaped + quote;
}

export function escapeChar(char: string): string {
  const hex = (char.codePointAt(0) ?? 0).toString(16);
  if (hex.length <= 2) return `\\x${hex.padStart(2, "0")}`;
  return hex.length <= 4 ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

class Printer {
  readonly #meter: Meter;
  readonly #entriesOf: typeof sortedEntries;
  /** Lists and maps around the place, which may hold themselves. */
  readonly #around: Value[] = [];

  constructor(meter: Meter, entriesOf?: typeof sortedEntries) {
    this.#meter = meter;
    this.#entriesOf = entriesOf ?? ((dict) => [...dict.entries.values()]);
  }

  print(value: Value): string {
    const text = this.#print(value);
    this.#meter.spendText(text.length * 2);
    return text;
  }

  #print(value: Value): string {
    if (value === null) return "None";
    if (typeof value === "boolean") return value ? "True" : "False";
    if (typeof value === "bigint") return integerText(value);
    if (typeof value === "number") return floatText(value);
    if (typeof value === "string") return textRepr(value);
    if (Array.isArray(value)) return this.#within(value, "[...]", () => `[${this.#items(value)}]`);
    if (value instanceof Tuple) {
      const comma = value.items.length === 1 ? "," : "";
      return this.#within(value, "(...)", () => `(${this.#items(value)}${comma})`);
    }
    if (value instanceof Dict) return this.#within(value, "{...}", () => this.#dict(value));
    if (value instanceof DictView) return this.#within(value, "...", () => `${value.type}([${this.#items(value)}])`);
    if (value instanceof Markup) return `Markup(${textRepr(value.text)})`;
    if (value instanceof Range) {
      const step = value.step === 1n ? "" : `, ${value.step}`;
      return `range(${value.start}, ${value.stop}${step})`;
    }
    if (value instanceof Stream) return "<generator object>";
    if (value instanceof Undefined) return "Undefined";
    return value.print?.((inner) => this.print(inner)) ?? value.text;
  }

  #items(value: Value): string {
    return Array.from(iterate(value, this.#meter), (item) => this.print(item)).join(", ");
  }

  #dict(dict: Dict): string {
    this.#meter.spend(dict.size);
    return `{${Array.from(this.#entriesOf(dict, this.#meter), ([key, item]) => `${this.print(key)}: ${this.print(item)}`).join(", ")}}`;
  }

  #within(value: Value, again: string, print: () => string): string {
    if (this.#around.includes(value)) return again;
    this.#around.push(value);
    this.#meter.spend(this.#around.length / 32);
    const text = print();
    this.#around.pop();
    return text;
  }
}

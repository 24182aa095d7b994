import type { Meter } from "../meter.ts";
import { wrong } from "../template-error.ts";
import { compareTexts } from "../values/compare.ts";
import { floatText, integerText } from "../values/print.ts";
import { Dict, Markup, Tuple, typeName, Undefined, type Value } from "../values/value.ts";

/** As Python's `json.dumps(value, sort_keys=True)` writes it, in ASCII. `indent`: spaces, or the text itself. */
export function toJsonText(value: Value, indent: number | string | undefined, meter: Meter): string {
  if (typeof indent === "number") meter.spendText(indent);
  const step = typeof indent === "number" ? " ".repeat(Math.max(0, indent)) : indent;
  return new JsonWriter(step, meter).write(value, "\n");
}

class JsonWriter {
  readonly #step: string | undefined;
  readonly #meter: Meter;
  readonly #around: Value[] = [];

  constructor(step: string | undefined, meter: Meter) {
    this.#step = step;
    this.#meter = meter;
  }

  /** `line` is the line end with the indention of what is around. */
  write(value: Value, line: string): string {
    this.#meter.spend();
    if (value === null) return "null";
    if (typeof value === "boolean") return String(value);
    if (typeof value === "bigint") return integerText(value);
    if (typeof value === "number") return Number.isFinite(value) ? floatText(value) : specialFloat(value);
    if (typeof value === "string") return this.#text(value);
    if (value instanceof Markup) return this.#text(value.text);
    if (value instanceof Undefined) throw value.fault("operation");
    const items = Array.isArray(value) ? value : value instanceof Tuple ? value.items : undefined;
    if (items !== undefined)
      return this.#within(value, line, "[]", (inner) => items.map((item) => this.write(item, inner)));
    if (value instanceof Dict) return this.#within(value, line, "{}", (inner) => this.#members(value, inner));
    throw wrong(`a value of the type ${typeName(value)} cannot be written as JSON`);
  }

  #members(dict: Dict, line: string): string[] {
    this.#meter.spend(dict.size * 2);
    const entries = [...dict.entries.values()].map(([key, item]) => [this.#key(key), item] as const);
    entries.sort(([left], [right]) => left.order(right));
    const colon = ": ";
    return entries.map(([key, item]) => `${this.#text(key.text)}${colon}${this.write(item, line)}`);
  }

  /** Keys become texts; they are sorted before that, and cannot be of two kinds. */
  #key(key: Value): SortableKey {
    if (typeof key === "string") return new SortableKey(key, key);
    if (typeof key === "bigint" || typeof key === "number" || typeof key === "boolean") {
      const text = typeof key === "bigint" ? integerText(key) : typeof key === "number" ? floatText(key) : String(key);
      return new SortableKey(text, Number(key));
    }
    if (key === null) return new SortableKey("null", null);
    throw wrong(`keys must be str, int, float, bool or None, not ${typeName(key)}`);
  }

  #within(
    value: Value,
    line: string,
    [open, close]: string | readonly string[],
    write: (line: string) => string[],
  ): string {
    if (this.#around.includes(value)) throw wrong("a value that holds itself cannot be written as JSON");
    this.#around.push(value);
    this.#meter.spend(this.#around.length / 32);
    const inner = line + (this.#step ?? "");
    const parts = write(inner);
    this.#around.pop();
    if (parts.length === 0) return `${open}${close}`;
    const text =
      this.#step === undefined
        ? `${open}${parts.join(", ")}${close}`
        : `${open}${inner}${parts.join(`,${inner}`)}${line}${close}`;
    this.#meter.spendJoin(text.length);
    return text;
  }

  #text(text: string): string {
    const written = JSON.stringify(text).replace(/[\x7f-\uffff]/g, escapeUnit);
    this.#meter.spendText(written.length);
    return written;
  }
}

class SortableKey {
  readonly text: string;
  readonly #value: string | number | null;

  constructor(text: string, value: string | number | null) {
    this.text = text;
    this.#value = value;
  }

  order(other: SortableKey): number {
    const [a, b] = [this.#value, other.#value];
    if (typeof a === "string" && typeof b === "string") return compareTexts(a, b);
    if (typeof a === "number" && typeof b === "number") return a - b;
    throw wrong("keys of different types cannot be sorted");
  }
}

function specialFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  return value > 0 ? "Infinity" : "-Infinity";
}

function escapeUnit(unit: string): string {
  return unit === "\x7f" ? unit : `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

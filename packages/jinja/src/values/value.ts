import type { Meter } from "../meter.ts";
import { type MissingValue, TemplateError } from "../template-error.ts";

/**
 * A value of a template, as Python would have it: whole numbers are `bigint`s, `number`s are floats, arrays are lists.
 * Objects are instances of the classes below, so that nothing of JavaScript's own can be reached by a name.
 */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Value[]
  | Tuple
  | Dict
  | DictView
  | Markup
  | Range
  | Stream
  | Undefined
  | Thing;

export class Tuple {
  readonly items: readonly Value[];
  /** Names of the items, where they have some. */
  readonly names: readonly string[] | undefined;

  constructor(items: readonly Value[], names?: readonly string[]) {
    this.items = items;
    this.names = names;
  }
}

/** Text that is HTML already. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export class Range {
  readonly start: bigint;
  readonly stop: bigint;
  readonly step: bigint;
  readonly length: bigint;

  constructor(start: bigint, stop: bigint, step: bigint) {
    this.start = start;
    this.stop = stop;
    this.step = step;
    const span = step > 0n ? stop - start : start - stop;
    const width = step > 0n ? step : -step;
    this.length = span > 0n ? (span + width - 1n) / width : 0n;
  }
}

/** Values that can be gone through once. */
export class Stream {
  readonly values: Iterator<Value>;

  constructor(values: Iterable<Value>) {
    this.values = values[Symbol.iterator]();
  }
}

/** What two keys that Python takes for one have in common. */
export type Key = string | bigint | number | null;

/** A map, in the order in which its keys came. `toKey` is in `keys.ts`. */
export class Dict {
  readonly type = "dict";
  readonly entries = new Map<Key, readonly [Value, Value]>();

  static ofTexts(entries: Iterable<readonly [string, Value]>): Dict {
    const dict = new Dict();
    for (const [key, value] of entries) dict.setText(key, value);
    return dict;
  }

  get size(): number {
    return this.entries.size;
  }

  setText(key: string, value: Value): void {
    this.entries.set(key, [this.entries.get(key)?.[0] ?? key, value]);
  }

  getText(key: string): Value | undefined {
    return this.entries.get(key)?.[1];
  }

  /** The keys that are texts. */
  names(): string[] {
    return Array.from(this.entries.values(), ([key]) => key).filter((key) => typeof key === "string");
  }
}

/** What `keys()`, `values()` and `items()` of a map give: it shows what the map holds now. */
export class DictView {
  readonly dict: Dict;
  readonly part: "keys" | "values" | "items";

  constructor(dict: Dict, part: "keys" | "values" | "items") {
    this.dict = dict;
    this.part = part;
  }

  get type(): string {
    return `dict_${this.part}`;
  }
}

interface Explanation {
  readonly message: string;
  readonly at?: number;
  readonly missing?: MissingValue;
}

/** A value that is not there. It is empty text, false and an empty list; in a strict rendering it is nothing at all. */
export class Undefined {
  readonly isStrict: boolean;
  readonly #explain: () => Explanation;

  constructor(isStrict: boolean, explain: () => Explanation) {
    this.isStrict = isStrict;
    this.#explain = explain;
  }

  /** What is wrong with its use. */
  fault(kind: "undefined" | "operation" = "undefined"): TemplateError {
    const { message, at, missing } = this.#explain();
    return new TemplateError(kind, message, { at, missing });
  }

  assertLenient(): void {
    if (this.isStrict) throw this.fault();
  }
}

export interface Arguments {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
}

/** How a rendering goes; filters and functions are handed it. */
export interface Rendering {
  readonly meter: Meter;
  readonly isStrict: boolean;
  readonly random: () => number;
  autoescape: boolean;
  filter(name: string, value: Value, args: Arguments): Value;
  test(name: string, value: Value, args: Arguments): boolean;
  hasFilter(name: string): boolean;
  hasTest(name: string): boolean;
  /** `value.key`, or `value[key]`. What is not there is undefined. */
  lookUp(value: Value, key: Value, prefers: "attribute" | "item"): Value;
  /** A value that is missing, for a reason. */
  missing(message: string): Undefined;
}

/** Everything else: functions, macros, loops. */
export abstract class Thing {
  /** The name of the type in messages. */
  abstract readonly type: string;
  /** How it is printed, unless it prints what it holds. */
  abstract readonly text: string;
  readonly print?: (inner: (value: Value) => string) => string;

  attribute(_name: string): Value | undefined {
    return undefined;
  }

  readonly call?: (args: Arguments, rendering: Rendering) => Value;
}

export function typeName(value: Value): string {
  if (value === null) return "NoneType";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint") return "int";
  if (typeof value === "number") return "float";
  if (typeof value === "string") return "str";
  if (Array.isArray(value)) return "list";
  if (value instanceof Tuple) return "tuple";
  if (value instanceof Markup) return "Markup";
  if (value instanceof Range) return "range";
  if (value instanceof Stream) return "generator";
  if (value instanceof Undefined) return "Undefined";
  return value.type;
}

export function isText(value: Value): value is string | Markup {
  return typeof value === "string" || value instanceof Markup;
}

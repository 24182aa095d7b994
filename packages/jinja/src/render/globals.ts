import { Builtin } from "../functions/builtin.ts";
import { Given } from "../functions/given.ts";
import { mergeInto } from "../methods/container-methods.ts";
import { wrong } from "../template-error.ts";
import { toNumeric } from "../values/compare.ts";
import { isTrue } from "../values/truth.ts";
import {
  type Arguments,
  Dict,
  Markup,
  Range,
  type Rendering,
  Thing,
  typeName,
  Undefined,
  type Value,
} from "../values/value.ts";

type Call = (args: Arguments, rendering: Rendering) => Value;

export const globals: ReadonlyMap<string, Value> = new Map(
  Object.entries<Call>({
    range: toRange,
    dict: (args, rendering) => toDict(args, rendering),
    namespace: (args, rendering) => new Namespace(toDict(args, rendering)),
    cycler: ({ positional }) => new Cycler(positional),
    joiner: ({ positional: [separator = ", "] }) => new Joiner(separator),
    lipsum: loremIpsum,
  }).map(([name, call]) => [name, new Builtin(name, call)]),
);

function toRange({ positional }: Arguments): Range {
  const bounds = positional.map((bound) => {
    if (bound instanceof Undefined) throw bound.fault();
    const number = toNumeric(bound);
    if (typeof number === "bigint") return number;
    throw wrong(`'${typeName(bound)}' object cannot be interpreted as an integer`);
  });
  const [first, second, step = 1n] = bounds;
  if (first === undefined || bounds.length > 3) throw wrong(`range expected 1 to 3 arguments, got ${bounds.length}`);
  if (step === 0n) throw wrong("range() arg 3 must not be zero");
  return second === undefined ? new Range(0n, first, 1n) : new Range(first, second, step);
}

function toDict({ positional, named }: Arguments, { meter }: Rendering): Dict {
  const dict = new Dict();
  for (const source of positional) mergeInto(dict, source, meter);
  for (const [name, value] of named) dict.setText(name, value);
  return dict;
}

/** What `set ns.name` can change from within a loop. */
export class Namespace extends Thing {
  readonly type = "Namespace";
  readonly text = "<Namespace>";
  override readonly print = (inner: (value: Value) => string) => `<Namespace ${inner(this.values)}>`;
  readonly values: Dict;

  constructor(values: Dict) {
    super();
    this.values = values;
  }

  override attribute(name: string): Value | undefined {
    return this.values.getText(name);
  }
}

class Cycler extends Thing {
  readonly type = "Cycler";
  readonly text = "<Cycler object>";
  readonly #items: readonly Value[];
  #at = 0;

  constructor(items: readonly Value[]) {
    super();
    if (items.length === 0) throw wrong("at least one item has to be provided");
    this.#items = items;
  }

  override attribute(name: string): Value | undefined {
    const current = this.#items[this.#at] ?? null;
    if (name === "current") return current;
    if (name === "reset") return new Builtin(name, () => this.#moveTo(0, null));
    if (name === "next") return new Builtin(name, () => this.#moveTo((this.#at + 1) % this.#items.length, current));
    return undefined;
  }

  #moveTo(at: number, result: Value): Value {
    this.#at = at;
    return result;
  }
}

class Joiner extends Thing {
  readonly type = "Joiner";
  readonly text = "<Joiner object>";
  #isUsed = false;
  override readonly call: () => Value;

  constructor(separator: Value) {
    super();
    this.call = () => {
      const result = this.#isUsed ? separator : "";
      this.#isUsed = true;
      return result;
    };
  }
}

const WORDS = (
  "a ac accumsan ad aenean aliquam ante arcu at auctor augue bibendum blandit commodo condimentum congue consequat " +
  "cras cubilia cum curabitur dapibus diam dictum dis dolor donec dui egestas elit enim erat eros est et etiam eu felis"
).split(" ");

function loremIpsum(args: Arguments, { meter, random }: Rendering): Value {
  const given = new Given("lipsum()", { n: 5n, html: true, min: 20n, max: 100n }, args);
  const [count, min, max] = [given.size("n"), given.size("min"), given.size("max")];
  const pick = (size: number) => Math.floor(random() * size);
  meter.spend(count * Math.max(min, max));
  const paragraphs = Array.from({ length: Math.max(0, count) }, () => {
    const words = Array.from({ length: min + pick(max - min) }, () => WORDS[pick(WORDS.length)] ?? "");
    const text = words.join(" ");
    return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
  });
  if (!isTrue(given.value("html"))) return paragraphs.join("\n\n");
  return new Markup(paragraphs.map((text) => `<p>${text}</p>`).join("\n"));
}

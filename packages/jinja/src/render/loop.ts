import { Builtin } from "../functions/builtin.ts";
import { wrong } from "../template-error.ts";
import { equals } from "../values/compare.ts";
import { type Arguments, type Rendering, Thing, type Value } from "../values/value.ts";

export class Loop extends Thing {
  readonly type = "LoopContext";
  readonly #items: readonly Value[];
  readonly #depth: number;
  readonly #again: ((items: Value, depth: number) => Value) | undefined;
  #index = 0;
  #last: readonly Value[] | undefined;
  override readonly call = ({ positional: [items] }: Arguments): Value => {
    if (this.#again === undefined) throw wrong("the loop must be marked as `recursive` to be called");
    if (items === undefined) throw wrong("the loop is called with the values to go through");
    return this.#again(items, this.#depth + 1);
  };

  /** `again` makes the loop with other values, where it is recursive. */
  constructor(items: readonly Value[], depth: number, again?: (items: Value, depth: number) => Value) {
    super();
    this.#items = items;
    this.#depth = depth;
    this.#again = again;
  }

  moveTo(index: number): void {
    this.#index = index;
  }

  get text(): string {
    return `<LoopContext ${this.#index + 1}/${this.#items.length}>`;
  }

  override attribute(name: string): Value | undefined {
    const [index, length] = [this.#index, this.#items.length];
    switch (name) {
      case "index":
        return BigInt(index + 1);
      case "index0":
        return BigInt(index);
      case "revindex":
        return BigInt(length - index);
      case "revindex0":
        return BigInt(length - index - 1);
      case "first":
        return index === 0;
      case "last":
        return index === length - 1;
      case "length":
        return BigInt(length);
      case "depth":
        return BigInt(this.#depth);
      case "depth0":
        return BigInt(this.#depth - 1);
      case "previtem":
        return this.#items[index - 1];
      case "nextitem":
        return this.#items[index + 1];
      case "cycle":
        return new Builtin("cycle", ({ positional }) => {
          if (positional.length === 0) throw wrong("no items for cycling given");
          return positional[index % positional.length] ?? null;
        });
      case "changed":
        return new Builtin("changed", ({ positional }, rendering) => this.#hasChanged(positional, rendering));
      default:
        return undefined;
    }
  }

  #hasChanged(values: readonly Value[], { meter }: Rendering): boolean {
    const last = this.#last;
    this.#last = values;
    return last?.length !== values.length || values.some((value, at) => !equals(value, last[at] ?? null, meter));
  }
}

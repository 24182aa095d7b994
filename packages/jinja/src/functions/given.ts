import { wrong } from "../template-error.ts";
import { plain, toNumeric } from "../values/compare.ts";
import { isTrue } from "../values/truth.ts";
import { type Arguments, isText, typeName, Undefined, type Value } from "../values/value.ts";

/** Stands for the default of a parameter that has none. */
export const REQUIRED = Symbol("required");

/** Names of parameters, in their order, with their defaults. */
export type Parameters = Readonly<Record<string, Value | typeof REQUIRED>>;

/** The values of a call, by the names of the parameters. */
export class Given {
  readonly #name: string;
  readonly #values = new Map<string, Value>();

  constructor(name: string, parameters: Parameters, { positional, named }: Arguments) {
    this.#name = name;
    const names = Object.keys(parameters);
    if (positional.length > names.length)
      throw wrong(
        `${name} takes at most ${names.length} argument${names.length === 1 ? "" : "s"} (${positional.length} given)`,
      );
    for (const key of named.keys())
      if (!Object.hasOwn(parameters, key)) throw wrong(`${name} got an unexpected keyword argument '${key}'`);
    for (const [index, key] of names.entries()) {
      const fallback = parameters[key];
      const value = positional[index] ?? named.get(key);
      if (index < positional.length && named.has(key)) throw wrong(`${name} got multiple values for argument '${key}'`);
      const isGiven = index < positional.length || named.has(key);
      if (!isGiven && typeof fallback === "symbol") throw wrong(`${name} is missing its argument '${key}'`);
      this.#values.set(key, isGiven ? (value ?? null) : typeof fallback === "symbol" ? null : (fallback ?? null));
    }
  }

  value(name: string): Value {
    return this.#values.get(name) ?? null;
  }

  isTrue(name: string): boolean {
    return isTrue(this.value(name));
  }

  text(name: string): string {
    const value = this.value(name);
    if (value instanceof Undefined) throw value.fault();
    if (!isText(value)) throw wrong(`${this.#name}: '${name}' must be a text, not ${typeName(value)}`);
    return plain(value);
  }

  optionalText(name: string): string | undefined {
    return this.value(name) === null ? undefined : this.text(name);
  }

  integer(name: string): bigint {
    const value = this.value(name);
    if (value instanceof Undefined) throw value.fault();
    const number = toNumeric(value);
    if (typeof number === "bigint") return number;
    throw wrong(`${this.#name}: '${typeName(value)}' object cannot be interpreted as an integer`);
  }

  /** A size or position: what is too large for a number is the largest one. */
  size(name: string): number {
    return Number(clamp(this.integer(name)));
  }

  optionalSize(name: string): number | undefined {
    return this.value(name) === null ? undefined : this.size(name);
  }
}

function clamp(value: bigint): bigint {
  const most = BigInt(Number.MAX_SAFE_INTEGER);
  return value > most ? most : value < -most ? -most : value;
}

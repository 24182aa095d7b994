import { fromJson, type Input } from "../values/from-json.ts";
import type { Value } from "../values/value.ts";

/** The names that can be seen at a place of a template. Loops, macros and blocks have scopes of their own. */
export class Scope {
  readonly depth: number;
  readonly #parent: Scope | InputNames;
  readonly #values = new Map<string, Value>();

  constructor(parent: Scope | InputNames) {
    this.#parent = parent;
    this.depth = parent instanceof Scope ? parent.depth + 1 : 0;
  }

  get(name: string): Value | undefined {
    const value = this.#values.get(name);
    return value === undefined ? this.#parent.get(name) : value;
  }

  set(name: string, value: Value): void {
    this.#values.set(name, value);
  }
}

/** What the template is given, and the functions that every template has. Values are copied when they are first asked for. */
export class InputNames {
  readonly #input: { readonly [name: string]: Input };
  readonly #globals: ReadonlyMap<string, Value>;
  readonly #values = new Map<string, Value>();

  constructor(input: { readonly [name: string]: Input }, globals: ReadonlyMap<string, Value>) {
    this.#input = input;
    this.#globals = globals;
  }

  get names(): readonly string[] {
    return Object.keys(this.#input);
  }

  get(name: string): Value | undefined {
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    const given = Object.hasOwn(this.#input, name) ? this.#input[name] : undefined;
    if (given === undefined) return this.#globals.get(name);
    const value = fromJson(given);
    this.#values.set(name, value);
    return value;
  }
}

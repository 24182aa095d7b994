import type { MacroDefinition } from "../syntax/nodes.ts";
import { wrong } from "../template-error.ts";
import { type Arguments, Dict, Thing, Tuple, type Value } from "../values/value.ts";

/** The values of a macro's names. Those of parameters that are not given are left out. */
export type BoundNames = ReadonlyMap<string, Value>;

/** A macro, or the block of a `call`, which the macro knows as `caller`. */
export class Macro extends Thing {
  readonly type = "Macro";
  readonly #definition: MacroDefinition;
  override readonly call: (args: Arguments) => Value;

  constructor(definition: MacroDefinition, render: (names: BoundNames) => Value) {
    super();
    this.#definition = definition;
    this.call = (args) => render(this.#bind(args));
  }

  get text(): string {
    return `<Macro '${this.#definition.name}'>`;
  }

  override attribute(name: string): Value | undefined {
    const { name: own, parameters } = this.#definition;
    switch (name) {
      case "name":
        return own;
      case "arguments":
        return new Tuple(parameters.map((parameter) => parameter.name));
      case "catch_kwargs":
        return this.#takes("kwargs");
      case "catch_varargs":
        return this.#takes("varargs");
      case "caller":
        return this.#takes("caller");
      default:
        return undefined;
    }
  }

  /** A macro takes more than it declares if its body reads it. */
  #takes(name: "kwargs" | "varargs" | "caller"): boolean {
    return this.#definition.uses.has(name);
  }

  #bind({ positional, named }: Arguments): BoundNames {
    const { name, parameters } = this.#definition;
    const names = new Map<string, Value>();
    const rest = new Map(named);
    for (const [index, parameter] of parameters.entries()) {
      const value = index < positional.length ? positional[index] : rest.get(parameter.name);
      if (index >= positional.length) rest.delete(parameter.name);
      if (value !== undefined) names.set(parameter.name, value);
    }
    if (this.#takes("caller")) {
      const caller = rest.get("caller");
      if (caller !== undefined) names.set("caller", caller);
      rest.delete("caller");
    }
    if (this.#takes("kwargs")) names.set("kwargs", Dict.ofTexts(rest));
    const [unknown] = this.#takes("kwargs") ? [] : rest.keys();
    if (unknown === "caller") throw wrong(`the macro '${name}' does not use its \`caller\``);
    if (unknown !== undefined) throw wrong(`macro '${name}' takes no keyword argument '${unknown}'`);
    if (this.#takes("varargs")) names.set("varargs", new Tuple(positional.slice(parameters.length)));
    else if (positional.length > parameters.length)
      throw wrong(`macro '${name}' takes not more than ${parameters.length} argument(s)`);
    return names;
  }
}

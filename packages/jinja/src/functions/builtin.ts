import { type Arguments, type Rendering, Thing, type Value } from "../values/value.ts";
import { Given, type Parameters } from "./given.ts";

/** What a method, filter or test does with a value. */
export type Apply<Result = Value> = (value: Value, args: Arguments, rendering: Rendering) => Result;

/** Names the parameters, so that values can be given by position or by name. */
function withParameters<Result>(
  name: string,
  parameters: Parameters,
  apply: (value: Value, given: Given, rendering: Rendering) => Result,
): Apply<Result> {
  return (value, args, rendering) => apply(value, new Given(name, parameters, args), rendering);
}

/** A function that comes with the language, or a method of a value. */
export class Builtin extends Thing {
  readonly type = "builtin_function_or_method";
  readonly text: string;
  override readonly call: (args: Arguments, rendering: Rendering) => Value;
  /** The item of a map that a method of the same name hides. */
  readonly hidden: Value | undefined;

  constructor(name: string, call: (args: Arguments, rendering: Rendering) => Value, hidden?: Value) {
    super();
    this.text = `<built-in function ${name}>`;
    this.call = call;
    this.hidden = hidden;
  }
}

/**
 * `order.items` is a method, as in Python, also where the map has such an item. Using a method as a value can only be a
 * mistake; there the item is taken.
 */
export function unhide(value: Value): Value {
  return value instanceof Builtin ? (value.hidden ?? value) : value;
}

/** A map of functions by name, made from their parameters and what they do. */
export class FunctionTable<Result = Value> {
  readonly functions = new Map<string, Apply<Result>>();

  add(name: string, parameters: Parameters, apply: (value: Value, given: Given, rendering: Rendering) => Result): this {
    this.functions.set(name, withParameters(`${name}()`, parameters, apply));
    return this;
  }

  /** One that takes any arguments. */
  addOpen(name: string, apply: Apply<Result>): this {
    this.functions.set(name, apply);
    return this;
  }
}

import { filters } from "../filters/filters.ts";
import { toHtml } from "../filters/html-filters.ts";
import { unhide } from "../functions/builtin.ts";
import type { Meter } from "../meter.ts";
import { attributeOf, itemOf, sliceOf } from "../methods/look-up.ts";
import type { Application, CallArguments, Expression } from "../syntax/nodes.ts";
import { type MissingValue, TemplateError, wrong } from "../template-error.ts";
import { tests } from "../tests.ts";
import { compare, contains, equals, plain, toNumeric } from "../values/compare.ts";
import { toList } from "../values/iterate.ts";
import { setItem } from "../values/keys.ts";
import { operate } from "../values/operate.ts";
import { toText } from "../values/print.ts";
import { isTrue } from "../values/truth.ts";
import {
  type Arguments,
  Dict,
  isText,
  Markup,
  type Rendering,
  Thing,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from "../values/value.ts";
import type { Scope } from "./scope.ts";

interface Options {
  readonly meter: Meter;
  readonly isStrict: boolean;
  readonly random: () => number;
  /** The names of the input, which a misspelt one is compared with. */
  readonly names: readonly string[];
}

/** Evaluates expressions. Nothing but the tables of methods, filters and tests can be called. */
export class Expressions implements Rendering {
  readonly meter: Meter;
  readonly isStrict: boolean;
  readonly random: () => number;
  autoescape = false;
  /** The place of what is being done, for errors that have none of their own. */
  at = 0;
  readonly #names: readonly string[];

  constructor({ meter, isStrict, random, names }: Options) {
    this.meter = meter;
    this.isStrict = isStrict;
    this.random = random;
    this.#names = names;
  }

  evaluate(node: Expression, scope: Scope): Value {
    this.meter.spend();
    switch (node.kind) {
      case "constant":
        return node.value;
      case "name":
        return this.#name(node.name, scope, node.at);
      case "attribute":
      case "item":
        return this.#member(node, scope);
      case "list":
        return node.items.map((item) => this.evaluate(item, scope));
      case "tuple":
        return new Tuple(node.items.map((item) => this.evaluate(item, scope)));
      case "dict":
        return this.#dict(node.entries, scope);
      case "concat":
        return this.#concat(node.items, scope);
      case "not":
        return !isTrue(this.evaluate(node.operand, scope));
      case "negative":
      case "positive":
        return this.#signed(node, scope);
      case "and": {
        const left = this.evaluate(node.left, scope);
        return isTrue(left) ? this.evaluate(node.right, scope) : left;
      }
      case "or": {
        const left = this.evaluate(node.left, scope);
        return isTrue(left) ? left : this.evaluate(node.right, scope);
      }
      case "arithmetic": {
        const left = this.evaluate(node.left, scope);
        const right = this.evaluate(node.right, scope);
        this.at = node.at;
        return operate(node.operator, left, right, this);
      }
      case "comparison":
        return this.#comparison(node, scope);
      case "condition":
        return this.#condition(node, scope);
      case "filter":
        return this.applyFilter(node, node.value === undefined ? null : this.evaluate(node.value, scope), scope);
      case "test": {
        const value = node.value === undefined ? null : this.evaluate(node.value, scope);
        const args = this.arguments(node.args, scope);
        this.at = node.at;
        return this.test(node.name, value, args);
      }
      case "call":
        return this.call(this.evaluate(node.callee, scope), this.arguments(node.args, scope), node.at);
      case "slice":
        throw new TemplateError("operation", "a slice stands only in brackets", { at: node.at });
    }
  }

  applyFilter(node: Application & { readonly at: number }, value: Value, scope: Scope): Value {
    const args = this.arguments(node.args, scope);
    this.at = node.at;
    return this.filter(node.name, value, args);
  }

  filter(name: string, value: Value, args: Arguments): Value {
    const apply = filters.get(name);
    if (apply === undefined) throw wrong(`filter ${name} is unknown`);
    this.#payFor(value);
    const result = apply(unhide(value), args, this);
    this.#payFor(result);
    return result;
  }

  test(name: string, value: Value, args: Arguments): boolean {
    const apply = tests.get(name);
    if (apply === undefined) throw wrong(`test ${name} is unknown`);
    this.#payFor(value);
    return apply(value, args, this);
  }

  hasFilter(name: string): boolean {
    return filters.has(name);
  }

  hasTest(name: string): boolean {
    return tests.has(name);
  }

  call(callee: Value, args: Arguments, at: number): Value {
    if (callee instanceof Undefined) throw callee.fault();
    this.at = at;
    if (!(callee instanceof Thing) || callee.call === undefined)
      throw wrong(`'${typeName(callee)}' object is not callable`);
    const result = callee.call(args, this);
    this.#payFor(result);
    return result;
  }

  lookUp(value: Value, key: Value, prefers: "attribute" | "item"): Value {
    const found = this.#find(value, key, prefers);
    return found === undefined ? this.missing(describeMissing(value, key, this.meter)) : found;
  }

  missing(message: string): Undefined {
    const { at } = this;
    return new Undefined(this.isStrict, () => ({ message, at }));
  }

  /** As it is written into the output. */
  print(given: Value): string {
    const value = unhide(given);
    return this.autoescape ? toHtml(value, this) : toText(value, this.meter);
  }

  arguments({ positional, named, list, map }: CallArguments, scope: Scope): Arguments {
    const values = positional.map((each) => this.evaluate(each, scope));
    const byName = new Map(named.map(([name, each]) => [name, this.evaluate(each, scope)]));
    if (list !== undefined) values.push(...toList(this.evaluate(list, scope), this.meter));
    if (map !== undefined) {
      const more = this.evaluate(map, scope);
      if (!(more instanceof Dict)) throw wrong(`argument after ** must be a mapping, not ${typeName(more)}`);
      this.meter.spend(more.size);
      for (const name of more.names()) byName.set(name, more.getText(name) ?? null);
    }
    return { positional: values, named: byName };
  }

  /** Looks for `value[key]` and `value.key`, in one order or the other. */
  #find(object: Value, key: Value, prefers: "attribute" | "item"): Value | undefined {
    const value = unhide(object);
    if (value instanceof Undefined) throw value.fault();
    const attribute = () => {
      if (!isText(key)) return undefined;
      if (isText(value)) this.meter.spendText(plain(value).length);
      return attributeOf(value, plain(key));
    };
    if (prefers === "item") {
      const item = itemOf(value, key, this.meter);
      return item === undefined ? attribute() : item;
    }
    const found = attribute();
    return found === undefined ? itemOf(value, key, this.meter) : found;
  }

  #member(node: Expression & { readonly kind: "attribute" | "item" }, scope: Scope): Value {
    const object = this.evaluate(node.object, scope);
    if (node.kind === "item" && node.index.kind === "slice") {
      const { start, stop, step } = node.index;
      const bound = (part: Expression | undefined) => (part === undefined ? null : this.evaluate(part, scope));
      this.at = node.at;
      return sliceOf(object, [bound(start), bound(stop), bound(step)], this.meter);
    }
    const isItem = node.kind === "item";
    const key = isItem ? this.evaluate(node.index, scope) : node.name;
    this.at = node.at;
    const found = this.#find(object, key, isItem ? "item" : "attribute");
    return found === undefined ? this.#missingMember(node, object, key) : found;
  }

  #name(name: string, scope: Scope, at: number): Value {
    this.meter.spend(scope.depth >> 4);
    const value = scope.get(name);
    if (value !== undefined) return value;
    return new Undefined(this.isStrict, () => ({
      message: `\`${name}\` has no value`,
      at,
      missing: { variable: name, parent: "the input", available: this.#names },
    }));
  }

  #missingMember(node: Expression & { readonly kind: "attribute" | "item" }, object: Value, key: Value): Undefined {
    return new Undefined(this.isStrict, () => {
      const variable = pathOf(node);
      if (variable === undefined) return { message: describeMissing(object, key, this.meter), at: node.at };
      const available = object instanceof Dict ? object.names() : [];
      const missing: MissingValue = { variable, parent: `\`${pathOf(node.object)}\``, available };
      return { message: `\`${variable}\` has no value`, at: node.at, missing };
    });
  }

  #dict(entries: readonly (readonly [Expression, Expression])[], scope: Scope): Dict {
    const dict = new Dict();
    for (const [key, value] of entries)
      setItem(dict, this.evaluate(key, scope), this.evaluate(value, scope), this.meter);
    return dict;
  }

  #concat(items: readonly Expression[], scope: Scope): Value {
    const values = items.map((item) => this.evaluate(item, scope));
    const isHtml = this.autoescape && values.some((value) => value instanceof Markup);
    const parts = values.map((value) => (isHtml ? toHtml(value, this) : toText(value, this.meter)));
    this.meter.spendJoin(parts.reduce((sum, part) => sum + part.length, 0));
    const text = parts.reduce((whole, part) => whole + part, "");
    return isHtml ? new Markup(text) : text;
  }

  #signed(node: Expression & { readonly kind: "negative" | "positive" }, scope: Scope): Value {
    const value = this.evaluate(node.operand, scope);
    if (value instanceof Undefined) throw value.fault();
    const number = toNumeric(value);
    this.at = node.at;
    const sign = node.kind === "negative" ? "-" : "+";
    if (number === undefined) throw wrong(`bad operand type for unary ${sign}: '${typeName(value)}'`);
    return node.kind === "negative" ? -number : number;
  }

  #comparison(node: Expression & { readonly kind: "comparison" }, scope: Scope): boolean {
    let left = this.evaluate(node.first, scope);
    for (const { operator, operand } of node.rest) {
      const right = this.evaluate(operand, scope);
      this.at = node.at;
      if (!this.#compares(operator, left, right)) return false;
      left = right;
    }
    return true;
  }

  #compares(
    operator: (Expression & { kind: "comparison" })["rest"][number]["operator"],
    left: Value,
    right: Value,
  ): boolean {
    switch (operator) {
      case "==":
        return equals(left, right, this.meter);
      case "!=":
        return !equals(left, right, this.meter);
      case "in":
        return contains(right, left, this.meter);
      case "not in":
        return !contains(right, left, this.meter);
      case "<":
      case "<=":
      case ">":
      case ">=":
        return compare(left, right, operator, this.meter);
    }
  }

  #condition(node: Expression & { readonly kind: "condition" }, scope: Scope): Value {
    if (isTrue(this.evaluate(node.test, scope))) return this.evaluate(node.chosen, scope);
    if (node.otherwise !== undefined) return this.evaluate(node.otherwise, scope);
    const message = "the `if` has no `else`, and its condition does not hold";
    return new Undefined(false, () => ({ message, at: node.at }));
  }

  #payFor(value: Value): void {
    if (isText(value)) this.meter.spendText(plain(value).length);
  }
}

function describeMissing(value: Value, key: Value, meter: Meter): string {
  const name = isText(key) ? ` has no attribute '${plain(key)}'` : ` has no element ${toText(key, meter).slice(0, 40)}`;
  return `'${typeName(value)}' object${name}`;
}

/** A path as it is written: `order.items[0]`. Undefined: the expression is something else. */
function pathOf(node: Expression): string | undefined {
  if (node.kind === "name") return node.name;
  if (node.kind !== "attribute" && node.kind !== "item") return undefined;
  const object = pathOf(node.object);
  if (object === undefined) return undefined;
  if (node.kind === "attribute") return `${object}.${node.name}`;
  if (node.index.kind !== "constant") return undefined;
  const { value } = node.index;
  return typeof value === "string" ? `${object}['${value}']` : `${object}[${value}]`;
}

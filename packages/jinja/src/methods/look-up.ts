import { Builtin } from "../functions/builtin.ts";
import type { Meter } from "../meter.ts";
import { wrong } from "../template-error.ts";
import { toNumeric } from "../values/compare.ts";
import { escapeHtml } from "../values/escape-html.ts";
import { getItem } from "../values/keys.ts";
import { sliceText, textLength } from "../values/text.ts";
import {
  Dict,
  DictView,
  isText,
  Markup,
  Range,
  Thing,
  Tuple,
  typeName,
  Undefined,
  type Value,
} from "../values/value.ts";
import { dictMethods, listMethods, tupleMethods } from "./container-methods.ts";
import { numberAttribute, numberMethodsOf } from "./number-methods.ts";
import { stringMethods } from "./string-methods.ts";

/** `value.name`. Only names from the tables here lead anywhere. */
export function attributeOf(value: Value, name: string): Value | undefined {
  if (value === null || value instanceof Undefined) return undefined;
  if (value instanceof Thing) return value.attribute(name);
  if (value instanceof Markup) return markupMethod(value, name);
  if (value instanceof Tuple) {
    const named = value.names?.indexOf(name) ?? -1;
    if (named >= 0) return value.items[named];
  }
  if (value instanceof Range && (name === "start" || name === "stop" || name === "step")) return value[name];
  if (typeof value === "bigint" || typeof value === "number" || typeof value === "boolean") {
    const attribute = numberAttribute(value, name);
    if (attribute !== undefined) return attribute;
  }
  const method = methodsOf(value)?.get(name);
  const hidden = value instanceof Dict ? value.getText(name) : undefined;
  return method && new Builtin(name, (args, rendering) => method(value, args, rendering), hidden);
}

function methodsOf(value: Value) {
  if (typeof value === "string") return stringMethods;
  if (Array.isArray(value)) return listMethods.functions;
  if (value instanceof Tuple) return tupleMethods.functions;
  if (value instanceof Dict) return dictMethods.functions;
  return typeof value === "object" ? undefined : numberMethodsOf(value);
}

/** Methods of HTML escape what they are given, and give HTML. */
function markupMethod({ text }: Markup, name: string): Value | undefined {
  const method = stringMethods.get(name);
  if (method === undefined) return undefined;
  return new Builtin(name, ({ positional, named }, rendering) => {
    const escapeOne = (value: Value) => (typeof value === "string" ? escapeHtml(value) : value);
    const escapeAll = (value: Value) => (Array.isArray(value) ? value.map(escapeOne) : escapeOne(value));
    const isCut = /^r?(?:split|partition)/.test(name);
    const args = {
      positional: isCut ? positional : positional.map(escapeAll),
      named: isCut ? named : new Map([...named].map(([key, value]) => [key, escapeAll(value)])),
    };
    return toMarkup(method(text, args, rendering));
  });
}

function toMarkup(value: Value): Value {
  if (typeof value === "string") return new Markup(value);
  if (value instanceof Tuple) return new Tuple(value.items.map(toMarkup));
  return Array.isArray(value) ? value.map(toMarkup) : value;
}

/** `value[index]`. Undefined: it has no such item, or no items at all. */
export function itemOf(value: Value, index: Value, meter: Meter): Value | undefined {
  if (value instanceof Dict) return isHashable(index) ? getItem(value, index, meter) : undefined;
  const number = typeof index === "number" ? undefined : toNumeric(index);
  if (typeof number !== "bigint") return undefined;
  if (typeof value === "string" || value instanceof Markup) {
    const text = typeof value === "string" ? value : value.text;
    meter.spendText(text.length);
    const at = placeOf(number, textLength(text));
    return at === undefined ? undefined : wrap(value, sliceText(text, at, at + 1));
  }
  if (value instanceof Range) {
    const at = number < 0n ? number + value.length : number;
    return at < 0n || at >= value.length ? undefined : value.start + at * value.step;
  }
  const list = Array.isArray(value) ? value : value instanceof Tuple ? value.items : undefined;
  const at = list && placeOf(number, list.length);
  return at === undefined ? undefined : list?.[at];
}

function isHashable(value: Value): boolean {
  return !Array.isArray(value) && !(value instanceof Dict) && !(value instanceof DictView);
}

function placeOf(index: bigint, length: number): number | undefined {
  const at = Number(index < 0n ? index + BigInt(length) : index);
  return at >= 0 && at < length ? at : undefined;
}

function wrap(like: Value, text: string): Value {
  return like instanceof Markup ? new Markup(text) : text;
}

/** `value[start:stop:step]`; what is left out is null. */
export function sliceOf(value: Value, bounds: readonly [Value, Value, Value], meter: Meter): Value {
  if (value instanceof Undefined) throw value.fault();
  if (value instanceof Dict) throw wrong("unhashable type: 'slice'");
  const length = sizeOf(value);
  if (length === undefined) throw wrong(`'${typeName(value)}' object is not subscriptable`);
  const [start, stop, step] = resolve(bounds, length);
  if (value instanceof Range)
    return new Range(value.start + start * value.step, value.start + stop * value.step, value.step * step);
  const picked = new Range(start, stop, step);
  if (isText(value)) meter.spendText(Number(length));
  meter.spend(Number(picked.length) + Number(length) / 64);
  const items =
    typeof value === "string" ? textItems(value) : value instanceof Markup ? textItems(value.text) : listOf(value);
  const chosen = Array.from(
    { length: Number(picked.length) },
    (_, at) => items[Number(start + BigInt(at) * step)] ?? null,
  );
  if (typeof value === "string" || value instanceof Markup) return wrap(value, chosen.join(""));
  return value instanceof Tuple ? new Tuple(chosen) : chosen;
}

function textItems(text: string): ArrayLike<string> {
  return textLength(text) === text.length ? text : [...text];
}

function listOf(value: Value): readonly Value[] {
  return Array.isArray(value) ? value : value instanceof Tuple ? value.items : [];
}

function sizeOf(value: Value): bigint | undefined {
  if (typeof value === "string") return BigInt(textLength(value));
  if (value instanceof Markup) return BigInt(textLength(value.text));
  if (value instanceof Range) return value.length;
  return Array.isArray(value) || value instanceof Tuple ? BigInt(listOf(value).length) : undefined;
}

/** Python's rules for bounds: negative ones count from the end, and those beyond an end stop there. */
function resolve(bounds: readonly [Value, Value, Value], length: bigint): readonly [bigint, bigint, bigint] {
  const [start, stop, step] = bounds.map((bound) => {
    if (bound instanceof Undefined) throw bound.fault();
    const number = bound === null ? null : toNumeric(bound);
    if (number === null || typeof number === "bigint") return number;
    throw wrong("slice indices must be integers or None or have an __index__ method");
  });
  const by = step ?? 1n;
  if (by === 0n) throw wrong("slice step cannot be zero");
  const [lowest, highest] = by > 0n ? [0n, length] : [-1n, length - 1n];
  const clamp = (bound: bigint | null | undefined, fallback: bigint) => {
    if (bound === null || bound === undefined) return fallback;
    const at = bound < 0n ? bound + length : bound;
    return at < lowest ? lowest : at > highest ? highest : at;
  };
  return by > 0n ? [clamp(start, 0n), clamp(stop, length), by] : [clamp(start, length - 1n), clamp(stop, -1n), by];
}

import { FunctionTable } from "./functions/builtin.ts";
import { REQUIRED } from "./functions/given.ts";
import { isLower, isUpper } from "./methods/string-methods.ts";
import { compare, contains, equals, plain, toNumeric } from "./values/compare.ts";
import { isIterable, lengthOf } from "./values/iterate.ts";
import { operate } from "./values/operate.ts";
import { toText } from "./values/print.ts";
import { Dict, DictView, isText, Markup, type Rendering, Thing, Undefined, type Value } from "./values/value.ts";

const table = new FunctionTable<boolean>();
/** What stands behind `is`. */
export const tests = table.functions;

function add(check: (value: Value, rendering: Rendering) => boolean, ...names: readonly string[]): void {
  for (const name of names) table.add(name, {}, (value, _, rendering) => check(value, rendering));
}

function addWith(
  check: (value: Value, other: Value, rendering: Rendering) => boolean,
  ...names: readonly string[]
): void {
  for (const name of names)
    table.add(name, { other: REQUIRED }, (value, given, rendering) => check(value, given.value("other"), rendering));
}

add((value) => !(value instanceof Undefined), "defined");
add((value) => value instanceof Undefined, "undefined");
add((value) => value === null, "none");
add((value) => typeof value === "boolean", "boolean");
add((value) => value === true, "true");
add((value) => value === false, "false");
add((value) => typeof value === "bigint", "integer");
add((value) => typeof value === "number", "float");
add((value) => toNumeric(value) !== undefined, "number");
add(isText, "string");
add((value) => value instanceof Dict, "mapping");
add((value) => value instanceof Markup, "escaped", "safe");
add((value) => value instanceof Undefined || (value instanceof Thing && value.call !== undefined), "callable");
add((value) => value instanceof Undefined || isIterable(value), "iterable");
add((value) => {
  if (isText(value) || value instanceof Undefined) return true;
  return !(value instanceof DictView) && lengthOf(value) !== undefined;
}, "sequence");
add((value, { meter }) => isLower(toText(value, meter)), "lower");
add((value, { meter }) => isUpper(toText(value, meter)), "upper");
add((value, rendering) => rest(value, 2n, rendering) === 1, "odd");
add((value, rendering) => rest(value, 2n, rendering) === 0, "even");
addWith((value, other, rendering) => rest(value, other, rendering) === 0, "divisibleby");
add((value, rendering) => isText(value) && rendering.hasFilter(plain(value)), "filter");
add((value, rendering) => isText(value) && rendering.hasTest(plain(value)), "test");
addWith((value, other) => Object.is(value, other), "sameas");
addWith((value, other, { meter }) => contains(other, value, meter), "in");
addWith((value, other, { meter }) => equals(value, other, meter), "eq", "equalto", "==");
addWith((value, other, { meter }) => !equals(value, other, meter), "ne", "!=");
addWith((value, other, { meter }) => compare(value, other, "<", meter), "lt", "lessthan", "<");
addWith((value, other, { meter }) => compare(value, other, "<=", meter), "le", "<=");
addWith((value, other, { meter }) => compare(value, other, ">", meter), "gt", "greaterthan", ">");
addWith((value, other, { meter }) => compare(value, other, ">=", meter), "ge", ">=");
// Two of MiniJinja's.
addWith((value, other, { meter }) => toText(value, meter).startsWith(toText(other, meter)), "startingwith");
addWith((value, other, { meter }) => toText(value, meter).endsWith(toText(other, meter)), "endingwith");

function rest(value: Value, divisor: Value, rendering: Rendering): number {
  return Number(toNumeric(operate("%", value, divisor, rendering)) ?? Number.NaN);
}

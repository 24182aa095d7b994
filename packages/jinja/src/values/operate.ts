import { percent } from "../formats/percent.ts";
import type { ArithmeticOperator } from "../syntax/nodes.ts";
import { wrong } from "../template-error.ts";
import { calculate } from "./arithmetic.ts";
import { plain, toNumeric } from "./compare.ts";
import { escapeHtml } from "./escape-html.ts";
import { isText, Markup, type Rendering, Tuple, typeName, Undefined, type Value } from "./value.ts";

/** An operator between two values: of numbers, and what texts and lists make of it. */
export function operate(operator: ArithmeticOperator, left: Value, right: Value, rendering: Rendering): Value {
  if (operator === "%" && isText(left)) return percent(left, right, rendering);
  for (const side of [left, right]) if (side instanceof Undefined) throw side.fault();
  const [a, b] = [toNumeric(left), toNumeric(right)];
  if (a !== undefined && b !== undefined) return calculate(operator, a, b, rendering.meter);
  const result = operator === "+" ? join(left, right, rendering) : undefined;
  if (result !== undefined) return result;
  if (operator === "*" && typeof b === "bigint") return repeat(left, b, rendering) ?? refuse(operator, left, right);
  if (operator === "*" && typeof a === "bigint") return repeat(right, a, rendering) ?? refuse(operator, left, right);
  return refuse(operator, left, right);
}

function join(left: Value, right: Value, { meter }: Rendering): Value | undefined {
  if (isText(left) && isText(right)) {
    meter.spendJoin(plain(left).length + plain(right).length);
    if (typeof left === "string" && typeof right === "string") return left + right;
    const html = (side: string | Markup) => (side instanceof Markup ? side.text : escapeHtml(side));
    return new Markup(html(left) + html(right));
  }
  const [a, b] = [itemsOf(left), itemsOf(right)];
  if (a === undefined || b === undefined || Array.isArray(left) !== Array.isArray(right)) return undefined;
  meter.spend(a.length + b.length);
  return Array.isArray(left) ? [...a, ...b] : new Tuple([...a, ...b]);
}

function repeat(value: Value, count: bigint, { meter }: Rendering): Value | undefined {
  const times = Number(count < 0n ? 0n : count);
  if (isText(value)) {
    meter.spendText(plain(value).length * times);
    const text = plain(value).repeat(times);
    return value instanceof Markup ? new Markup(text) : text;
  }
  const items = itemsOf(value);
  if (items === undefined) return undefined;
  meter.spend(items.length * times);
  const repeated = items.length === 0 ? [] : (Array.from({ length: times }, () => items).flat(1) as Value[]);
  return Array.isArray(value) ? repeated : new Tuple(repeated);
}

function itemsOf(value: Value): readonly Value[] | undefined {
  if (Array.isArray(value)) return value;
  return value instanceof Tuple ? value.items : undefined;
}

function refuse(operator: ArithmeticOperator, left: Value, right: Value): never {
  throw wrong(`unsupported operand type(s) for ${operator}: '${typeName(left)}' and '${typeName(right)}'`);
}

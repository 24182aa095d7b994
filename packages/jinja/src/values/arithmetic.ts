import type { Meter } from "../meter.ts";
import type { ArithmeticOperator } from "../syntax/nodes.ts";
import { wrong } from "../template-error.ts";
import type { Numeric } from "./compare.ts";

/** Whole numbers are exact; no prompt needs longer ones. */
const MOST_BITS = 65_536;

/** Arithmetic on numbers, with Python's rules: `/` gives a float, `//` and `%` round down. */
export function calculate(operator: ArithmeticOperator, left: Numeric, right: Numeric, meter: Meter): Numeric {
  if (typeof left === "bigint" && typeof right === "bigint") return ofIntegers(operator, left, right, meter);
  return ofFloats(operator, toFloat(left), toFloat(right));
}

export function toFloat(value: Numeric): number {
  const float = Number(value);
  if (typeof value === "bigint" && !Number.isFinite(float)) throw wrong("int too large to convert to float");
  return float;
}

function ofIntegers(operator: ArithmeticOperator, left: bigint, right: bigint, meter: Meter): Numeric {
  switch (operator) {
    case "+":
      return bounded(left + right, meter);
    case "-":
      return bounded(left - right, meter);
    case "*":
      return bounded(left * right, meter);
    case "/":
      if (right === 0n) throw wrong("division by zero");
      return divideExactly(left, right);
    case "//":
      return floorDivide(left, right);
    case "%":
      return left - floorDivide(left, right) * right;
    case "**":
      return integerPower(left, right, meter);
  }
}

function bounded(value: bigint, meter: Meter): bigint {
  if (-0x7fffffffffffffffn < value && value < 0x7fffffffffffffffn) return value;
  const bits = value.toString(16).length * 4;
  meter.spend(bits / 64);
  if (bits > MOST_BITS) throw wrong(`a number has more than ${MOST_BITS} bits`);
  return value;
}

function floorDivide(left: bigint, right: bigint): bigint {
  if (right === 0n) throw wrong("integer division or modulo by zero");
  const quotient = left / right;
  return left % right !== 0n && left < 0n !== right < 0n ? quotient - 1n : quotient;
}

/** The float nearest to the quotient. Dividing two rounded floats would round twice. */
function divideExactly(left: bigint, right: bigint): number {
  const [a, b] = [Number(left), Number(right)];
  if (Number.isSafeInteger(a) && Number.isSafeInteger(b)) return a / b;
  const [x, y] = [left < 0n ? -left : left, right < 0n ? -right : right];
  const shift = Math.max(0, 70 - x.toString(2).length + y.toString(2).length);
  const scaled = x << BigInt(shift);
  const quotient = ((scaled / y) << 1n) | (scaled % y === 0n ? 0n : 1n);
  const size = toFloat(quotient) / 2 ** (shift + 1);
  return left < 0n === right < 0n ? size : -size;
}

function integerPower(base: bigint, exponent: bigint, meter: Meter): Numeric {
  if (exponent < 0n) return ofFloats("**", toFloat(base), toFloat(exponent));
  const bits = BigInt(base.toString(16).length * 4) * exponent;
  if (base !== 0n && base !== 1n && base !== -1n && bits > BigInt(MOST_BITS * 2))
    throw wrong(`a number has more than ${MOST_BITS} bits`);
  return bounded(base ** exponent, meter);
}

function ofFloats(operator: ArithmeticOperator, left: number, right: number): number {
  switch (operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "/":
      if (right === 0) throw wrong("float division by zero");
      return left / right;
    case "//":
      return floorAndRest(left, right)[0];
    case "%":
      return floorAndRest(left, right)[1];
    case "**":
      return floatPower(left, right);
  }
}

function floatPower(base: number, exponent: number): number {
  if (base === 0 && exponent < 0) throw wrong("0.0 cannot be raised to a negative power");
  if (base < 0 && Number.isFinite(base) && Number.isFinite(exponent) && !Number.isInteger(exponent))
    throw wrong("the power is a complex number");
  if (base === 1) return 1;
  const power = base ** exponent;
  if (Number.isFinite(base) && Number.isFinite(exponent) && !Number.isFinite(power))
    throw wrong("the power is too large for a float");
  return power;
}

/** As Python's `divmod`: the rest has the sign of the divisor. */
function floorAndRest(left: number, right: number): readonly [number, number] {
  if (right === 0) throw wrong("float division by zero");
  let rest = left % right;
  let quotient = (left - rest) / right;
  if (rest === 0) rest = right < 0 ? -0 : 0;
  else if (right < 0 !== rest < 0) {
    rest += right;
    quotient -= 1;
  }
  const floor = Math.floor(quotient);
  return [quotient - floor > 0.5 ? floor + 1 : floor, rest];
}

import { wrong } from "../template-error.ts";

const LARGEST_PRECISION = 10_000;

/** A float as a fraction of whole numbers; exact. */
export function toFraction(value: number): readonly [bigint, bigint] {
  let exponent = 0;
  let scaled = value;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    exponent += 1;
  }
  return [BigInt(scaled), 2n ** BigInt(exponent)];
}

/** |value| times 10 to the power, rounded to a whole number; halves to the even one, as Python and C do. */
function roundScaled(value: number, power: number): bigint {
  const [numerator, denominator] = toFraction(Math.abs(value));
  if (power >= 0) return roundQuotient(numerator * 10n ** BigInt(power), denominator);
  return roundQuotient(numerator, denominator * 10n ** BigInt(-power));
}

export function roundQuotient(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  const twice = (numerator % denominator) * 2n;
  const up = twice > denominator || (twice === denominator && quotient % 2n === 1n);
  return up ? quotient + 1n : quotient;
}

/** The digits of a float's size, without its sign, in one of C's forms. */
export function formatFloat(value: number, form: string, precision: number, alternate = false): string {
  if (precision > LARGEST_PRECISION) throw wrong("the precision is too large");
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return "inf";
  switch (form) {
    case "f":
      return fixed(value, precision, alternate);
    case "e":
      return exponential(value, precision, alternate);
    default:
      return general(value, Math.max(1, precision), alternate);
  }
}

function fixed(value: number, precision: number, alternate: boolean): string {
  const digits = roundScaled(value, precision)
    .toString()
    .padStart(precision + 1, "0");
  if (precision === 0) return alternate ? `${digits}.` : digits;
  return `${digits.slice(0, -precision)}.${digits.slice(-precision)}`;
}

function exponential(value: number, precision: number, alternate: boolean): string {
  let exponent = value === 0 ? 0 : Number(value.toExponential().split("e")[1]);
  let digits = roundScaled(value, precision - exponent).toString();
  if (digits.length > precision + 1) {
    exponent += 1;
    digits = roundScaled(value, precision - exponent).toString();
  }
  digits = digits.padEnd(precision + 1, "0");
  const rest = precision === 0 ? (alternate ? "." : "") : `.${digits.slice(1)}`;
  return `${digits[0]}${rest}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

function general(value: number, precision: number, alternate: boolean): string {
  const written = exponential(value, precision - 1, alternate);
  const [mantissa = "", exponentText = "0"] = written.split("e");
  const exponent = Number(exponentText);
  const isFixed = exponent >= -4 && exponent < precision;
  const digits = isFixed ? fixed(value, precision - 1 - exponent, alternate) : mantissa;
  const short = alternate || !digits.includes(".") ? digits : digits.replace(/\.?0+$/, "");
  return isFixed ? short : `${short}e${exponentText}`;
}

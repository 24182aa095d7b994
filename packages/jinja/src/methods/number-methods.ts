import { toFraction } from "../formats/decimal.ts";
import { FunctionTable } from "../functions/builtin.ts";
import { wrong } from "../template-error.ts";
import { toNumeric } from "../values/compare.ts";
import { Tuple, type Value } from "../values/value.ts";

/** The methods of numbers, and what they have without being called. */
const numberMethods = new FunctionTable()
  .add("is_integer", {}, (value) => typeof value !== "number" || Number.isInteger(value))
  .add("conjugate", {}, (value) => toNumeric(value) ?? null)
  .add("as_integer_ratio", {}, (value) => {
    if (typeof value !== "number") return new Tuple([toNumeric(value) ?? 0n, 1n]);
    if (!Number.isFinite(value)) throw wrong("cannot convert it to an integer ratio");
    return new Tuple([...toFraction(value)]);
  });

const integerMethods = new FunctionTable()
  .add("bit_length", {}, (value) => BigInt(bitsOf(value).length))
  .add("bit_count", {}, (value) => BigInt(bitsOf(value).replaceAll("0", "").length));

function bitsOf(value: Value): string {
  const number = BigInt(toNumeric(value) ?? 0n);
  return number === 0n ? "" : (number < 0n ? -number : number).toString(2);
}

export function numberMethodsOf(value: bigint | number | boolean): FunctionTable["functions"] {
  return typeof value === "number"
    ? numberMethods.functions
    : new Map([...numberMethods.functions, ...integerMethods.functions]);
}

export function numberAttribute(value: bigint | number | boolean, name: string): Value | undefined {
  const number = toNumeric(value) ?? 0n;
  if (name === "real" || (name === "numerator" && typeof number === "bigint")) return number;
  if (name === "imag") return typeof number === "bigint" ? 0n : 0;
  return name === "denominator" && typeof number === "bigint" ? 1n : undefined;
}

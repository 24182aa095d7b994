import { Dict, type Value } from "./value.ts";

/** JSON, with whole numbers of any size. */
export type Input = null | boolean | number | bigint | string | readonly Input[] | { readonly [key: string]: Input };

/** A copy of the input: a template may change its lists and maps. What JSON writes without fraction and exponent is an integer. */
export function fromJson(input: Input): Value {
  // JSON writes larger ones with an exponent.
  const isWhole = typeof input === "number" && Number.isInteger(input) && Math.abs(input) < 1e21;
  if (isWhole && !Object.is(input, -0)) return BigInt(input);
  if (input === null || typeof input !== "object") return input;
  if (isList(input)) return input.map(fromJson);
  return Dict.ofTexts(Object.entries(input).map(([key, value]) => [key, fromJson(value)]));
}

function isList(input: Input): input is readonly Input[] {
  return Array.isArray(input);
}

import { toCanonicalNumber } from "../../exact-json.ts";
import { Dict, type Value } from "./value.ts";

/** JSON, with whole numbers of any size. */
export type Input = null | boolean | number | bigint | string | readonly Input[] | { readonly [key: string]: Input };

/** A copy of the input: a template may change its lists and maps. What JSON writes without fraction and exponent is an integer. */
export function fromJson(input: Input): Value {
  if (typeof input === "number") {
    if (Object.is(input, -0)) return input;
    const number = toCanonicalNumber(input);
    return Number.isSafeInteger(number) ? BigInt(number) : number;
  }
  if (input === null || typeof input !== "object") return input;
  if (isList(input)) return input.map(fromJson);
  return Dict.ofTexts(Object.entries(input).map(([key, value]) => [key, fromJson(value)]));
}

function isList(input: Input): input is readonly Input[] {
  return Array.isArray(input);
}

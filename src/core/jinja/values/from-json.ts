import { Dict, type Value } from "./value.ts";

/** JSON, with whole numbers of any size. */
export type Input = null | boolean | number | bigint | string | readonly Input[] | { readonly [key: string]: Input };

/** A copy of the input: a template may change its lists and maps. Whole numbers that JSON cannot keep exact are floats. */
export function fromJson(input: Input): Value {
  if (typeof input === "number") return Number.isSafeInteger(input) && !Object.is(input, -0) ? BigInt(input) : input;
  if (input === null || typeof input !== "object") return input;
  if (isList(input)) return input.map(fromJson);
  return Dict.ofTexts(Object.entries(input).map(([key, value]) => [key, fromJson(value)]));
}

function isList(input: Input): input is readonly Input[] {
  return Array.isArray(input);
}

import { asReadBack, parseExact, writeExact } from "../../../core/exact-json.ts";
import { isJsonObject, type Json } from "../../../core/json.ts";

/**
 * Masks the secrets in a value, and returns its text too. The text is searched as a whole, which is fast and finds a secret
 * across rows of a screen. If that breaks the JSON, e.g. since the secret is a number, each part is masked on its own.
 */
export function maskJson<Value extends Json>(
  value: Value,
  mask: (text: string) => string,
  plain: string = writeExact(value),
): { readonly value: Value; readonly text: string } {
  const text = mask(plain);
  // As a later process reads it.
  if (text === plain) return { value: asReadBack(value, text) as Value, text };
  try {
    return { value: parseExact(text) as Value, text };
  } catch {
    const masked = maskParts(value, mask) as Value;
    return { value: masked, text: writeExact(masked) };
  }
}

function maskParts(value: Json, mask: (text: string) => string): Json {
  if (typeof value === "string") return mask(value);
  if (Array.isArray(value)) return value.map((item) => maskParts(item, mask));
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [mask(key), maskParts(item, mask)]));
  const plain = writeExact(value);
  const masked = mask(plain);
  return masked === plain ? value : masked;
}

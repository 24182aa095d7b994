import { writeExact } from "../../core/exact-json.ts";
import type { Json } from "../../core/json.ts";

/**
 * Writes JSON like Python's `json.dumps(value, sort_keys=True)`, so that both give a workflow the same hash. A number that
 * was written with a fraction of zero (`30.0`) has lost it on the way here and reads as a whole number.
 */
export function toPythonJson(value: Json): string {
  if (typeof value === "string") return toAsciiJson(writeExact(value));
  if (typeof value === "number") return toPythonNumber(value);
  if (typeof value === "bigint") return String(value);
  if (value === null || typeof value === "boolean") return writeExact(value);
  if (Array.isArray(value)) return `[${value.map(toPythonJson).join(", ")}]`;
  const entries = Object.entries(value).sort(([a], [b]) => compareByCodePoint(a, b));
  return `{${entries.map(([key, inner]) => `${toPythonJson(key)}: ${toPythonJson(inner)}`).join(", ")}}`;
}

/** JSON text with everything beyond ASCII written as `\uXXXX`. */
export function toAsciiJson(json: string): string {
  return json.replace(/[\u007f-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function toPythonNumber(value: number): string {
  if (Number.isInteger(value)) return BigInt(value).toString();
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  // Python switches to exponents earlier than JavaScript.
  if (power >= -4 && power < 16) return String(value);
  const sign = power < 0 ? "-" : "+";
  return `${digits}e${sign}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** Python orders texts by code points, JavaScript by halves of them. */
function compareByCodePoint(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (let i = 0; i < Math.min(left.length, right.length); i += 1) {
    const difference = (left[i]?.codePointAt(0) ?? 0) - (right[i]?.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

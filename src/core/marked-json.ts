import { parseExact, writeExact } from "./exact-json.ts";
import type { Json } from "./json.ts";
import { hasHugeNumber, hasLongInteger, markIntegers, NumberTooLarge, unmark } from "./long-integers.ts";

/** Names of the fields below which values of users are, in the messages of a protocol. */
export type UserFields = ReadonlySet<string>;

/**
 * Text for a library that reads it with `JSON.parse`. Long integers are doubles there, as any program gets them. Those
 * below `fields` are texts until `unmark` has made bigints of them behind the library.
 */
export function writeMarked(value: unknown, fields: UserFields): string {
  const text = writeExact(value);
  if (!hasLongInteger(text)) return text;
  return writeExact(value, (key, part) => {
    if (typeof part === "bigint") return Number(part);
    return fields.has(key) && typeof part === "object" ? JSON.parse(markIntegers(writeExact(part))) : part;
  });
}

/** The value that a library would read, but below `fields` it is exact. Throws as `parseExact` does. */
export function parseMarked(text: string, fields: UserFields): Json {
  const value = parseExact(text);
  return hasLongInteger(text) ? unmark(JSON.parse(writeMarked(value, fields))) : value;
}

/** `refusal`: what answers a message of JSON-RPC that has a number nothing can hold. */
export type MarkedMessage = { readonly text: string } | { readonly refusal: string };

/** A message of JSON-RPC as `writeMarked` writes it. What is no JSON is left to the library. `code` is that of a refusal. */
export function markMessage(text: string, fields: UserFields, code: number): MarkedMessage {
  if (!hasLongInteger(text) && !hasHugeNumber(text)) return { text };
  try {
    return { text: writeMarked(parseExact(text), fields) };
  } catch (error) {
    if (!(error instanceof NumberTooLarge)) return { text };
    const { id } = JSON.parse(text) as { readonly id?: Json };
    return { refusal: writeExact({ jsonrpc: "2.0", id, error: { code, message: `${error.message}.` } }) };
  }
}

import type { Json } from "../../../core/json.ts";
import type { Blobs } from "../../../ports/blobs.ts";
import { maskJson } from "./mask-json.ts";
import { BLOB_MARK } from "./run-values.ts";

/** Larger values are kept in the blob store. */
const INLINE_BYTES = 64 * 1024;

/** A value as it is stored: secrets masked, as JSON text or as the name of a blob. */
export interface StoredValue {
  readonly stored: string;
  /** The value as it is read back: itself, or its masked form. */
  readonly value: Json;
  readonly bytes: number;
}

export interface ValueWriter {
  readonly blobs: Blobs;
  readonly maxBytes: number;
  mask(text: string): string;
}

/** Returns no promise for values that stay inline. `too large`: it is over the limit, and nothing is stored. */
export function toStoredValue(value: Json, writer: ValueWriter): StoredValue | "too large" | Promise<StoredValue> {
  const { text, value: seen } = maskJson(value, (plain) => writer.mask(plain));
  const bytes = text.length < INLINE_BYTES / 3 ? text.length : Buffer.byteLength(text);
  if (bytes > writer.maxBytes) return "too large";
  if (bytes <= INLINE_BYTES) return { stored: text, value: seen, bytes };
  return writer.blobs.put(text).then((hash) => ({ stored: BLOB_MARK + hash, value: seen, bytes }));
}

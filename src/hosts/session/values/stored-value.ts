import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { Json } from "../../../core/json.ts";
import type { Blobs } from "../../../ports/blobs.ts";
import { maskJson } from "./mask-json.ts";
import { BLOB_MARK } from "./run-values.ts";

/** Larger values are kept in the blob store. */
const INLINE_BYTES = 64 * 1024;

/** Most values are smaller, and cost no field of their event. */
const COUNTED_BYTES = 4 * 1024;

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
  /** Of all larger values of a run together. */
  readonly maxRunBytes: number;
  mask(text: string): string;
}

/** The run that a value belongs to. */
interface StoringRun {
  readonly state: { readonly storedBytes: number };
  /** Values that are being stored, and whose event is not applied yet. */
  storingBytes: number;
}

/**
 * Returns no promise for values that stay inline. `too large`: it is over the limit, and nothing is stored. Throws
 * `RUN_TOO_LARGE` for a large value of a run that has stored as much as a run may.
 */
export function toStoredValue(
  value: Json,
  writer: ValueWriter,
  run?: StoringRun,
): StoredValue | "too large" | Promise<StoredValue> {
  const { text, value: seen } = maskJson(value, (plain) => writer.mask(plain));
  const bytes = text.length < INLINE_BYTES / 3 ? text.length : Buffer.byteLength(text);
  if (bytes > writer.maxBytes) return "too large";
  if (bytes > COUNTED_BYTES && run !== undefined) refuseFull(run, bytes, writer);
  if (bytes <= INLINE_BYTES) return { stored: text, value: seen, bytes };
  if (run !== undefined) run.storingBytes += bytes;
  return writer.blobs
    .put(text)
    .finally(() => {
      if (run !== undefined) run.storingBytes -= bytes;
    })
    .then((hash) => ({ stored: BLOB_MARK + hash, value: seen, bytes }));
}

/** What the event of the value says of its length. Undefined: the event has no value. */
export function lengthOf(value: Pick<StoredValue, "bytes"> | undefined): { readonly bytes?: number } {
  return value !== undefined && value.bytes > COUNTED_BYTES ? { bytes: value.bytes } : {};
}

function refuseFull({ state, storingBytes }: StoringRun, bytes: number, { maxRunBytes }: ValueWriter): void {
  if (state.storedBytes + storingBytes + bytes <= maxRunBytes) return;
  throw new PawlError("RUN_TOO_LARGE", {
    message: `With this value of ${bytes} bytes the values of the run would take more than ${maxRunBytes} bytes.`,
  });
}

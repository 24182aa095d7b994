import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { Json } from "../../../core/json.ts";
import type { Blobs } from "../../../ports/blobs.ts";
import { inTurn } from "../../../ports/turns.ts";
import { maskJson } from "./mask-json.ts";
import { BLOB_MARK } from "./run-values.ts";

/** Larger values are kept in the blob store. */
const INLINE_BYTES = 64 * 1024;

/** A short text or a number, with what stands around it. */
const PART_CHARS = 8;

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

interface StoringRun {
  readonly tenantId: string | undefined;
  readonly state: { readonly storedBytes: number };
  /** Values that are being stored, and whose event is not applied yet. */
  storingBytes: number;
}

type Stored = StoredValue | "too large";

/**
 * Returns no promise for values that stay inline. `too large`: it is over the limit, and nothing is stored. Throws
 * `RUN_TOO_LARGE` for a large value of a run that has stored as much as a run may.
 */
export function toStoredValue(value: Json, writer: ValueWriter, run?: StoringRun): Stored | Promise<Stored> {
  if (!isLong(value)) return store(value, writer, run);
  return inTurn(() => store(value, writer, run), run && (run.tenantId ?? ""));
}

/** Continues at once if the value is there: a promise would cost a turn of the event loop. */
export function whenLoaded<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** To print it takes longer than to ask. */
function isLong(value: Json): boolean {
  const pending: Json[] = [value];
  let chars = 0;
  for (let part = pending.pop(); part !== undefined && chars <= INLINE_BYTES; part = pending.pop()) {
    chars += typeof part === "string" ? part.length : PART_CHARS;
    if (typeof part !== "object" || part === null) continue;
    const parts = Object.values(part);
    chars += PART_CHARS * parts.length;
    if (chars <= INLINE_BYTES) pending.push(...parts);
  }
  return chars > INLINE_BYTES;
}

function store(value: Json, writer: ValueWriter, run: StoringRun | undefined): Stored | Promise<Stored> {
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

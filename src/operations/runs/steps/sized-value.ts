import { loadHandle } from "../../../core/binding/bind.ts";
import { collectOfHandle } from "../../../core/binding/values-needed.ts";
import { writeExact } from "../../../core/exact-json.ts";
import type { Handle } from "../../../core/history/run-state.ts";
import type { Json } from "../../../core/json.ts";
import { BLOB_MARK } from "../../../hosts/session/values/run-values.ts";
import type { RunReading, RunSources } from "../describe/describe-run-reading.ts";

/** `value` is left out where it is too large. `bytes`: its length as JSON; null: it has too many parts to count them. */
export interface SizedValue {
  readonly value?: Json;
  readonly bytes: number | null;
}

/** What an answer bears of one value. Larger ones lie in blobs. */
const MAX_BYTES = 65_536;
const MAX_PARTS = 200;

/** Looks at the size first, so that a large value is parsed for nobody who has not asked for it. */
export async function readSizedValue(
  sources: RunSources,
  { record, values }: RunReading,
  { handle, isWhole }: { readonly handle: Handle; readonly isWhole: boolean },
): Promise<SizedValue> {
  const seqs = new Set<number>();
  collectOfHandle(handle, seqs);
  if (!isWhole) {
    if (seqs.size > MAX_PARTS) return { bytes: null };
    const bytes = await sumBytes(sources, record.no, [...seqs]);
    if (bytes > MAX_BYTES) return { bytes };
  }
  const value = loadHandle(handle, await values.read(seqs));
  const bytes = Buffer.byteLength(writeExact(value));
  return isWhole || bytes <= MAX_BYTES ? { value, bytes } : { bytes };
}

async function sumBytes({ journal, blobs }: RunSources, run: number, seqs: readonly number[]): Promise<number> {
  let bytes = 0;
  for (const text of (await journal.readValues(run, seqs)).values()) {
    const isBlob = text.startsWith(BLOB_MARK);
    bytes += isBlob ? (await blobs.get(text.slice(BLOB_MARK.length))).byteLength : Buffer.byteLength(text);
  }
  return bytes;
}

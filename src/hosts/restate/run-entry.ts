import type { Serde } from "@restatedev/restate-sdk";
import { parseExact, writeExact } from "../../core/exact-json.ts";
import type { Append } from "../../ports/journal.ts";

/** What one entry of Restate's journal says of a run. The handler decides by it alone, so that a replay decides the same. */
export type RunEntry =
  | CommitEntry
  /** Nothing is to be done for so long, or until something is asked of the run. */
  | { readonly type: "waits"; readonly forMs?: number }
  | { readonly type: "ended" };

export interface CommitEntry {
  readonly type: "committed";
  readonly lastSeq: number;
  readonly isEnd: boolean;
  /** What our records are to hold. Absent: it is large, and they had it before this entry was made. */
  readonly append?: Append;
}

/** Restate refuses messages of 32 MiB, and replays each entry. Commits that are larger than this stand in our records only. */
const MAX_ENTRY_CHARS = 64 * 1024;

export function toCommitEntry(append: Append): CommitEntry {
  const { afterSeq, events, patch } = append;
  return { type: "committed", lastSeq: afterSeq + events.length, isEnd: patch?.completedAt !== undefined, append };
}

/** The texts of entries that were measured, and are about to be written. */
const texts = new WeakMap<RunEntry, string>();

export function isLarge(entry: CommitEntry): boolean {
  const text = writeExact(entry);
  texts.set(entry, text);
  return text.length > MAX_ENTRY_CHARS;
}

/** As JSON. The SDK reads each entry that it has written as soon as Restate has it: for one invocation, that is not parsed again. */
export class RunEntrySerde implements Serde<RunEntry> {
  readonly contentType = "application/json";
  #written: { readonly entry: RunEntry; readonly bytes: Buffer } | undefined;

  serialize(entry: RunEntry): Uint8Array {
    const bytes = Buffer.from(texts.get(entry) ?? writeExact(entry));
    this.#written = { entry, bytes };
    return bytes;
  }

  deserialize(bytes: Uint8Array): RunEntry {
    const written = this.#written;
    if (written?.bytes.equals(bytes) === true) return written.entry;
    return parseExact(new TextDecoder().decode(bytes)) as RunEntry;
  }
}

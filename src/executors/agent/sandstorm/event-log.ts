import { writeExact } from "../../../core/exact-json.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import type { Decoded, SandstormDocument } from "./document-decoder.ts";

/** The attempt's log: what was heard, bounded. */
export interface EventLog {
  add(decoded: Decoded): void;
  note(message: string): void;
}

const MAX_ENTRIES = 10_000;
const MAX_ENTRY_CHARS = 64 * 1024;
const MAX_CHARS = 16 * 1024 * 1024;

export function createEventLog(emit: (event: Json) => void): EventLog {
  let entries = 0;
  let chars = 0;
  let isFull = false;

  function write(event: JsonObject): void {
    // The end is recorded even when the log is full.
    if (isFull && !(event["type"] === "result" || event["type"] === "error")) return;
    const entry = shorten(event);
    emit(entry.event);
    entries += 1;
    chars += entry.chars;
    if (isFull || (entries < MAX_ENTRIES && chars < MAX_CHARS)) return;
    isFull = true;
    emit({ type: "note", message: "The log is full; only the result is still recorded." });
  }

  return {
    add: (decoded) =>
      write(decoded.kind === "noise" ? { type: "noise", text: decoded.text } : withoutContent(decoded.document)),
    note: (message) => write({ type: "note", message }),
  };
}

function shorten(event: JsonObject): { readonly event: JsonObject; readonly chars: number } {
  const text = writeExact(event);
  if (text.length <= MAX_ENTRY_CHARS) return { event, chars: text.length };
  const begins = text.slice(0, MAX_ENTRY_CHARS);
  return {
    event: { type: event["type"] ?? "noise", truncated: true, chars: text.length, begins },
    chars: begins.length,
  };
}

/** Produced files become artifacts; the log only says that they came. */
function withoutContent(document: SandstormDocument): JsonObject {
  if (document.type !== "file" || typeof document["data"] !== "string") return document;
  return { ...document, data: `(${document["data"].length} characters)` };
}

import { createParser } from "eventsource-parser";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import { parseJson } from "../../../core/parse-json.ts";
import { createJsonScanner } from "../../output/json-scanner.ts";

/** One message of the agent or of Sandstorm itself. Its kind is `type`; SSE event names are not used. */
export interface SandstormDocument extends JsonObject {
  readonly type: string;
}

export type Decoded =
  | { readonly kind: "document"; readonly document: SandstormDocument }
  /** Text that is no document: notices of programs, remains of a document whose other pieces were lost. */
  | { readonly kind: "noise"; readonly text: string };

export interface DocumentDecoder {
  /** `data` of one SSE event. */
  push(data: string): Generator<Decoded>;
  end(): Generator<Decoded>;
}

const MAX_CARRY_CHARS = 16 * 1024 * 1024;

// Types of top-level documents. Only these are taken out of the middle of a cut document: a piece of that document
// may by chance be an object with a `type` of its own, for instance one content block of a message.
const TOP_LEVEL_TYPES: ReadonlySet<string> = new Set([
  "system",
  "assistant",
  "user",
  "result",
  "stream_event",
  "tool_progress",
  "tool_use_summary",
  "auth_status",
  "rate_limit_event",
  "error",
  "warning",
  "stderr",
  "file",
]);

/**
 * Finds JSON documents in SSE events. One event is one chunk of the sandbox's stdout: it may hold several documents
 * (one a line), a piece of one cut anywhere, both, or plain text; stderr may come between two pieces. Each character
 * is looked at a fixed number of times, however small the pieces are.
 */
export function createDocumentDecoder(limits: { readonly maxCarryChars?: number } = {}): DocumentDecoder {
  const maxCarryChars = limits.maxCarryChars ?? MAX_CARRY_CHARS;
  let carry: Carry | undefined;

  function* decodeLine(line: string): Generator<Decoded> {
    const alone = toDocument(line);
    if (alone !== undefined && !carry?.canGoOnWith(alone)) {
      yield { kind: "document", document: alone };
      return;
    }

    if (carry?.isDeadBefore(line)) yield* dropCarry();
    if (carry === undefined && !line.startsWith("{")) {
      yield { kind: "noise", text: line };
      return;
    }
    carry ??= createCarry();
    const state = carry.add(line);
    if (state === "open" && carry.chars() <= maxCarryChars) return;

    const document = state === "closed" ? toDocument(carry.text()) : undefined;
    yield document === undefined ? { kind: "noise", text: carry.text() } : { kind: "document", document };
    carry = undefined;
  }

  function* dropCarry(): Generator<Decoded> {
    if (carry !== undefined) yield { kind: "noise", text: carry.text() };
    carry = undefined;
  }

  return {
    *push(data) {
      for (const line of data.split("\n")) if (line.trim() !== "") yield* decodeLine(line);
    },
    end: dropCarry,
  };
}

interface Carry {
  add(line: string): "open" | "closed" | "broken";
  /** The document on the next line may as well be a piece of this one. */
  canGoOnWith(document: SandstormDocument): boolean;
  /** The next line begins a document and cannot go on with this one: the other pieces are lost. */
  isDeadBefore(line: string): boolean;
  chars(): number;
  text(): string;
}

function createCarry(): Carry {
  const scanner = createJsonScanner();
  const pieces: string[] = [];
  let chars = 0;
  return {
    add(line) {
      pieces.push(line);
      chars += line.length;
      const scan = scanner.read(line);
      if (scan.state !== "closed") return scan.state;
      return line.slice(scan.end).trim() === "" ? "closed" : "broken";
    },
    canGoOnWith: (document) => !TOP_LEVEL_TYPES.has(document.type) && scanner.expectsValue(),
    // Inside a string, `{"t` would close it and go on with a bare word.
    isDeadBefore: (line) =>
      line.startsWith("{") && (scanner.isInString() ? /^\{"\w/.test(line) : !scanner.expectsValue()),
    chars: () => chars,
    text: () => pieces.join(""),
  };
}

function toDocument(text: string): SandstormDocument | undefined {
  const trimmed = text.trim();
  if (!trimmed.startsWith("{") || !trimmed.endsWith("}")) return undefined;
  const value = parseJson(trimmed);
  return isDocument(value) ? value : undefined;
}

function isDocument(value: Json | undefined): value is SandstormDocument {
  return isJsonObject(value) && typeof value["type"] === "string";
}

/** A single SSE line or event outgrew what may be held in memory. */
export class EventTooLargeError extends Error {}

// A file of 16 MiB in base64, with room around it. Documents of the agent come in smaller pieces.
const MAX_EVENT_CHARS = 24 * 1024 * 1024;

/** Reads SSE (CRLF, LF or CR, chunks cut anywhere) and yields the events' documents. Throws what the stream throws, and `EventTooLargeError`. */
export async function* readDocuments(
  body: AsyncIterable<Uint8Array>,
  options: { readonly onBytes: () => void; readonly maxEventChars?: number },
): AsyncGenerator<Decoded> {
  const utf8 = new TextDecoder();
  const documents = createDocumentDecoder();
  const arrived: string[] = [];
  let isTooLarge = false;
  const parser = createParser({
    maxBufferSize: options.maxEventChars ?? MAX_EVENT_CHARS,
    onEvent: (event) => arrived.push(event.data),
    onError: (error) => {
      isTooLarge ||= error.type === "max-buffer-size-exceeded";
    },
  });

  for await (const chunk of body) {
    // Comments are bytes too: a server that pings is alive.
    options.onBytes();
    parser.feed(utf8.decode(chunk, { stream: true }));
    for (const data of arrived.splice(0)) yield* documents.push(data);
    if (isTooLarge) throw new EventTooLargeError();
  }

  // A last event without its blank line counts: half a document would not parse anyway.
  parser.feed(`${utf8.decode()}\n\n`);
  for (const data of arrived) yield* documents.push(data);
  yield* documents.end();
}

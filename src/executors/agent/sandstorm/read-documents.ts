import { createParser } from "eventsource-parser";
import { createDocumentDecoder, type Decoded } from "./document-decoder.ts";

/** A single SSE line or event outgrew what may be held in memory. */
export class EventTooLargeError extends Error {}

// A file of 16 MiB in base64, with room around it. Documents of the agent come in smaller pieces.
const MAX_EVENT_CHARS = 24 * 1024 * 1024;

/**
 * Reads SSE (CRLF, LF or CR, chunks cut anywhere) and yields what its events hold. Ends with the stream; throws what
 * the stream throws, and `EventTooLargeError`.
 */
export async function* readDocuments(
  body: AsyncIterable<Uint8Array>,
  options: { readonly onLife: () => void; readonly maxEventChars?: number },
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
    options.onLife();
    parser.feed(utf8.decode(chunk, { stream: true }));
    for (const data of arrived.splice(0)) yield* documents.push(data);
    if (isTooLarge) throw new EventTooLargeError();
  }

  // A last event without its blank line counts: half a document would not parse anyway.
  parser.feed(`${utf8.decode()}\n\n`);
  for (const data of arrived) yield* documents.push(data);
  yield* documents.end();
}

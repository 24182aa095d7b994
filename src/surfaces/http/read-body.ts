import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Json } from "../../core/json.ts";
import { parseJson } from "../../operations/parse-json.ts";

/** The bytes of a request's body. Throws `BODY_TOO_LARGE`, before more than the limit is in memory. */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  const announced = Number(request.headers.get("content-length") ?? 0);
  if (announced > maxBytes) throw tooLarge(maxBytes);
  // The server reads no more than was announced. Asking for the body as a stream costs more than reading it.
  if (announced > 0 && !request.headers.has("transfer-encoding")) return new Uint8Array(await request.arrayBuffer());
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels the rest.
  for await (const chunk of request.body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

/** Whether a request comes without a body. */
export function hasNoBody(request: Request): boolean {
  const announced = request.headers.get("content-length");
  if (announced !== null) return announced === "0";
  return !request.headers.has("transfer-encoding") && request.body === null;
}

/** A body that must be JSON, whatever it says it is. Throws `BODY_TOO_LARGE`, `REQUEST_INVALID`. */
export async function readJsonBody(request: Request, maxBytes: number): Promise<Json> {
  const text = decodeUtf8(await readBody(request, maxBytes));
  if (text === undefined) throw new PawlError("REQUEST_INVALID", { message: "The body is not valid UTF-8." });
  if (text.trim() === "") throw new PawlError("REQUEST_INVALID", { message: "The request has no body." });
  return parseJson(text, "The body");
}

/** Keeps nothing from one text to the next. */
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Undefined: it is no UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}

function tooLarge(maxBytes: number): PawlError {
  return new PawlError("BODY_TOO_LARGE", { message: `The body is larger than ${maxBytes} bytes.` });
}

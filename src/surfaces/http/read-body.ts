import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import type { Json } from "../../core/json.ts";
import { currentRequest, holdInMemory, weighJson } from "../../operations/limits/quotas.ts";
import { parseJson } from "../../operations/parse-json.ts";
import { decodeUtf8 } from "../../ports/decode-utf8.ts";
import { inTurn, passTurn } from "../../ports/turns.ts";

const LONG_BODY = 100_000;

/** The bytes of a request's body. Throws `BODY_TOO_LARGE`, before more than the limit is in memory, and `REQUEST_INVALID`. */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  const announced = Number(request.headers.get("content-length") ?? maxBytes);
  if (announced > LONG_BODY) currentRequest()?.take("bodies", 1);
  try {
    return await readBytes(request, maxBytes);
  } catch (error) {
    if (isPawlError(error)) throw error;
    // The client has gone, or has not kept to what it announced.
    throw new PawlError("REQUEST_INVALID", { message: "The body broke off before its end.", cause: error });
  } finally {
    currentRequest()?.release("bodies");
  }
}

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
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

/**
 * A body that must be JSON, and say so: a page of another origin could send any other kind without being asked. Throws
 * `CONTENT_TYPE_REFUSED`, `BODY_TOO_LARGE`, `REQUEST_INVALID`.
 *
 * `whereEmpty`: what no body at all stands for; absent: there must be one.
 */
export async function readJsonBody(request: Request, maxBytes: number, whereEmpty?: Json): Promise<Json> {
  const type = request.headers.get("content-type");
  if (type !== null && !JSON_TYPE.test(type)) throw notJson(`The body is \`${type.slice(0, 100)}\`.`);
  const encoding = request.headers.get("content-encoding") ?? "identity";
  if (encoding !== "identity") {
    const message = `The body is encoded (\`Content-Encoding: ${encoding}\`), and is read as it is.`;
    throw new PawlError("REQUEST_INVALID", { message, remedy: "Send plain JSON, without `Content-Encoding`." });
  }
  const text = decodeUtf8(await readBody(request, maxBytes), "keep");
  if (text === undefined) throw new PawlError("REQUEST_INVALID", { message: "The body is not valid UTF-8." });
  if (type === null && text !== "") throw notJson("The request does not say what its body is.");
  if (text.trim() !== "") {
    holdInMemory(weighJson(text));
    // To read a long one keeps all others waiting, and what comes next is as long.
    // Some clients begin with a byte order mark, which a reader of JSON may ignore (RFC 8259, section 8.1).
    const parse = () => parseJson(text.startsWith("\ufeff") ? text.slice(1) : text, "The body");
    if (text.length <= LONG_BODY) return parse();
    const body = await inTurn(parse);
    await passTurn();
    return body;
  }
  if (whereEmpty !== undefined) return whereEmpty;
  throw new PawlError("REQUEST_INVALID", { message: "The request has no body." });
}

const JSON_TYPE = /^\s*application\/(?:json|[\w.+-]+\+json)\s*(?:;|$)/i;

function notJson(message: string): PawlError {
  return new PawlError("CONTENT_TYPE_REFUSED", { message });
}

function tooLarge(maxBytes: number): PawlError {
  return new PawlError("BODY_TOO_LARGE", { message: `The body is larger than ${maxBytes} bytes.` });
}

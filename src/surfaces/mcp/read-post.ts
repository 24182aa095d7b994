import { ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { Json } from "../../core/json.ts";

/** The body of a request, or the answer to a request that cannot be read. */
export type Post = { readonly body: Json } | { readonly refusal: Response };

const TOO_LARGE = -32_000;

/** No more than the limit is ever in memory. */
export async function readPost(request: Request, maxBytes: number): Promise<Post> {
  const bytes = await readBytes(request, maxBytes);
  if (bytes === undefined) return refuse(413, TOO_LARGE, `The body is larger than ${maxBytes} bytes.`);
  try {
    return { body: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as Json };
  } catch {
    return refuse(400, ProtocolErrorCode.ParseError, "Parse error: the body is not JSON in UTF-8.");
  }
}

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) return undefined;
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels the rest.
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function refuse(status: number, code: number, message: string): Post {
  return { refusal: Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status }) };
}

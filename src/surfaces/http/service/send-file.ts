import { basename } from "node:path/posix";

/**
 * A stored file as a download. Whatever is in it, no browser shows it as a page of ours: files come from agents, models and
 * other people.
 */
export function sendFile(path: string, content: Uint8Array): Response {
  const name = basename(path);
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, "_");
  return new Response(new Uint8Array(content), {
    headers: {
      "content-type": "application/octet-stream",
      "content-length": String(content.byteLength),
      "content-disposition": `attachment; filename="${plain}"; filename*=UTF-8''${encodeExtended(name)}`,
      "content-security-policy": "sandbox; default-src 'none'",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    },
  });
}

/** The encoding of RFC 8187. */
function encodeExtended(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

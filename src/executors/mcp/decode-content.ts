import type { Json } from "../../core/json.ts";

const BASE64 = /^[A-Za-z0-9+/\r\n]{16,}={0,2}\s*$/;

/**
 * Two documents of the format disagree: files come as plain text or as base64. Plain goes first; base64 where the answer
 * says so, and where the text is nothing else: a YAML mapping has a colon, which base64 has not.
 */
export function decodeContent(content: string, encoding: Json | undefined): string {
  const isFlagged = encoding === "base64";
  if (!isFlagged && (encoding !== undefined || !BASE64.test(content))) return content;
  const decoded = decodeBase64(content);
  return decoded ?? content;
}

function decodeBase64(content: string): string | undefined {
  const packed = content.replace(/\s/g, "");
  if (packed.length % 4 !== 0) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(packed, "base64"));
  } catch {
    return undefined;
  }
}

import type { IncomingHttpHeaders } from "node:http";

export type Page = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string };

const TEXT_TYPE = /^(?:text\/|application\/(?:json|xml|javascript|[\w.+-]+\+(?:json|xml))(?:;|$))/i;
const HTML_TYPE = /^(?:text\/html|application\/xhtml\+xml)/i;
/** HTML names its charset near its beginning. */
const CHARSET_WITHIN_BYTES = 2_048;

/** The text of an answer as a model can read it; of HTML what a reader would see. */
export async function readPage(body: Buffer, headers: IncomingHttpHeaders): Promise<Page> {
  const type = headers["content-type"] ?? guessType(body);
  if (!TEXT_TYPE.test(type))
    return { ok: false, reason: `It is ${type.split(";")[0]?.slice(0, 80)}, which is no text.` };
  const text = decode(body, type);
  return { ok: true, text: HTML_TYPE.test(type) ? await toReadable(text) : text };
}

function guessType(body: Buffer): string {
  const start = body.subarray(0, CHARSET_WITHIN_BYTES);
  if (start.includes(0)) return "application/octet-stream";
  return /^\s*<(?:!doctype html|html)/i.test(start.toString("latin1")) ? "text/html" : "text/plain";
}

function decode(body: Buffer, type: string): string {
  const said = /charset\s*=\s*["']?([\w:.-]+)/i;
  const start = body.subarray(0, CHARSET_WITHIN_BYTES).toString("latin1");
  const charset = said.exec(type)?.[1] ?? (HTML_TYPE.test(type) ? said.exec(start)?.[1] : undefined) ?? "utf-8";
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}

async function toReadable(html: string): Promise<string> {
  const { convert } = await import("html-to-text");
  const hasMain = /<main[\s>]/i.test(html);
  return convert(html, {
    wordwrap: false,
    baseElements: { selectors: [hasMain ? "main" : "body"], returnDomByDefault: true },
    limits: { maxDepth: 200, maxInputLength: html.length },
    selectors: [
      { selector: "img", format: "skip" },
      { selector: "nav", format: "skip" },
      { selector: "a", options: { hideLinkHrefIfSameAsText: true, ignoreHref: false } },
      ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({ selector, options: { uppercase: false } })),
      { selector: "table", format: "dataTable", options: { uppercaseHeaderCells: false } },
    ],
  });
}

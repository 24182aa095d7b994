import { wrong } from "../template-error.ts";
import { escapeHtml } from "../values/escape-html.ts";
import { sliceText, textLength } from "../values/text.ts";

interface UrlizeOptions {
  /** Longer addresses are shown cut. */
  readonly limit: number | undefined;
  readonly rel: string;
  readonly target: string | undefined;
  readonly schemes: readonly string[];
}

const WORD = "[\\p{L}\\p{N}_%-]";
const ADDRESS = new RegExp(
  `^(?:(?:https?://|www\\.)(?:(?:${WORD}+\\.)+)?(?:[a-z]{2,63}|xn--[\\p{L}\\p{N}_%]{2,59})` +
    `|(?:${WORD}{2,63}\\.)+(?:com|net|int|edu|gov|org|info|mil)` +
    "|https?://(?:\\d{1,3}(?:\\.\\d{1,3}){3}|\\[(?:[\\da-f]{0,4}:){2}(?:[\\da-f]{0,4}:?){1,6}\\]))" +
    "(?::\\d{1,5})?(?:[/?#]\\S*)?$",
  "iu",
);
const EMAIL = /^\S+@[\p{L}\p{N}_][\p{L}\p{N}_.-]*\.[\p{L}\p{N}_]+$/u;
const SCHEME = /^[\w.+-]{2,}:\/{0,2}$/;
const PAIRS = [
  ["(", ")"],
  ["<", ">"],
  ["&lt;", "&gt;"],
] as const;
/** The patterns above go through a word more than once. Nobody writes longer addresses. */
const LONGEST_WORD = 2_048;

/** Makes links of the addresses in a text that is HTML already. */
export function urlize(html: string, options: UrlizeOptions): string {
  const wrongScheme = options.schemes.find((scheme) => !SCHEME.test(scheme));
  if (wrongScheme !== undefined) throw wrong(`'${wrongScheme}' is not a valid URI scheme prefix.`);
  return html
    .split(/(\s+)/)
    .map((word) => (word.length > LONGEST_WORD ? word : linkWord(word, options)))
    .join("");
}

function linkWord(word: string, options: UrlizeOptions): string {
  const [head = ""] = /^(?:[(<]|&lt;)+/.exec(word) ?? [];
  let middle = word.slice(head.length);
  let tail = "";
  for (let end = endOf(middle); end !== undefined; end = endOf(middle)) {
    tail = end + tail;
    middle = middle.slice(0, -end.length);
  }
  for (const [open, close] of PAIRS) {
    const moved = Math.min(
      countOf(middle, open) - countOf(middle, close) > 0 ? countOf(middle, open) : 0,
      countOf(tail, close),
    );
    for (let count = 0; count < moved; count += 1) {
      const end = tail.indexOf(close) + close.length;
      middle += tail.slice(0, end);
      tail = tail.slice(end);
    }
  }
  return head + link(middle, options) + tail;
}

/** Punctuation behind an address. */
function endOf(text: string): string | undefined {
  return [")", ">", ".", ",", "\n", "&gt;"].find((end) => text.endsWith(end));
}

function link(text: string, { limit, rel, target, schemes }: UrlizeOptions): string {
  const attributes = ` rel="${escapeHtml(rel)}"${target === undefined ? "" : ` target="${escapeHtml(target)}"`}`;
  if (ADDRESS.test(text)) {
    const address = /^https?:\/\//.test(text) ? text : `https://${text}`;
    const shown = limit !== undefined && textLength(text) > limit ? `${sliceText(text, 0, limit)}...` : text;
    return `<a href="${address}"${attributes}>${shown}</a>`;
  }
  if (text.startsWith("mailto:") && EMAIL.test(text.slice(7))) return `<a href="${text}">${text.slice(7)}</a>`;
  if (text.includes("@") && !/^(?:www\.|@)/.test(text) && !text.includes(":") && EMAIL.test(text))
    return `<a href="mailto:${text}">${text}</a>`;
  const scheme = schemes.find((each) => text !== each && text.startsWith(each));
  return scheme === undefined ? text : `<a href="${text}"${attributes}>${text}</a>`;
}

function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}

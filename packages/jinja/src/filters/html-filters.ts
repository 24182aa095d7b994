import { FunctionTable } from "../functions/builtin.ts";
import { wrong } from "../template-error.ts";
import { escapeHtml } from "../values/escape-html.ts";
import { isIterable, iterate, toList } from "../values/iterate.ts";
import { toText } from "../values/print.ts";
import { sliceText, splitWords, textLength } from "../values/text.ts";
import { Dict, isText, Markup, type Rendering, typeName, Undefined, type Value } from "../values/value.ts";
import { toJsonText } from "./json-text.ts";

const table = new FunctionTable();
export const htmlFilters = table.functions;

/** HTML stays as it is; everything else is escaped. */
export function toHtml(value: Value, { meter }: Rendering): string {
  return value instanceof Markup ? value.text : paid(escapeHtml(toText(value, meter)), meter);
}

function paid(text: string, meter: Rendering["meter"]): string {
  meter.spendText(text.length);
  return text;
}

for (const name of ["escape", "e"]) table.add(name, {}, (value, _, rendering) => new Markup(toHtml(value, rendering)));

table
  .add("forceescape", {}, (value, _, { meter }) => new Markup(escapeHtml(toText(value, meter))))
  .add("safe", {}, (value, _, { meter }) => new Markup(toText(value, meter)))
  .add("striptags", {}, (value, _, { meter }) => {
    const html = toText(value, meter);
    meter.spendText(html.length * 4);
    return stripTags(html);
  })
  .add("xmlattr", { autospace: true }, (value, given, rendering) => {
    if (value instanceof Undefined) throw value.fault();
    if (!(value instanceof Dict)) throw wrong(`'${typeName(value)}' object has no attribute 'items'`);
    const parts: string[] = [];
    for (const [key, item] of value.entries.values()) {
      rendering.meter.spend();
      if (item === null || item instanceof Undefined) continue;
      const name = toText(key, rendering.meter);
      if (/[\s/>=]/.test(name)) throw wrong("a character is not allowed in the name of an attribute");
      parts.push(`${escapeHtml(name)}="${toHtml(item, rendering)}"`);
    }
    const text = parts.length > 0 && given.isTrue("autospace") ? ` ${parts.join(" ")}` : parts.join(" ");
    return rendering.autoescape ? new Markup(text) : text;
  })
  .add(
    "urlize",
    { trim_url_limit: null, nofollow: false, target: null, rel: null, extra_schemes: null },
    (value, given, rendering) => {
      const rel = new Set([...splitWords(given.optionalText("rel") ?? ""), "noopener"]);
      if (given.isTrue("nofollow")) rel.add("nofollow");
      const schemes = given.value("extra_schemes");
      const html = toHtml(value, rendering);
      rendering.meter.spendText(html.length * 16);
      const text = urlize(html, {
        limit: given.optionalSize("trim_url_limit"),
        rel: [...rel].sort().join(" "),
        target: given.optionalText("target"),
        schemes: schemes === null ? [] : toList(schemes, rendering.meter).map((each) => toText(each, rendering.meter)),
      });
      rendering.meter.spendText(text.length);
      return rendering.autoescape ? new Markup(text) : text;
    },
  )
  .add("urlencode", {}, (value, _, { meter }) => {
    if (isText(value) || !isIterable(value)) return quoteUrl(toText(value, meter), "/");
    const pairs =
      value instanceof Dict
        ? [...value.entries.values()]
        : Array.from(iterate(value, meter), (pair) => toList(pair, meter));
    return pairs
      .map(([key = null, item = null]) => `${quoteQuery(toText(key, meter))}=${quoteQuery(toText(item, meter))}`)
      .join("&");
  })
  .add("tojson", { indent: null }, (value, given, rendering) => {
    const indent = given.value("indent");
    const step = indent === null ? undefined : isText(indent) ? toText(indent, rendering.meter) : given.size("indent");
    const text = toJsonText(value, step, rendering.meter);
    return new Markup(text.replace(/[<>&']/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`));
  });

function quoteQuery(text: string): string {
  return quoteUrl(text, "").replaceAll("%20", "+");
}

/** As Python's `quote`. */
function quoteUrl(text: string, safe: string): string {
  const quoted = encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return safe === "/" ? quoted.replaceAll("%2F", "/") : quoted;
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\xa0",
  copy: "©",
  reg: "®",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  euro: "€",
};

function stripTags(html: string): string {
  const withoutComments = removeBetween(html, "<!--", "-->");
  const text = splitWords(removeBetween(withoutComments, "<", ">")).join(" ");
  return text.replace(/&(?:#(\d+)|#[xX]([\da-fA-F]+)|(\w+));/g, (all, decimal, hex, name) => {
    if (name !== undefined) return Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] ?? all) : all;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : "\ufffd";
  });
}

/** Once through the text: a regular expression would look for an end from every beginning. */
function removeBetween(text: string, begin: string, end: string): string {
  const kept: string[] = [];
  let at = 0;
  for (;;) {
    const start = text.indexOf(begin, at);
    const stop = start < 0 ? -1 : text.indexOf(end, start + begin.length);
    if (stop < 0) return kept.join("") + text.slice(at);
    kept.push(text.slice(at, start));
    at = stop + end.length;
  }
}

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
/** The patterns above go through a word more than once. Real addresses are not longer. */
const LONGEST_WORD = 2_048;

/** Makes links of the addresses in a text that is HTML already. */
function urlize(html: string, options: UrlizeOptions): string {
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

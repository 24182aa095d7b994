/** What Python takes for white space. */
const SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const IS_SPACE = new RegExp(`^${SPACE}$`);
const FIRST_SPACE = new RegExp(SPACE);
const SURROGATES = /[\ud800-\udfff]/;

export function isSpace(char: string): boolean {
  return IS_SPACE.test(char);
}

/** The place of the first white space, or -1. */
export function findSpace(text: string): number {
  return text.search(FIRST_SPACE);
}

export function stripStart(text: string, isStripped: (char: string) => boolean = isSpace): string {
  let start = 0;
  for (const char of text) {
    if (!isStripped(char)) break;
    start += char.length;
  }
  return text.slice(start);
}

/** Walks from the end: a regular expression would try from every place. */
export function stripEnd(text: string, isStripped: (char: string) => boolean = isSpace): string {
  let end = text.length;
  while (end > 0) {
    const low = text.charCodeAt(end - 1);
    const width = low >= 0xdc00 && low <= 0xdfff && end > 1 ? 2 : 1;
    if (!isStripped(text.slice(end - width, end))) break;
    end -= width;
  }
  return text.slice(0, end);
}

/** Python counts code points. */
export function textLength(text: string): number {
  if (!SURROGATES.test(text)) return text.length;
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

/** By code points; both ends are within the text. */
export function sliceText(text: string, start: number, end?: number): string {
  if (!SURROGATES.test(text)) return text.slice(start, end);
  return [...text].slice(start, end).join("");
}

/** The number of code points before an offset. */
export function toPosition(text: string, offset: number): number {
  return textLength(text.slice(0, offset));
}

/** The parts between white space. */
export function splitWords(text: string): string[] {
  return text.split(new RegExp(`${SPACE}+`)).filter((word) => word !== "");
}

const RARE_LINE_END = "[\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029]";
const LINE_END = new RegExp(`\\r\\n|[\\n\\r]|${RARE_LINE_END}`);
const BEHIND_LINE_END = new RegExp(`(?<=\\n|\\r(?!\\n)|${RARE_LINE_END})`);

/** As Python's `splitlines`: a last line end makes no empty line. */
export function splitLines(text: string, keepEnds = false): string[] {
  const lines = text.split(keepEnds ? BEHIND_LINE_END : LINE_END);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

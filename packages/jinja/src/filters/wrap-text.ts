import type { Meter } from "../meter.ts";
import { wrong } from "../template-error.ts";
import { stripEnd } from "../values/text.ts";

interface WrapOptions {
  readonly width: number;
  readonly breaksWords: boolean;
  readonly breaksHyphens: boolean;
}

const SPACE = "[\\t\\n\\v\\f\\r ]";
/** Words, spaces, and the parts of words with hyphens, as Python's `textwrap` finds them. */
const WITH_HYPHENS = new RegExp(
  `(${SPACE}+|(?<=[\\p{L}\\p{N}_!"'&.,?])-{2,}(?=[\\p{L}\\p{N}_])|[^\\t\\n\\v\\f\\r ]+?(?:` +
    "-(?:(?<=[\\p{L}_]{2}-)|(?<=[\\p{L}_]-[\\p{L}_]-))(?=[\\p{L}_]-?[\\p{L}_])" +
    `|(?=${SPACE}|$)|(?<=[\\p{L}\\p{N}_!"'&.,?])(?=-{2,}[\\p{L}\\p{N}_])))`,
  "u",
);
const WORDS_ONLY = new RegExp(`(${SPACE}+)`);

/** Wraps one paragraph, as Python's `textwrap.wrap` does. */
export function wrapText(text: string, options: WrapOptions, meter: Meter): string[] {
  const { width } = options;
  if (width <= 0) throw wrong(`invalid width ${width} (must be > 0)`);
  const chunks = text.split(options.breaksHyphens ? WITH_HYPHENS : WORDS_ONLY).filter((chunk) => chunk);
  chunks.reverse();
  meter.spend(chunks.length);
  const lines: string[] = [];
  while (chunks.length > 0) {
    const line = takeLine(chunks, lines.length > 0, options);
    meter.spend();
    if (line.length > 0) lines.push(line.join(""));
  }
  return lines;
}

/** Takes chunks from the end of the list while they fit. */
function takeLine(chunks: string[], isLater: boolean, { width, breaksWords, breaksHyphens }: WrapOptions): string[] {
  const line: string[] = [];
  let length = 0;
  if (isLater && isBlank(chunks.at(-1))) chunks.pop();
  for (let next = chunks.at(-1); next !== undefined && length + next.length <= width; next = chunks.at(-1)) {
    line.push(next);
    length += next.length;
    chunks.pop();
  }
  const rest = chunks.at(-1);
  if (rest !== undefined && rest.length > width) {
    const room = width - length;
    if (breaksWords) {
      const end = endOfPart(rest, room, breaksHyphens);
      line.push(rest.slice(0, end));
      chunks[chunks.length - 1] = rest.slice(end);
    } else if (line.length === 0) {
      line.push(rest);
      chunks.pop();
    }
  }
  if (isBlank(line.at(-1))) line.pop();
  return line;
}

function endOfPart(chunk: string, room: number, breaksHyphens: boolean): number {
  const hyphen = breaksHyphens && chunk.length > room ? chunk.lastIndexOf("-", room - 1) : -1;
  return hyphen > 0 && /[^-]/.test(chunk.slice(0, hyphen)) ? hyphen + 1 : Math.max(room, 0);
}

function isBlank(chunk: string | undefined): boolean {
  return chunk !== undefined && stripEnd(chunk) === "";
}

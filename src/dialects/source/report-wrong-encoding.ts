import type { ProblemList } from "../problem-list.ts";

/** The character that a decoder puts where bytes are no UTF-8. */
const REPLACEMENT = "\uFFFD";

/** Warns of the first place only: all of the file has the same encoding. */
export function reportWrongEncoding(problems: ProblemList): void {
  const { text } = problems.source;
  const start = text.indexOf(REPLACEMENT);
  if (start === -1) return;
  let end = start;
  while (text[end] === REPLACEMENT) end += 1;
  problems.warning({ code: "FILE_NOT_TEXT", at: { start, end }, message: "The text is not valid UTF-8 here." });
}

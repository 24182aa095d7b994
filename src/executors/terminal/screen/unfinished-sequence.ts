/** A sequence that is longer than this is no sequence any more. */
const MAX_LENGTH = 4_096;

const ESC = "\\u001b";
const BELL = "\\u0007";
/** From the escape on: what a final character, or the end mark of a text, has not come for. */
const UNFINISHED = new RegExp(`^${ESC}(?:[ -/]*|\\[[0-?]*[ -/]*|[\\]PX^_][^${BELL}${ESC}]*${ESC}?)$`);

/** The beginning of an escape sequence at the end of a text whose end is still to come; else nothing. */
export function unfinishedSequence(text: string): string {
  const end = text.slice(-MAX_LENGTH);
  const last = end.lastIndexOf("\u001b");
  if (last === -1) return "";
  // The end mark of a text begins with an escape itself.
  const before = end.lastIndexOf("\u001b", last - 1);
  for (const from of last > 0 && before !== -1 ? [before, last] : [last]) {
    const rest = end.slice(from);
    if (UNFINISHED.test(rest)) return rest;
  }
  return "";
}

/** Text of a definition as it may stand in a message or on a terminal: no control characters, so no escape sequences. */
export function toPrintable(text: string): string {
  return text.replace(UNPRINTABLE, (char) => (char === "\t" ? " " : "\ufffd"));
}

/** A piece of a definition inside a message, in one line and cut to a readable length. */
export function toExcerpt(text: string): string {
  const short = text.length <= LONGEST_EXCERPT ? text : `${text.slice(0, LONGEST_EXCERPT - 1)}…`;
  return toPrintable(short.replace(/\r?\n/g, " "));
}

export function capitalize(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

const LONGEST_EXCERPT = 60;

/** Control characters, line separators, and what turns the direction of writing around. */
const UNPRINTABLE = /[\p{Control}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

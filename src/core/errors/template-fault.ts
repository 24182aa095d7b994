/** A fault in a template, and its place. Lines and columns start at 1. */
export interface TemplateFault {
  readonly reason: string;
  readonly line?: number;
  readonly column?: number;
  readonly length?: number;
}

const LONGEST_REASON = 300;

/**
 * Reads the error text of the template engine: `reason (in NAME:LINE)`, then the lines around the place with carets under
 * it, then a dump of the variables, which may be large and secret and is left out.
 */
export function readTemplateFault(text: string): TemplateFault {
  const first = text.slice(0, LONGEST_REASON).split("\n", 1)[0] ?? "";
  const [, reason = first, line] = /^(.*?)(?: \(in [^()]*:(\d+)\))?$/.exec(first) ?? [];
  if (line === undefined) return { reason };
  // The line with the carets begins with an `i` instead of a line number.
  const [, blanks, carets] = /^ {5}i ( *)(\^+)/m.exec(text) ?? [];
  if (blanks === undefined || carets === undefined) return { reason, line: Number(line) };
  return { reason, line: Number(line), column: blanks.length + 1, length: carets.length };
}

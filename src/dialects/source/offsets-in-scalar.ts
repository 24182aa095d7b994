import type { SourceText } from "./source-text.ts";
import type { YamlScalar } from "./yaml-node.ts";

/**
 * Where each character of a scalar's text stands in the file, and where the text ends: one more than it has characters.
 * Undefined where YAML has changed the text too much to tell.
 */
export function offsetsInScalar(scalar: YamlScalar, { text: file }: SourceText): readonly number[] | undefined {
  const written = file.slice(scalar.start, scalar.end);
  const value = String(scalar.value);
  const found = findSigns(written, value);
  return found?.map((offset) => scalar.start + offset);
}

/** YAML folds lines and removes indentation, which is all white space: everything else comes in the same order. */
function findSigns(written: string, value: string): readonly number[] | undefined {
  const [first = ""] = written;
  const quote = first === "'" || first === '"' ? first : undefined;
  const isBlock = first === "|" || first === ">";
  const offsets: number[] = [];
  let at = quote !== undefined ? 1 : isBlock ? written.indexOf("\n") + 1 : 0;
  for (const sign of value.split("")) {
    while (!isSpace(sign) && isSpace(written[at])) at += 1;
    offsets.push(at);
    // White space that is not there as it is stands right behind what comes before it.
    if (isSpace(sign)) at += written[at] === sign ? 1 : 0;
    else {
      const read = readSign(written, at, quote);
      if (read?.text !== sign) return undefined;
      at += read.length;
    }
  }
  return [...offsets, at];
}

function isSpace(sign: string | undefined): boolean {
  return sign === " " || sign === "\n" || sign === "\t" || sign === "\r";
}

/** Escapes with a code or a name are left to the whole scalar: expressions hardly have them. */
function readSign(
  written: string,
  at: number,
  quote: string | undefined,
): { readonly text: string; readonly length: number } | undefined {
  const text = written[at] ?? "";
  if (quote === "'" && written.startsWith("''", at)) return { text: "'", length: 2 };
  if (quote !== '"' || text !== "\\") return { text, length: 1 };
  const escaped = written[at + 1] ?? "";
  return escaped === '"' || escaped === "\\" || escaped === "/" ? { text: escaped, length: 2 } : undefined;
}

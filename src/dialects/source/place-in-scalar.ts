import type { TemplateFault } from "#jinja";
import type { Range, SourceText } from "./source-text.ts";
import type { YamlScalar } from "./yaml-node.ts";

/** The place of a piece of a scalar's text in the file; the whole scalar where YAML has changed the text too much to tell. */
export function placeInScalar(
  scalar: YamlScalar,
  { offset, length }: { readonly offset: number; readonly length: number },
  source: SourceText,
): Range {
  const offsets = offsetsInScalar(scalar, source);
  const start = offsets?.[offset];
  const end = offsets?.[offset + length] ?? scalar.end;
  return start === undefined ? scalar : { start, end: Math.max(start + 1, end) };
}

/** The place of a template fault in the file. Undefined where YAML has changed the text too much to tell. */
export function placeOfFault(
  { value, at }: { readonly value: string; readonly at: YamlScalar },
  fault: TemplateFault,
  source: SourceText,
): Range | undefined {
  if (fault.line === undefined) return undefined;
  const lines = value.split("\n");
  const line = lines[fault.line - 1];
  const offsets = offsetsInScalar(at, source);
  if (line === undefined || offsets === undefined) return undefined;
  const lineStart = lines.slice(0, fault.line - 1).join("\n").length + (fault.line === 1 ? 0 : 1);
  const indentation = line.length - line.trimStart().length;
  const start = offsets[lineStart + (fault.column === undefined ? indentation : fault.column - 1)];
  const lineEnd = offsets[lineStart + line.trimEnd().length];
  if (start === undefined || lineEnd === undefined) return undefined;
  return { start, end: fault.column === undefined ? Math.max(start + 1, lineEnd) : start + (fault.length ?? 1) };
}

/**
 * The offset in the file of each character of a scalar's text, and of its end: one more than it has characters.
 * Undefined where YAML has changed the text too much to tell.
 */
function offsetsInScalar(scalar: YamlScalar, { text: file }: SourceText): readonly number[] | undefined {
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

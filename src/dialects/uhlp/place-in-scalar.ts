import type { TemplateFault } from "../../core/errors/template-fault.ts";
import type { Text } from "../map-reader.ts";
import type { Range, SourceText } from "../source-text.ts";

/**
 * Where a place in a text stands in the file. Undefined where YAML has changed the text too much to tell: folded, escaped,
 * or continued on the next line.
 */
export function placeInScalar(text: Text, fault: TemplateFault, { text: file }: SourceText): Range | undefined {
  if (fault.line === undefined) return undefined;
  const from = findLine(text, fault.line, file);
  if (from === undefined) return undefined;
  // Whatever is before it is indentation, or a quote.
  const line = (text.value.split("\n")[fault.line - 1] ?? "").trimEnd();
  const found = file.indexOf(line, from);
  if (found === -1 || found > text.at.end) return undefined;
  if (fault.column === undefined) return { start: found, end: found + line.length };
  const start = found + fault.column - 1;
  return { start, end: start + (fault.length ?? 1) };
}

function findLine({ value, at }: Text, line: number, file: string): number | undefined {
  if (file.startsWith("|", at.start)) return skipLines(file, at.start, line);
  const isVerbatim = [at.start, at.start + 1].some((start) => file.startsWith(value.trimEnd(), start));
  return isVerbatim ? at.start : undefined;
}

function skipLines(text: string, from: number, lines: number): number {
  let at = from;
  for (let skipped = 0; skipped < lines; skipped += 1) at = text.indexOf("\n", at) + 1;
  return at;
}

import type { Range, SourceText } from "../source-text.ts";
import type { YamlScalar } from "../yaml-node.ts";

/** Where a piece of a scalar's text stands in the file; the whole scalar where YAML has changed the text too much to tell. */
export function placeInExpression(
  scalar: YamlScalar,
  { offset, length }: { readonly offset: number; readonly length: number },
  source: SourceText,
): Range {
  const written = source.text.slice(scalar.start, scalar.end);
  const value = String(scalar.value);
  const offsets = written.includes("\n") ? undefined : offsetsOf(written, value);
  const start = offsets?.[offset];
  const end = offsets?.[offset + length] ?? written.length;
  return start === undefined ? scalar : { start: scalar.start + start, end: scalar.start + Math.max(start + 1, end) };
}

/** Where each character of the value is written, and where the value ends. */
function offsetsOf(written: string, value: string): readonly number[] | undefined {
  if (written === value) return Array.from({ length: value.length + 1 }, (_, index) => index);
  const [quote] = written;
  if (quote !== "'" && quote !== '"') return undefined;
  const offsets: number[] = [];
  let read = "";
  for (let at = 1; at < written.length - 1; ) {
    const char = readQuoted(written, at, quote);
    if (char === undefined) return undefined;
    offsets.push(at);
    read += char.text;
    at += char.length;
  }
  return read === value ? [...offsets, written.length - 1] : undefined;
}

/** Escapes with a code or a name are left to the whole scalar: expressions hardly have them. */
function readQuoted(written: string, at: number, quote: string): { text: string; length: number } | undefined {
  const text = written[at] ?? "";
  if (quote === "'") return written.startsWith("''", at) ? { text: "'", length: 2 } : { text, length: 1 };
  if (text !== "\\") return { text, length: 1 };
  const escaped = written[at + 1] ?? "";
  return escaped === '"' || escaped === "\\" || escaped === "/" ? { text: escaped, length: 2 } : undefined;
}

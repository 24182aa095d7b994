import { offsetsInScalar } from "../../source/offsets-in-scalar.ts";
import type { Range, SourceText } from "../../source/source-text.ts";
import type { YamlScalar } from "../../source/yaml-node.ts";

/** Where a piece of a scalar's text stands in the file; the whole scalar where YAML has changed the text too much to tell. */
export function placeInExpression(
  scalar: YamlScalar,
  { offset, length }: { readonly offset: number; readonly length: number },
  source: SourceText,
): Range {
  const offsets = offsetsInScalar(scalar, source);
  const start = offsets?.[offset];
  const end = offsets?.[offset + length] ?? scalar.end;
  return start === undefined ? scalar : { start, end: Math.max(start + 1, end) };
}

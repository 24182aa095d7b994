import type { TemplateFault } from "../../../core/errors/template-fault.ts";
import type { Text } from "../../shape/shape.ts";
import { offsetsInScalar } from "../../source/offsets-in-scalar.ts";
import type { Range, SourceText } from "../../source/source-text.ts";

/** Where a place in a text stands in the file. Undefined where YAML has changed the text too much to tell. */
export function placeInScalar(text: Text, fault: TemplateFault, source: SourceText): Range | undefined {
  if (fault.line === undefined) return undefined;
  const lines = text.value.split("\n");
  const line = lines[fault.line - 1];
  const offsets = offsetsInScalar(text.at, source);
  if (line === undefined || offsets === undefined) return undefined;
  const lineStart = lines.slice(0, fault.line - 1).join("\n").length + (fault.line === 1 ? 0 : 1);
  const indentation = line.length - line.trimStart().length;
  const start = offsets[lineStart + (fault.column === undefined ? indentation : fault.column - 1)];
  const lineEnd = offsets[lineStart + line.trimEnd().length];
  if (start === undefined || lineEnd === undefined) return undefined;
  return { start, end: fault.column === undefined ? Math.max(start + 1, lineEnd) : start + (fault.length ?? 1) };
}

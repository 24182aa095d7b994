import { orElse } from "../or-else.ts";

/** A path of an application with parameters: `/api/tasks/{taskId}`. */
export interface PathPattern {
  readonly written: string;
  readonly segments: readonly Segment[];
}

/** `isRest`: all that is left of the path, at least one segment. */
type Segment = { readonly literal: string } | { readonly parameter: string; readonly isRest?: true };

/** Why a path cannot be used, for people. */
export type PatternFault = string;

const PARAMETER = /^\{([A-Za-z_][A-Za-z0-9_-]*)(\*?)\}$/;

/** A `/` at the end means nothing. Literals are compared as they are after percent-decoding. */
export function parsePathPattern(written: string): PathPattern | { readonly fault: PatternFault } {
  if (!written.startsWith("/")) return { fault: `"${written}" does not begin with \`/\`.` };
  if (/[?#\\]/.test(written)) return { fault: `"${written}" has a character that no path has: ? # \\.` };
  const segments: Segment[] = [];
  const names = new Set<string>();
  const parts = splitPath(written);
  for (const [index, part] of parts.entries()) {
    const segment = parseSegment(part);
    if ("fault" in segment) return { fault: `"${written}": ${segment.fault}` };
    if ("parameter" in segment && names.has(segment.parameter))
      return { fault: `"${written}" has the parameter {${segment.parameter}} twice.` };
    if ("isRest" in segment && index < parts.length - 1)
      return { fault: `"${written}": {${segment.parameter}*} takes the rest of the path, and stands at its end.` };
    if ("parameter" in segment) names.add(segment.parameter);
    segments.push(segment);
  }
  return { written, segments };
}

/** The segments of a path, still encoded, without the `/` at its end. */
export function splitPath(path: string): readonly string[] {
  const trimmed = path.length > 1 && path.endsWith("/") ? path.slice(1, -1) : path.slice(1);
  return trimmed === "" ? [] : trimmed.split("/");
}

/** Undefined: it is not encoded as it should be. */
export function decodeSegment(segment: string): string | undefined {
  if (!segment.includes("%")) return segment;
  return orElse(() => decodeURIComponent(segment), undefined);
}

function parseSegment(part: string): Segment | { readonly fault: PatternFault } {
  const [, parameter, rest] = PARAMETER.exec(part) ?? [];
  if (parameter !== undefined) return rest === "*" ? { parameter, isRest: true } : { parameter };
  if (part === "") return { fault: "a segment is empty." };
  if (part === "." || part === "..") return { fault: `\`${part}\` is no segment.` };
  if (/[{}*]/.test(part)) return { fault: `\`${part}\` must be a parameter as a whole, such as {id}.` };
  const literal = decodeSegment(part);
  return literal === undefined ? { fault: `\`${part}\` is not encoded as it should be.` } : { literal };
}

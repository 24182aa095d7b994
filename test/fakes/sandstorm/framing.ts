import { writeExact } from "../../../src/core/exact-json.ts";
import type { Json } from "../../../src/core/json.ts";

/** Line ends that SSE allows. The real server sends CRLF. */
export type LineEnd = "\r\n" | "\n" | "\r";

const CRLF: LineEnd = "\r\n";

/** One SSE event for one chunk of the sandbox's stdout, blanks at its ends stripped as the real server does. */
export function toEvent(stdoutChunk: string, lineEnd: LineEnd = CRLF): string {
  const lines = stdoutChunk.trim().split(/\r\n|\n|\r/);
  return `${lines.map((line) => `data: ${line}${lineEnd}`).join("")}${lineEnd}`;
}

/** The usual case: one document, one event. */
export function toEvents(documents: readonly Json[], lineEnd: LineEnd = CRLF): readonly string[] {
  return documents.map((document) => toEvent(writeExact(document), lineEnd));
}

export function toPing(lineEnd: LineEnd = CRLF): string {
  return `: ping - 2026-11-21 20:09:58.765675+00:00${lineEnd}${lineEnd}`;
}

/** Pieces of a text, cut before each of the positions. */
export function cutAt(text: string, positions: readonly number[]): readonly string[] {
  const edges = [0, ...[...positions].sort((a, b) => a - b), text.length];
  return edges.slice(1).map((end, index) => text.slice(edges[index], end));
}

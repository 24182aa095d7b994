import type { Problem, ProblemPlace } from "../core/errors/problem.ts";
import { toPrintable } from "./source/printable.ts";

/** A problem as people read it: `file:line:column severity CODE message`, the lines around it, and the remedy. */
export function renderProblem(problem: Problem, text: string): string {
  const { place, severity, code, message, remedy } = problem;
  const where = place === undefined ? "" : `${place.file ?? "<text>"}:${place.line}:${place.column} `;
  const lines = [toPrintable(`${where}${severity} ${code} ${message}`)];
  if (place !== undefined) lines.push(renderCodeFrame(text, place));
  lines.push(`  remedy: ${toPrintable(remedy)}`);
  return lines.join("\n");
}

/** The lines around a place, with a row of carets under it. Without colours. */
export function renderCodeFrame(text: string, place: ProblemPlace): string {
  const lines = text.split("\n");
  const first = Math.max(1, place.line - LINES_BEFORE);
  const width = String(place.line).length;
  const marked = lines[place.line - 1] ?? "";
  const cutFrom = marked.length <= WIDTH ? 0 : Math.max(0, place.column - 1 - WIDTH / 2);
  const frame = lines.slice(first - 1, place.line).map((line, index) => {
    return `${String(first + index).padStart(width)} | ${cut(line, cutFrom)}`;
  });
  frame.push(`${" ".repeat(width)} | ${carets(cut(marked, cutFrom), place, cutFrom)}`);
  return frame.map((line) => `  ${line.trimEnd()}`).join("\n");
}

const LINES_BEFORE = 1;
/** Longer lines are cut around the place: a definition may be one line of a megabyte. */
const WIDTH = 120;

function cut(line: string, from: number): string {
  return toPrintable(line.slice(from, from + WIDTH).replace(/\r$/, ""));
}

function carets(line: string, place: ProblemPlace, cutFrom: number): string {
  const from = place.column - 1 - cutFrom;
  const endsHere = place.endLine === place.line && place.endColumn !== undefined;
  const to = endsHere ? (place.endColumn ?? place.column) - 1 - cutFrom : line.trimEnd().length;
  return " ".repeat(from) + "^".repeat(Math.max(1, Math.min(to, line.length) - from));
}

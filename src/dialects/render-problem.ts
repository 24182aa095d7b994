import type { Problem } from "../core/errors/problem.ts";
import { renderCodeFrame } from "./code-frame.ts";
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

import type { Problem } from "../../../../core/errors/problem.ts";
import type { Paint } from "../text/paint.ts";

/** Problems of a definition: their code frames, already rendered, and how many of which kind. */
export function renderProblems(
  problems: readonly Pick<Problem, "severity">[],
  frames: readonly string[],
  paint: Paint,
): string {
  const errors = problems.filter(({ severity }) => severity === "error").length;
  const warnings = problems.length - errors;
  const counts = [count(errors, "error"), count(warnings, "warning")].filter((text) => text !== "");
  const style = errors > 0 ? "red" : warnings > 0 ? "yellow" : "green";
  return [...frames, paint(style, counts.length === 0 ? "No problems." : `${counts.join(", ")}.`)].join("\n\n");
}

function count(number: number, what: string): string {
  if (number === 0) return "";
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

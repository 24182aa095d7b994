import type { JsonObject } from "../../core/json.ts";
import type { ShownProblem } from "../../hosts/compiled-definition.ts";

/** A problem in answers: `code`, `severity`, `message`, `remedy`, `rendered` and, where it has one, `place`. */
export function describeProblem({ code, severity, message, remedy, place, rendered }: ShownProblem): JsonObject {
  const common = { code, severity, message, remedy, rendered };
  if (place === undefined) return common;
  const { file, line, column, endLine, endColumn } = place;
  return {
    ...common,
    place: {
      line,
      column,
      ...(file === undefined ? {} : { file }),
      ...(endLine === undefined ? {} : { endLine }),
      ...(endColumn === undefined ? {} : { endColumn }),
    },
  };
}

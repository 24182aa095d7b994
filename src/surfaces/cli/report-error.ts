import { ERRORS } from "../../core/errors/error-table.ts";
import { isPawlError, type PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import { isJsonObject, type Json } from "../../core/json.ts";
import { type Format, paintFor } from "./cli-context.ts";
import { print, tell, tellDefect } from "./print.ts";
import { io } from "./process-io.ts";
import { renderError } from "./render/pages/render-error.ts";

const DEFECT_EXIT_CODE = 1;

/** Says what went wrong: an envelope for programs, one block for people. Returns the exit code. */
export function reportError(error: unknown, format: Format): number {
  if (!isPawlError(error)) {
    tellDefect(error);
    return DEFECT_EXIT_CODE;
  }
  if (format === "text") tellError(error);
  else print(writeExact({ data: null, error: toEnvelopeError(error) }));
  return ERRORS[error.code].exitCode;
}

/** The places first, the last line is what it comes to. */
function tellError(error: PawlError): void {
  const problems = renderedProblems(error.details);
  for (const problem of problems) tell(`${problem}\n`);
  // A single problem is all that it comes to.
  if (problems.length === 1 && problems[0]?.includes(`${error.code} ${error.message}`)) return;
  tell(renderError(error, paintFor(io().stderr)));
}

function toEnvelopeError({ code, message, remedy, details }: PawlError): Json {
  return { code, message, remedy, details: details ?? null };
}

function renderedProblems(details: Json | undefined): readonly string[] {
  const problems = isJsonObject(details) ? details["problems"] : undefined;
  if (!Array.isArray(problems)) return [];
  return problems.flatMap((problem: Json) => {
    const rendered = isJsonObject(problem) ? problem["rendered"] : problem;
    return typeof rendered === "string" ? [rendered] : [];
  });
}

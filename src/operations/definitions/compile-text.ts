import { PawlError } from "../../core/errors/pawl-error.ts";
import { type Grant, withGrant } from "../../core/trust/grant.ts";
import { reportLacks } from "../../dialects/report-lacks.ts";
import type { CompiledDefinition, ShownProblem } from "../../hosts/compiled-definition.ts";
import { reportOnSent } from "./compile/report-on-sent.ts";
import { showProblems, type TextOrigin } from "./compile/report-on-text.ts";
import { describeProblem } from "./describe-problem.ts";

/**
 * A text that must be good. Throws `DEFINITION_INVALID` with every problem in its details; of a file of agents also
 * `PART_NOT_CHOSEN`, `WORKFLOW_NOT_FOUND`, `AGENT_NOT_FOUND`.
 */
export async function compileText(text: string, origin: TextOrigin): Promise<CompiledDefinition> {
  const { definition, problems } = await reportOnSent(text, origin);
  if (definition === undefined) throw definitionInvalid(origin.source, problems);
  return definition;
}

/** A definition that was not compiled from a text, with its grant. Throws `DEFINITION_INVALID` where it wants more. */
export function holdTo(definition: CompiledDefinition, grant: Grant): CompiledDefinition {
  const { text, source, graph } = definition;
  const lacks = reportLacks(graph, grant, { text, file: source });
  if (lacks.length > 0) throw definitionHasErrors(source, showProblems(lacks, text));
  return { ...definition, graph: { ...graph, settings: withGrant(graph.settings, grant) } };
}

export function definitionInvalid(source: string | undefined, problems: readonly ShownProblem[]): PawlError {
  const errors = problems.filter(({ severity }) => severity === "error");
  const [first] = errors;
  // Then the request is wrong, not the definition.
  if (first !== undefined && ABOUT_THE_QUESTION.has(first.code)) {
    const { code, message, remedy } = first;
    return new PawlError(code, { message: source === undefined ? message : `${source}: ${message}`, remedy });
  }
  return definitionHasErrors(source, problems);
}

/** The same, where none of the problems can be about the question. */
export function definitionHasErrors(source: string | undefined, problems: readonly ShownProblem[]): PawlError {
  const errors = problems.filter(({ severity }) => severity === "error");
  const count = errors.length === 1 ? "1 problem" : `${errors.length} problems`;
  return new PawlError("DEFINITION_INVALID", {
    message: `${source ?? "The definition"} has ${count}.`,
    remedy: errors.length === 1 ? "Correct the place shown." : "Correct the places shown.",
    details: { problems: problems.map(describeProblem) },
  });
}

/** The errors that `definitionHasErrors` tells of. Empty for another error. */
export function problemsOf({ details }: PawlError): readonly ShownProblem[] {
  const { problems = [] } = (details ?? {}) as { readonly problems?: readonly ShownProblem[] };
  return problems.filter(({ severity }) => severity === "error");
}

const ABOUT_THE_QUESTION: ReadonlySet<string> = new Set(["PART_NOT_CHOSEN", "WORKFLOW_NOT_FOUND", "AGENT_NOT_FOUND"]);

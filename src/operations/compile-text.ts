import { ERRORS } from "../core/errors/error-table.ts";
import { PawlError } from "../core/errors/pawl-error.ts";
import type { Problem } from "../core/errors/problem.ts";
import { checkGraph } from "../core/graph/check-graph.ts";
import type { Graph } from "../core/graph/graph.ts";
import type { GraphProblem } from "../core/graph/graph-problem.ts";
import { liftControls } from "../core/graph/lift-controls.ts";
import type { Json } from "../core/json.ts";
import { loadDefinition } from "../dialects/load-definition.ts";
import { renderProblem } from "../dialects/render-problem.ts";
import type { CompiledDefinition } from "../hosts/compiled-definition.ts";

export interface DefinitionReport {
  /** Absent where a problem is an error. */
  readonly definition?: CompiledDefinition;
  readonly problems: readonly ShownProblem[];
}

/** A problem with how people read it: the place, the lines around it, the remedy. */
export interface ShownProblem extends Problem {
  readonly rendered: string;
}

/** Checks and compiles a text; everything that is wrong is in the report. */
export async function checkText(text: string, source: string | undefined): Promise<DefinitionReport> {
  const { graph, problems } = await loadDefinition({ text, ...(source === undefined ? {} : { file: source }) });
  const inconsistent = graph === undefined ? [] : checkGraph(graph).map((problem) => toProblem(problem, graph));
  const shown = [...problems, ...inconsistent].map((problem) => ({
    ...problem,
    rendered: renderProblem(problem, text),
  }));
  if (graph === undefined || inconsistent.length > 0) return { problems: shown };
  const definition = { text, graph: liftControls(graph), ...(source === undefined ? {} : { source }) };
  return { definition, problems: shown };
}

/** What a dialect has let through and the interpreter cannot do, at the step that it is about. */
function toProblem({ code, message, path }: GraphProblem, { flow }: Graph): Problem {
  const place = flow.steps.find(({ id }) => id === path?.split("/")[0])?.place;
  const { remedy } = ERRORS[code];
  return { code, severity: "error", message, remedy, ...(place === undefined ? {} : { place }) };
}

/** A text that must be good. Throws `DEFINITION_INVALID` with every problem in its details. */
export async function compileText(text: string, source: string | undefined): Promise<CompiledDefinition> {
  const { definition, problems } = await checkText(text, source);
  if (definition === undefined) throw definitionInvalid(source, problems);
  return definition;
}

function definitionInvalid(source: string | undefined, problems: readonly ShownProblem[]): PawlError {
  const errors = problems.filter(({ severity }) => severity === "error");
  const count = errors.length === 1 ? "1 problem" : `${errors.length} problems`;
  return new PawlError("DEFINITION_INVALID", {
    message: `${source ?? "The definition"} has ${count}.`,
    remedy: errors.length === 1 ? "Correct the place shown." : "Correct the places shown.",
    details: { problems: problems.map(toJson) },
  });
}

function toJson({ code, severity, message, remedy, place, rendered }: ShownProblem): Json {
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

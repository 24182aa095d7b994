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
import { pinFiles } from "./pin-files.ts";
import type { ShownProblem } from "./shown-problem.ts";

export interface DefinitionReport {
  /** Absent where a problem is an error. */
  readonly definition?: CompiledDefinition;
  readonly problems: readonly ShownProblem[];
}

/** Where a text comes from, and what holds for whatever it leaves open. */
export interface TextOrigin {
  /** As a person knows it; shown with every problem. */
  readonly source?: string;
  /** Where scripts and prompts that steps name are looked for, in this order. None: there are none to be found. */
  readonly folders: readonly string[];
  /** Fetches them from where the text comes from, instead of from folders. */
  read?(path: string): Promise<string>;
  readonly maxSteps?: number;
  /** Environment variables that terminal workflows may read; none where it is absent. */
  readonly envAllowed?: readonly string[];
}

/** Checks and compiles a text, with the files that its steps name; everything that is wrong is in the report. */
export async function checkText(text: string, origin: TextOrigin): Promise<DefinitionReport> {
  const { source, folders, read, maxSteps, envAllowed = [] } = origin;
  const definition = { text, ...(source === undefined ? {} : { file: source }) };
  const { graph, problems, files } = await loadDefinition(definition, {
    ...(maxSteps === undefined ? {} : { maxSteps }),
    envAllowed,
  });
  const inconsistent = graph === undefined ? [] : checkGraph(graph).map((problem) => toProblem(problem, graph));
  const shown = [...problems, ...inconsistent].map((problem) => ({
    ...problem,
    rendered: renderProblem(problem, text),
  }));
  if (graph === undefined || inconsistent.length > 0) return { problems: shown };
  const pinned = await pinFiles(graph, {
    text,
    files: files ?? [],
    folders,
    ...(read === undefined ? {} : { read }),
  });
  const all = [...shown, ...pinned.problems];
  if (pinned.graph === undefined) return { problems: all };
  const compiled = { text, graph: liftControls(pinned.graph), ...(source === undefined ? {} : { source }) };
  return { definition: compiled, problems: all };
}

/** What a dialect has let through and the interpreter cannot do, at the step that it is about. */
function toProblem({ code, message, path }: GraphProblem, { flow }: Graph): Problem {
  const place = flow.steps.find(({ id }) => id === path?.split("/")[0])?.place;
  const { remedy } = ERRORS[code];
  return { code, severity: "error", message, remedy, ...(place === undefined ? {} : { place }) };
}

/** A text that must be good. Throws `DEFINITION_INVALID` with every problem in its details. */
export async function compileText(text: string, origin: TextOrigin): Promise<CompiledDefinition> {
  const { definition, problems } = await checkText(text, origin);
  if (definition === undefined) throw definitionInvalid(origin.source, problems);
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

import { PawlError } from "../../core/errors/pawl-error.ts";
import { didYouMean } from "../../dialects/did-you-mean.ts";
import type { CompiledDefinition } from "../../hosts/compiled-definition.ts";
import { onlyStep } from "./only-step.ts";

export interface Narrowing {
  readonly startAt?: string | undefined;
  readonly onlyStep?: string | undefined;
}

/** The part of a definition that a run is about. Throws `STEP_NOT_FOUND`, `NOT_SUPPORTED`. */
export function narrowDefinition(
  definition: CompiledDefinition,
  { startAt, onlyStep: step }: Narrowing,
): CompiledDefinition {
  if (step !== undefined) return onlyStep(definition, step);
  return startAt === undefined ? definition : startAtStep(definition, startAt);
}

/** The definition with another first step; the graph with it is what a run pins. Throws `STEP_NOT_FOUND`, `NOT_SUPPORTED`. */
function startAtStep(definition: CompiledDefinition, step: string): CompiledDefinition {
  const { graph } = definition;
  const { flow } = graph;
  if (flow.kind !== "machine")
    throw new PawlError("NOT_SUPPORTED", {
      message: `"${graph.name}" is no state machine: its first step cannot be chosen.`,
      remedy: "Leave `startAt` out.",
    });
  const ids = flow.steps.map(({ id }) => id);
  if (!ids.includes(step)) {
    const meant = didYouMean(step, ids);
    const hint = meant === undefined ? `Its steps are: ${ids.join(", ")}.` : `Did you mean "${meant}"?`;
    throw new PawlError("STEP_NOT_FOUND", { message: `"${graph.name}" has no step "${step}".`, remedy: hint });
  }
  return flow.start === step ? definition : { ...definition, graph: { ...graph, flow: { ...flow, start: step } } };
}

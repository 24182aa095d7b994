import type { CompiledDefinition } from "../../hosts/compiled-definition.ts";
import { onlyStep } from "./only-step.ts";
import { startAtStep } from "./start-at.ts";

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

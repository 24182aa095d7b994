import type { PawlError } from "../../core/errors/pawl-error.ts";
import type { DagFlow, Step } from "../../core/graph/graph.ts";
import type { StepFunction } from "../../ports/step-functions.ts";
import type { RunningCallback } from "./running-callback.ts";

/** A function of a step, as the engine calls it. */
export interface DefinedFunction {
  readonly does: StepFunction;
  readonly version: number;
}

/** A definition while its callback runs. */
export interface OpenDefinition {
  readonly workflow: string;
  /** By the key that stands in the graph. */
  readonly functions: Map<string, DefinedFunction>;
  /** From then on its references are sealed: they belong into the definition, not into what a step does. */
  isSealed: boolean;
  /** Something that could not be thrown where it happened. */
  fault: PawlError | undefined;
  current: Scope;
  /** The author's callback that is running. */
  running: RunningCallback | undefined;
}

/** One flow of a definition: what is declared while it is open becomes a step of it. */
export interface Scope {
  readonly definition: OpenDefinition;
  /** Where its steps stand, for the keys of their functions. */
  readonly path: string;
  readonly around: { readonly scope: Scope; readonly step: string; readonly ours?: OurStep | undefined } | undefined;
  readonly steps: Map<string, Step>;
  /** What takes back the effects of its steps, in the order of these. */
  readonly undos: { readonly step: string; readonly flow: DagFlow }[];
  /** Steps that hold back all that is declared after them. */
  readonly gates: string[];
  /** What steps of the scopes within need of this one, by the step that holds them. */
  readonly needs: Map<string, Set<string>>;
}

/** A step that the author has not named: each item of a fan-out, or each round of a loop. */
export type OurStep = "item" | "round";

import type { Problem } from "../core/errors/problem.ts";
import type { Graph } from "../core/graph/graph.ts";

/** A checked definition, ready to be pinned: what was written, and what it compiled to. */
export interface CompiledDefinition {
  readonly text: string;
  /** The file or address that it came from, for people. */
  readonly source?: string;
  /** Lifted by `liftControls`, passed by `checkGraph`. */
  readonly graph: Graph;
  /** What is doubtful in it, for the one who starts it. Hosts keep none of it. */
  readonly warnings?: readonly ShownProblem[];
}

/** A problem with how people read it: the place, the lines around it, the remedy. */
export interface ShownProblem extends Problem {
  readonly rendered: string;
}

import type { Graph } from "../core/graph/graph.ts";

/** A checked definition, ready to be pinned: what was written, and what it compiled to. */
export interface CompiledDefinition {
  readonly text: string;
  /** The file or address that it came from, for people. */
  readonly source?: string;
  /** Lifted by `liftControls`, passed by `checkGraph`. */
  readonly graph: Graph;
}

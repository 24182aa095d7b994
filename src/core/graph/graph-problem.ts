/** A fault in a graph, and its step. */
export interface GraphProblem {
  readonly code: "GRAPH_INVALID" | "CONTROL_TOO_COMPLEX";
  readonly message: string;
  /** Keys of the steps from the outermost flow inwards: `batch/fetch`. */
  readonly path?: string;
}

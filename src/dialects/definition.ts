import type { Problem } from "../core/errors/problem.ts";
import type { Graph } from "../core/graph/graph.ts";

/** A workflow as someone wrote it, in any of the four dialects. */
export interface Definition {
  readonly text: string;
  /** Shown with every problem. */
  readonly file?: string;
}

export interface Compiled {
  /** Absent where a problem is an error. */
  readonly graph?: Graph;
  /** In the order of their places. */
  readonly problems: readonly Problem[];
}

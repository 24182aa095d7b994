import type { Problem } from "../core/errors/problem.ts";
import type { Graph, Place } from "../core/graph/graph.ts";

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
  /** What steps name and the text does not hold. */
  readonly files?: readonly NeededFile[];
}

/** A script or a prompt template in the application's folder. */
export interface NeededFile {
  readonly kind: "script" | "prompt";
  readonly path: string;
  /** The step that names it. */
  readonly at: Place;
}

/** What holds where a definition says nothing. */
export interface LoadOptions {
  /** Visits of steps in one pass through a state machine. */
  readonly maxSteps?: number;
  /** Names of environment variables that the configuration lets terminal workflows read. */
  readonly envAllowed?: readonly string[];
}

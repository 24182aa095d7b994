import type { Place } from "../graph/graph.ts";
import type { ErrorCode } from "./error-table.ts";

/** A fault in a definition. Loaders return problems, all at once, and never throw on bad input. */
export interface Problem {
  readonly code: ErrorCode;
  readonly severity: "error" | "warning";
  readonly message: string;
  readonly remedy: string;
  readonly place?: ProblemPlace;
}

/** Lines and columns start at 1; the end is exclusive. */
export interface ProblemPlace extends Place {
  readonly endLine?: number;
  readonly endColumn?: number;
}

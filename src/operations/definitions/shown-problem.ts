import type { Problem } from "../../core/errors/problem.ts";

/** A problem with how people read it: the place, the lines around it, the remedy. */
export interface ShownProblem extends Problem {
  readonly rendered: string;
}

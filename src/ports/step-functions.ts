import type { Graph } from "../core/graph/graph.ts";

export interface StepFunctions {
  /** Undefined: the program has no such function, or has it in another version. */
  find(asked: { readonly key: string; readonly version: number }): StepFunction | undefined;
  /** The version in which the program has it, if it has it at all. */
  versionOf(key: string): number | undefined;
  /** Resolves when functions have been added. */
  changed(): Promise<void>;
}

/** A definition that is pinned with this beginning is a program's own: only a process with its functions drives its runs. */
export const PROGRAM_MARK = '{"program":';

/** Before the hash of a graph: what is pinned there is the list of `Graph.programs`, for databases to look at. */
export const PROGRAMS_PIN = "programs:";

/** The workflows whose functions a process must have to drive a run of the definition. */
export function neededPrograms({ text, graph }: { readonly text: string; readonly graph: Graph }): readonly string[] {
  const { name, programs = [] } = graph;
  return text.startsWith(PROGRAM_MARK) ? [name, ...programs] : programs;
}

/** Takes and gives JSON. */
export type StepFunction = (input: unknown, context: StepContext) => unknown;

/** What a step's function is told beside its input. */
export interface StepContext {
  readonly runId: string;
  /** The place of the step in its run, such as `leads[3]/fetch`. */
  readonly path: string;
  /** Counts the tries, from 1. */
  readonly attempt: number;
  /** The same in every attempt whose effect may be the same one. A service that is given it does the work once. */
  readonly idempotencyKey: string;
  /** Aborts when the run is cancelled, the time is over or the process stops. */
  readonly signal: AbortSignal;
}

/** Thrown by a function: its step fails with this code. */
export class StepFailure extends Error {
  readonly code: string;
  /** Whether the step's policy may try it again. */
  readonly retryable: boolean;

  constructor(
    code: string,
    message: string,
    { retryable = false, cause }: { retryable?: boolean; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "StepFailure";
    this.code = code;
    this.retryable = retryable;
  }
}

/** Of any copy of this module: a program may have loaded two. */
export function isStepFailure(error: unknown): error is StepFailure {
  return error instanceof Error && error.name === "StepFailure" && "code" in error && "retryable" in error;
}

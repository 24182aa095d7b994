import type { JsonObject } from "../core/json.ts";

/** Tells the processes that watch a run, while they do. */
export type TellRun = (notice: JsonObject) => void;

/** Carries notices that are not stored to processes that watch a run. It may lose some: the journal has what matters. */
export interface RunRelay {
  /** `begin` is called when other processes begin to watch a run, and what it returned when none does any more. */
  serve(begin: (runId: string, tell: TellRun) => () => void): () => void;
  /** Until the returned function is called. What comes has been sent by a process that drives the run, or says that it does. */
  watch(runId: string, listen: (notice: JsonObject) => void): () => void;
}

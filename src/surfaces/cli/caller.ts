import type { z } from "zod";
import type { Graph } from "../../core/graph/graph.ts";
import type { Operation } from "../../operations/operation.ts";
import type { RunDescription, RunHead } from "../../operations/runs/run-schemas.ts";
import type { LiveNotice } from "./render/live/live-run.ts";
import type { StopSignals } from "./stop-signals.ts";

/**
 * What a command asks, and who answers: this process as the owner of the data, the process that owns it, or a server. All
 * answer alike.
 */
export interface Caller {
  /** Answers as the operation's output schema says. Throws `PawlError`. */
  call<Input extends z.ZodObject, Output extends z.ZodType>(
    operation: Operation<Input, Output>,
    given: Readonly<Record<string, unknown>>,
  ): Promise<z.output<Output>>;
}

/** A caller that follows runs. The methods that `call` could replace load no schema, which is most of what a short run costs. */
export interface RunCaller extends Caller {
  /** Resolves when the run has ended, or when only a person or an event from outside makes it go on. */
  follow(run: FollowedRun, stop: AbortSignal): Promise<"at rest" | "stopped">;
  /** A run without its steps. */
  readHead(runId: string): Promise<RunHead>;
  readRun(runId: string): Promise<RunDescription>;
  readGraph(runId: string, called?: string): Promise<Graph>;
  /** Webhooks of a run that wait for a server. */
  countUndelivered(runId: string): Promise<number>;
  /** Where runs go on when this command has ended, after "goes on". Undefined: nowhere, for this process drives them. */
  place(): Promise<string | undefined>;
  /** Whether somebody drives runs at the moment. */
  isDriven(): Promise<boolean>;
  /** The run is at rest: stays while others go on here. */
  leave(signals: StopSignals): Promise<void>;
  /** The person has stopped. Lays the run down where this process drives it. */
  park(runId: string, signals: StopSignals): Promise<"parked" | "goes on">;
  /** Something failed: stops in good order, as far as that is possible. */
  abandon(): Promise<void>;
}

interface FollowedRun {
  readonly runId: string;
  /** Starts the run once somebody listens. Absent: it has been started. */
  begin?(): Promise<unknown>;
  /** Has the run loaded where this process drives it, and go on where it was parked. */
  readonly resumes?: boolean;
  /** Is told the run's history first, then what happens. */
  listen(notice: LiveNotice): void;
}

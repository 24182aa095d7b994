import type { Duration } from "../dialects/typescript/types.ts";
import type { AnyWorkflow, Workflow } from "../dialects/typescript/workflow.ts";

export interface PawlOptions {
  /** What this program can run. */
  readonly workflows: readonly AnyWorkflow[];
  /** The folder of all data. Default: what the settings say, else `.pawl`. */
  readonly data?: string;
  /** The address of a PostgreSQL database, instead. */
  readonly database?: string;
  /** Who answers agent steps, as `pawl run --agent` names them. Default: what the settings say. */
  readonly agent?: string;
  /** The folder of `pawl.yaml`, `.env` and `workflows/`. Default: the current one. */
  readonly folder?: string;
  /** Serves the HTTP API and the pages, and fires schedules and triggers, as `pawl serve` does. Port 0 takes a free one. */
  readonly serve?: {
    readonly port?: number;
    readonly host?: string;
    /** False: it has no port, and answers what the program gives to `fetch`. */
    readonly listen?: boolean;
    log?(line: string): void;
  };
  /** Is told of faults of the engine. Default: they are written to the standard error. */
  onDefect?(error: unknown): void;
}

/** The engine within a program. */
export interface Pawl {
  /** Where it listens. Undefined: it does not. */
  readonly url: string | undefined;
  /**
   * The HTTP API, for a server of the program: `app.mount("/pawl", pawl.fetch)`. It asks for a key, as elsewhere. Needs `serve`.
   * Throws `CONFIG_INVALID`, `HOST_REFUSED` where there is no key.
   */
  fetch(request: Request): Promise<Response>;
  /**
   * Starts a run, which is on record when this resolves. The same key with the same input has the same run for 24 hours. `by`: who
   * asks for it, and may not answer an approval with `notRequester`.
   * Throws `INPUT_INVALID`, `IDEMPOTENCY_MISMATCH`.
   */
  start<In, Out>(
    workflow: Pick<Workflow<In, Out>, "name" | "types">,
    input: NoInfer<In>,
    options?: { readonly idempotencyKey?: string; readonly by?: string },
  ): Promise<StartedRun<Out>>;
  /** A run that was started before, here or elsewhere. */
  run<Out = unknown>(id: string): StartedRun<Out>;
  /**
   * Does a run that has ended again, from a step on (default: the first that failed; of a completed run all of it), and takes over
   * what came before. `current`: with the workflow as this program has it now. `changes`: what the new run does differently, as
   * `POST /runs/{id}/fork` takes it. Throws `RUN_NOT_ENDED`, `STEP_NOT_FOUND`, `CHANGE_INVALID`.
   */
  rerun<Out = unknown>(
    runId: string,
    options?: {
      readonly from?: string;
      readonly current?: boolean;
      readonly changes?: { readonly [name: string]: unknown };
      readonly idempotencyKey?: string;
    },
  ): Promise<StartedRun<Out>>;
  /** Answers an approval with yes, by the name of its step, or its path where it stands in a loop. `edited`: what its form asks for. */
  approve(runId: string, step: string, edited?: unknown, by?: string): Promise<void>;
  reject(runId: string, step: string, comment?: string, by?: string): Promise<void>;
  /** Tells a run of an event that a `wait` of it is for, or will be for. */
  signal(runId: string, event: string, payload?: unknown): Promise<void>;
  cancel(runId: string, reason?: string): Promise<void>;
  /** Takes in other workflows, or new versions of those that are there. Throws `DEFINITION_INVALID`. */
  add(workflows: readonly AnyWorkflow[]): Promise<void>;
  /**
   * Lays all runs down, for whoever opens the data next. Steps that may run only once are waited for, so long as `drain` allows
   * (milliseconds, default 10,000). Twice is once.
   */
  close(options?: { readonly drain?: number }): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** The engine in a test: its data is gone when it is closed, and the test moves its time on. */
export interface TestPawl extends Pawl {
  /** Milliseconds since the epoch, as runs see it. */
  now(): number;
  /** Moves time on. What is due on the way happens in its order, each when the steps before it have ended. */
  advance(duration: Duration): Promise<void>;
}

/** A run that was started. */
export interface StartedRun<Out> {
  readonly id: string;
  /** How it stands. `error`: why it has ended so, or what it cannot go on without, such as a function of another version. */
  status(): Promise<{
    readonly status: string;
    readonly error: { readonly code: string; readonly message: string; readonly remedy: string } | null;
  }>;
  /** Waits until it has ended, however long that is. Rejects with `RunFailed` where it has not completed. */
  result(): Promise<Out>;
  /** What happens in it, from its beginning to its end, as `GET /runs/{id}/stream` tells it. */
  events(signal?: AbortSignal): AsyncGenerator<RunEvent>;
}

export type RunEvent =
  /** It is now so; told again where that changes. */
  | {
      readonly event: "status";
      readonly data: { readonly status: string; readonly at_rest: boolean; readonly total_cost_usd: number };
    }
  | { readonly event: "step"; readonly id: string; readonly data: StepNow }
  /** What a step tells while it works. */
  | {
      readonly event: "progress" | "live";
      readonly data: { readonly path: string; readonly attempt: number; readonly event: unknown };
    }
  | { readonly event: "limit" | "error" | "result" | "end" | "event"; readonly id: string; readonly data: object };

interface StepNow {
  readonly step_id: string;
  readonly path: string;
  readonly status: string;
  readonly attempt: number;
  readonly error?: { readonly code: string; readonly message: string };
}

/** A run that has not completed: its code, its message and what was recorded of the failure. */
export class RunFailed extends Error {
  readonly runId: string;
  readonly status: string;
  readonly code: string;
  readonly details: unknown;

  constructor(
    run: { readonly id: string; readonly status: string },
    failure: { readonly code: string; readonly message: string; readonly details: unknown },
  ) {
    super(failure.message);
    this.name = "RunFailed";
    this.runId = run.id;
    this.status = run.status;
    this.code = failure.code;
    this.details = failure.details;
  }
}

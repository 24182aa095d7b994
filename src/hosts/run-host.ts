import type { Graph } from "../core/graph/graph.ts";
import type { Event, RunStarted, SentKey } from "../core/history/events.ts";
import type { Handle } from "../core/history/run-state.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Answerer } from "../core/trust/approvers.ts";
import type { RunRecord } from "../ports/journal.ts";
import type { BudgetView } from "../ports/waits.ts";
import type { CompiledDefinition } from "./compiled-definition.ts";

/** The name of no run: who watches it is told what this process says of all its runs. */
export const EVERY_RUN = "every-run";

/** A run that rests or has ended. `output`: where its output stands, of one that has come to its end in this process. */
export interface SettledRun extends RunRecord {
  readonly output?: Handle;
}

/** Drives runs: reads, decides, appends, performs. One per data directory, held by the process that owns it. */
export interface RunHost {
  /** Loads every run that must go on now, in slices. Resolves when all of them go on. */
  recover(): Promise<{ readonly resumed: number }>;
  /** Resolves when the start is durable; the run goes on by itself. */
  startRun(start: RunStart): Promise<RunRecord>;
  /** Durable when it resolves, with the run as it is then. */
  request(runId: string, request: RunRequest): Promise<RunRecord>;
  /** Deletes a run that has ended. Throws `RUN_NOT_ENDED`, and `RUN_NEEDED` while a rerun of it goes on. */
  deleteRun(runId: string): Promise<void>;
  /** Calls `listen` with every event of a run from now on, after its commit, and with progress in between. */
  watch(runId: string, listen: (notice: RunNotice) => void): () => void;
  /** Resolves when the run has ended, or when it only waits: for a person, for an event, or for a time that is far away. */
  settled(runId: string): Promise<SettledRun>;
  /** What attempts under way here hold of budgets, and what these runs wait for. Absent: others drive all runs. */
  budgetView?(runs: readonly string[]): BudgetView;
  /** How many runs are in memory here. */
  readonly driving: number;
  /**
   * Parks all runs, durably, so that the next owner goes on. Steps that may run only once are waited for until `force`
   * aborts. The run named `hold` stays parked until it is resumed.
   */
  park(force: AbortSignal, hold?: string): Promise<void>;
  /**
   * Takes back what was asked of other processes and is not answered yet: its waiting callers get `SERVER_STOPPING`, and nothing
   * was done. Absent: there are no others.
   */
  stopAsking?(): void;
}

/** What people and programs ask of a run that goes on. */
export type RunRequest =
  /** Loads a parked run and goes on with it; without effect on one that is under way. `releases`: held steps go on too. */
  | { readonly type: "resume"; readonly releases?: boolean }
  /** `once`: nothing where it stops already, which a second request would end as it stands. */
  | { readonly type: "cancel"; readonly by?: string; readonly reason?: string; readonly once?: boolean }
  /** The first answer wins; a later one gets `APPROVAL_CONFLICT` with who was first. */
  | { readonly type: "answer"; readonly path: string; readonly answer: ApprovalAnswer }
  | {
      readonly type: "signal";
      readonly name: string;
      readonly payload: Json;
      readonly key?: SentKey;
      /** Only where this step waits for it, or is about to: else `EVENT_NOT_AWAITED`. */
      readonly path?: string;
    };

/** The rest of it stands in the run's first event. */
export interface RunStart extends Pick<RunStarted, "maxCostMicro" | "uses" | "onExceeded" | "options" | "lineage"> {
  readonly runId?: string;
  /** The id was made for this start: no other run can have it, and no lookup is needed. */
  readonly hasNewId?: boolean;
  readonly definition: CompiledDefinition;
  readonly input: JsonObject;
  readonly callbackUrl?: string;
  readonly tenantId?: string;
  readonly parentRunId?: string;
}

export interface ApprovalAnswer {
  readonly answer: "approve" | "reject" | "skip";
  readonly by?: string;
  /** Absent: the operator. */
  readonly who?: Answerer | undefined;
  readonly comment?: string;
  /** The event that asked, as the person has seen it: an answer to an earlier question at the path is a conflict. */
  readonly asked?: number;
  /** Replaces what was shown. Only where the approval allows edits. */
  readonly edited?: Json;
}

export type RunNotice =
  /** `graph`: of a `callResolved`, the graph that it names, for those who fold the events themselves. */
  | { readonly type: "event"; readonly seq: number; readonly event: Event; readonly graph?: Graph }
  /** An attempt has been handed to its executor; its `stepStarted` may follow, or never be written. */
  | { readonly type: "dispatched"; readonly path: string; readonly attempt: number; readonly at: number }
  | { readonly type: "progress"; readonly path: string; readonly attempt: number; readonly event: Json }
  /** Stored nowhere. A slow reader misses some. */
  | { readonly type: "live"; readonly path: string; readonly attempt: number; readonly event: JsonObject }
  /** The process parks the run, and the next owner goes on with it. */
  | { readonly type: "parked" }
  /** Nothing can be written at the moment: the run stands still and will go on. */
  | { readonly type: "stalled"; readonly code: string; readonly message: string }
  | { readonly type: "unstalled" };

import type { Matches } from "../../core/expressions/expr.ts";
import type { JsonObject } from "../../core/json.ts";
import type { FindAll } from "../../core/policies/find-in-text.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { Clock } from "../../ports/clock.ts";
import type { FileStorage } from "../../ports/file-storage.ts";
import type { Journal } from "../../ports/journal.ts";
import type { RunSecrets } from "../../ports/run-secrets.ts";
import type { Budgets } from "../../ports/service/budgets.ts";
import type { PublishedEvents } from "../../ports/service/published-events.ts";
import type { StartRates } from "../../ports/service/start-rates.ts";
import type { FindExecutor } from "../executors.ts";
import type { CommitQueueOptions } from "../session/commit-queue.ts";
import type { WantedObserver } from "../session/live-run.ts";
import type { HostLog } from "../session/session-log.ts";
import type { ResolveCall } from "../session/steps/step-parts.ts";
import type { PieceMask } from "../session/tasks/live-text.ts";

/** Which runs a process drives, of those that several processes share. */
export interface Drives {
  /** `none`: what it starts is driven by others. `own`: only what was asked of this process. `programs`: those of its own workflows. */
  readonly runs: "all" | "programs" | "own" | "none";
  /** The workflows whose functions it has: no other process drives their runs. */
  programs?(): readonly string[];
  /** It takes up no more runs of others while it drives so many. */
  readonly concurrency: number;
}

export interface LocalHostOptions {
  readonly journal: Journal;
  readonly blobs: Blobs;
  readonly files: FileStorage;
  readonly clock: Clock;
  /** The last sign of life of the process that drove the runs before. Absent: it is taken to have died a moment ago. */
  readonly previousSeenAt?: number | undefined;
  /** Absent: it drives every run that is due. */
  readonly drives?: Drives | undefined;
  /** Absent: one commit at a time, which all runs that are ready share. */
  openLog?(options: CommitQueueOptions): HostLog;
  readonly findExecutor: FindExecutor;
  readonly resolveCall: ResolveCall;
  /** Masks the secrets in everything that is stored or shown. */
  mask(text: string): string;
  /** The same for a text that comes in pieces. Without it a secret is found only within one of them. */
  maskPieces?(): PieceMask;
  /** Without it, secret inputs of a run are known only while it is in memory here. */
  readonly secrets?: RunSecrets;
  /** What requests are given as `context.configuration`, as it is written. */
  readonly configuration?: JsonObject | undefined;
  /** The value of an environment variable, for prompts whose definition allows the name. */
  env(name: string): string | undefined;
  readonly matches?: Matches;
  /** Absent: nothing can be searched for, and steps whose policies have patterns of their own are blocked. */
  readonly findAll?: FindAll;
  /** Opens the budgets that runs share. Undefined: no budget was set so far. */
  openBudgets?(): Promise<Budgets | undefined>;
  /** Where events are found that are sent to no run. Absent: no step can wait for one. */
  publishedEvents?(): Promise<PublishedEvents>;
  /** Where runs find their slots. Absent: no workflow may have a `rate`. */
  rates?(): Promise<StartRates>;
  /** The processes that drive runs of the same records. Absent: only this one does. */
  readonly workers?: {
    /** This process. It is another one when others have taken over what it drove. */
    own(): string;
    /** Those that are not known to be dead. */
    list(): Promise<readonly string[]>;
  };
  readonly maxOutputBytes?: number;
  readonly maxRunBytes?: number;
  readonly maxRowsPerCommit?: number;
  readonly cacheBytes?: number;
  /** Told of everything that happens in the runs of this host, while it is wanted. */
  readonly observer?: WantedObserver;
  /** Spans are exported. Absent: the trace context of the request is passed on unchanged. */
  readonly isTracing?: boolean;
  /** A defect: reported, never hidden. */
  onDefect(error: unknown): void;
}

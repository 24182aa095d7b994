import { isErrorCode } from "../../../core/errors/error-table.ts";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { RunNotice } from "../../../hosts/run-host.ts";
import type { RunRecord } from "../../../ports/journal.ts";
import { findRun } from "../../application/find-run.ts";
import type { AppHost, Driving, Stores } from "../../application/ports.ts";
import { findAwaited } from "../find-awaited.ts";

export type Followed =
  /** The run has ended, or nothing is left but waiting for a person or an event. */
  | { readonly is: "settled"; readonly record: RunRecord }
  /** `stop` aborted first. */
  | { readonly is: "stopped" };

export interface FollowOptions {
  readonly runId: string;
  /** Makes the host work on the run, once somebody listens. */
  begin(host: AppHost): Promise<unknown>;
  /** Is told the run's history first, then what happens. */
  listen(notice: RunNotice): void;
}

/**
 * Follows a run to its end, through as many owners as it takes. As the owner it throws `JOURNAL_FULL`, `JOURNAL_IO` or, after
 * a minute, `STORAGE_UNAVAILABLE` when nothing can be written any more: what is written is whole, and can be resumed.
 */
export async function followRun(app: Stores & Driving, options: FollowOptions, stop: AbortSignal): Promise<Followed> {
  const follower = new Follower(app, await app.host(), options);
  const stopped = new Promise<"stopped">((resolve) => {
    stop.addEventListener("abort", () => resolve("stopped"), { once: true });
    if (stop.aborted) resolve("stopped");
  });
  try {
    const end = await Promise.race([follower.rest(), stopped, follower.stalled]);
    if (end === "stopped") return { is: "stopped" };
    await follower.catchUp(end);
    return { is: "settled", record: end };
  } finally {
    follower.leave();
  }
}

const PAGE = 1_000;
const STORE_PATIENCE_MS = 60_000;

class Follower {
  /** Rejects when nothing can be written any more. */
  readonly stalled: Promise<never>;
  readonly #app: Stores;
  readonly #host: AppHost;
  readonly #options: FollowOptions;
  readonly #stopWatching: () => void;
  readonly #openApprovals = new Set<string>();
  #lastSeq = 0;
  #stall: NodeJS.Timeout | undefined;
  #reportStall: (error: PawlError) => void = () => undefined;
  /** Resolves with the next event. */
  #news = Promise.withResolvers<void>();
  /** Resolves with the next event while an approval is open: perhaps nothing else is left now. */
  #question = Promise.withResolvers<"question">();

  constructor(app: Stores, host: AppHost, options: FollowOptions) {
    this.#app = app;
    this.#host = host;
    this.#options = options;
    this.stalled = new Promise((_, reject) => {
      this.#reportStall = reject;
    });
    this.#stopWatching = host.watch(options.runId, (notice) => this.#receive(notice));
  }

  /** Another process may say that the run rests before it has told how it came to that: what is missing is on record. */
  async catchUp({ no, lastSeq }: RunRecord): Promise<void> {
    const { journal } = await this.#app.records();
    while (this.#lastSeq < lastSeq) {
      const rows = await journal.readEvents(no, { afterSeq: this.#lastSeq, limit: PAGE });
      for (const { seq, event } of rows) this.#receive({ type: "event", seq, event });
      if (rows.length === 0) return;
    }
  }

  leave(): void {
    this.#endStall();
    this.#stopWatching();
  }

  async rest(): Promise<RunRecord> {
    const { runId, begin } = this.#options;
    await begin(this.#host);
    let settled = this.#settled();
    for (;;) {
      const [news, question] = [this.#news.promise, this.#question.promise];
      const why = await Promise.race([settled, question]);
      const record = await findRun(this.#app, runId);
      if (record.completedAt !== undefined) return this.#host.settled(runId);
      if (await this.#isAtRest(record)) return record;
      if (why === "question") continue;
      await this.#waitOn(record, news);
      settled = this.#settled();
    }
  }

  /** An approval or event with a time-out counts too: the host has a timer to wait for, who started the run has not. */
  async #isAtRest(record: RunRecord): Promise<boolean> {
    const { completedAt, status, wakeAt } = record;
    if (completedAt !== undefined || status === "awaiting_approval") return true;
    if (status !== "waiting") return false;
    return wakeAt === undefined || (await findAwaited(this.#app, record)).isOthers;
  }

  #settled(): Promise<"settled"> {
    const settled = this.#host.settled(this.#options.runId).then(() => "settled" as const);
    // A caller that has left is not told of the end.
    settled.catch(() => undefined);
    return settled;
  }

  #receive(notice: RunNotice): void {
    if (notice.type === "event") {
      if (notice.seq <= this.#lastSeq) return;
      this.#lastSeq = notice.seq;
    }
    this.#options.listen(notice);
    if (notice.type === "stalled" && this.#host.role === "owner") this.#receiveStall(toStallError(notice));
    if (notice.type === "unstalled") this.#endStall();
    if (notice.type !== "event") return;
    const { event } = notice;
    if (event.type === "approvalAsked") this.#openApprovals.add(event.path);
    if (event.type === "approvalAnswered") this.#openApprovals.delete(event.path);
    this.#news.resolve();
    this.#news = Promise.withResolvers();
    if (this.#openApprovals.size === 0) return;
    this.#question.resolve("question");
    this.#question = Promise.withResolvers();
  }

  /** A disk that fails is for a person to mend. A store on the network mostly works again by itself. */
  #receiveStall(error: PawlError): void {
    if (error.code !== "STORAGE_UNAVAILABLE") return this.#reportStall(error);
    this.#stall ??= setTimeout(() => this.#reportStall(error), STORE_PATIENCE_MS);
  }

  #endStall(): void {
    clearTimeout(this.#stall);
    this.#stall = undefined;
  }

  /** A run that waits for a time or in line is rows, not work: it is under way again with its next event. */
  async #waitOn({ id, wakeAt, status, parked }: RunRecord, news: Promise<void>): Promise<void> {
    if (wakeAt !== undefined || (parked && status === "queued")) return news;
    throw new PawlError("OWNER_GONE", { message: `The run ${id} stopped in this process before its end.` });
  }
}

function toStallError({ code, message }: { readonly code: string; readonly message: string }): PawlError {
  return new PawlError(isErrorCode(code) ? code : "JOURNAL_IO", { message });
}

import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { ChurnMap } from "../../core/churn-map.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Inbox } from "../../ports/inbox.ts";
import { type Journal, type RunNo, type RunRecord, wantsDriver } from "../../ports/journal.ts";
import type { RunHost } from "../run-host.ts";
import type { LiveRun } from "../session/live-run.ts";
import type { RestateApi } from "./restate-api.ts";
import type { RestateLog } from "./restate-log.ts";
import type { RunEntry } from "./run-entry.ts";

export interface RunDriverParts {
  /** Its claims are those of invocations: `InvocationClaims`. */
  readonly journal: Journal;
  readonly host: Pick<RunHost, "request">;
  readonly log: RestateLog;
  readonly api: RestateApi;
  readonly clock: Clock;
  readonly claims: InvocationClaims;
  /** What is asked of runs by other processes. Undefined: there are none. */
  readonly inbox: Pick<Inbox, "list"> | undefined;
  lookIntoInbox(): void;
  onDefect(error: unknown): void;
}

/** One attempt of Restate to go on with the invocation of a run. */
export interface Attempt {
  readonly runId: string;
  /** Restate has ended it, or the connection is lost. */
  readonly ended: AbortSignal;
}

export interface WhatIsKnown {
  /** The entry before. */
  readonly last: RunEntry | undefined;
  /** The run has a new request. */
  readonly isWoken: boolean;
  /** The invocation was cancelled in Restate. */
  readonly isCancelled: boolean;
  /** Another invocation makes the next entry. */
  readonly isLast: boolean;
}

/** The runs that may be driven in this process: those of which an invocation is here. */
export class InvocationClaims {
  readonly #runs = new ChurnMap<RunNo, true>();
  /** Every run may be driven here, because there is no other process. */
  readonly #isAlone: boolean;

  constructor(isAlone: boolean) {
    this.#isAlone = isAlone;
  }

  allow(no: RunNo): void {
    this.#runs.set(no, true);
  }

  withdraw(no: RunNo): void {
    this.#runs.delete(no);
  }

  allows(no: RunNo): boolean {
    return this.#isAlone || this.#runs.has(no);
  }

  get isAlone(): boolean {
    return this.#isAlone;
  }
}

/** How long a run stays in memory whose attempt was cut off: Restate mostly tries again here, at once. */
const KEEP_MS = 5_000;
const LOOK_AGAIN_MS = 20;
const PAGE = 500;

interface Attached {
  readonly no: RunNo;
  readonly attempt: Attempt;
  isCancelAsked: boolean;
  /** Its handler waits for a time or to be woken. */
  isWaiting: boolean;
}

/** What the handler of a run does in this process: it has the session go on, and says what Restate is to record. */
export class RunDriver {
  readonly #parts: RunDriverParts;
  /** By the id of the run. */
  readonly #attached = new ChurnMap<string, Attached>();
  /** Runs whose invocation was woken and is not here yet. */
  readonly #woken = new ChurnMap<string, true>();

  constructor(parts: RunDriverParts) {
    this.#parts = parts;
  }

  /** The next entry of the run. It fails where the run cannot go on here now: then Restate tries again. */
  async next(attempt: Attempt, known: WhatIsKnown): Promise<RunEntry> {
    const attached = await this.#attach(attempt);
    // It was deleted.
    if (attached === undefined) return { type: "ended" };
    const { no } = attached;
    attached.isWaiting = false;
    this.#woken.delete(attempt.runId);
    for (let isWoken = known.isWoken; ; isWoken = false) {
      refuseEnded(attempt);
      if (known.isCancelled) await this.#cancelOnce(attached);
      const commits = this.#parts.log.find(no);
      const entry = await (commits === undefined
        ? this.#look(attached, { ...known, isWoken })
        : commits.next(known.isLast));
      if (entry === undefined) continue;
      attached.isWaiting = entry.type === "waits";
      // Something may have been asked of it in this moment.
      if (!attached.isWaiting || this.#parts.log.find(no) === undefined) return entry;
      attached.isWaiting = false;
    }
  }

  /** Restate has the entry. Resolves when our records have it too, and what it causes is under way. */
  async confirm({ runId }: Attempt, entry: RunEntry): Promise<void> {
    const attached = this.#attached.get(runId);
    if (entry.type !== "committed" || attached === undefined) return;
    await this.#parts.log.find(attached.no)?.confirm(entry.lastSeq);
    if (entry.isEnd) this.#detach(runId, attached);
  }

  /** The run has something to commit, and no entry of Restate waits for it. */
  unattended({ runId }: LiveRun): void {
    const attached = this.#attached.get(runId);
    if (attached?.isWaiting === false || this.#woken.has(runId)) return;
    this.#woken.set(runId, true);
    this.#parts.api.wake(runId);
  }

  // --- The attempts ---

  async #attach(attempt: Attempt): Promise<Attached | undefined> {
    const { runId, ended } = attempt;
    const known = this.#attached.get(runId);
    if (known?.attempt === attempt) return known;
    const no = this.#parts.log.findNumber(runId) ?? (await this.#findOnDisk(runId));
    if (no === undefined) return undefined;
    refuseEnded(attempt);
    const attached: Attached = { no, attempt, isCancelAsked: false, isWaiting: false };
    this.#attached.set(runId, attached);
    this.#parts.claims.allow(no);
    ended.addEventListener("abort", () => void this.#letGo(runId, attached), { once: true });
    return attached;
  }

  async #findOnDisk(runId: string): Promise<RunNo | undefined> {
    const record = await this.#parts.journal.findRun(runId);
    return record === undefined || record === "ambiguous" || record.id !== runId ? undefined : record.no;
  }

  /** Another process may be the one that Restate asks next. */
  async #letGo(runId: string, attached: Attached): Promise<void> {
    const { log, claims } = this.#parts;
    const { no } = attached;
    if (log.find(no) !== undefined) await setTimeout(KEEP_MS, undefined, { ref: false });
    if (!this.#detach(runId, attached) || claims.isAlone) return;
    const gone = new PawlError("OWNER_GONE", { message: "Restate goes on with the run elsewhere." });
    log.find(no)?.failed(gone);
  }

  /** False: another attempt has taken its place. */
  #detach(runId: string, attached: Attached): boolean {
    if (this.#attached.get(runId) !== attached) return false;
    this.#attached.delete(runId);
    this.#parts.claims.withdraw(attached.no);
    return true;
  }

  /** A second cancel would end the run as it stands. */
  async #cancelOnce(attached: Attached): Promise<void> {
    if (attached.isCancelAsked) return;
    attached.isCancelAsked = true;
    const { log, host, onDefect } = this.#parts;
    const { no, attempt } = attached;
    const commits = log.find(no);
    const state = commits?.run?.state;
    const isCancelled = state === undefined ? await this.#wasCancelled(no) : state.stopping === "cancelled";
    if (isCancelled || (state !== undefined && state.phase !== "open")) return;
    const opened = commits ?? log.open(no);
    host.request(attempt.runId, { type: "cancel", by: "restate" }).catch((error: unknown) => {
      opened.leave();
      if (!isPawlError(error)) onDefect(error);
    });
  }

  async #wasCancelled(no: RunNo): Promise<boolean> {
    const { journal } = this.#parts;
    for (let afterSeq = 0; ; ) {
      const rows = await journal.readEvents(no, { afterSeq, limit: PAGE });
      if (rows.some(({ event }) => event.type === "cancelRequested")) return true;
      if (rows.length < PAGE) return false;
      afterSeq += rows.length;
    }
  }

  // --- A run that is not in memory ---

  /** Undefined: it is in memory now, or was. */
  async #look({ no, attempt }: Attached, known: WhatIsKnown): Promise<RunEntry | undefined> {
    const { journal, clock, host, log } = this.#parts;
    const record = await journal.readRun(no);
    if (record === undefined || record.completedAt !== undefined) return { type: "ended" };
    if (await this.#recordMissing(record, known.last)) return undefined;
    if (known.isWoken && (await this.#performRequests(record, attempt))) return undefined;
    const now = clock.now();
    if (!wantsDriver(record, now)) return toWait(record, now);
    const commits = log.open(no);
    try {
      await host.request(record.id, { type: "resume" });
    } catch (error) {
      commits.leave();
      throw error;
    }
    return undefined;
  }

  /** A crash may have kept from our records what Restate has: at most the last commit, since the next one waits for both. */
  async #recordMissing({ no, lastSeq }: RunRecord, last: RunEntry | undefined): Promise<boolean> {
    if (last?.type !== "committed" || last.append === undefined || last.append.afterSeq !== lastSeq) return false;
    const { journal } = this.#parts;
    if ((await journal.claim(no)) === undefined) throw drivenElsewhere(no);
    try {
      const [result] = await journal.append([last.append], randomUUID());
      if (result?.ok === false) throw new Error(result.message);
    } finally {
      await journal.release([no]);
    }
    return true;
  }

  /** Performs what other processes have asked of a run that only waits. True: it is in memory, or was. */
  async #performRequests({ no, id }: RunRecord, { ended }: Attempt): Promise<boolean> {
    const { journal, inbox, log, lookIntoInbox } = this.#parts;
    if (inbox === undefined) return false;
    if ((await journal.claim(no)) === undefined) throw drivenElsewhere(no);
    let isAsked = false;
    while (!ended.aborted && log.find(no) === undefined && (await inbox.list()).some(({ runId }) => runId === id)) {
      isAsked = true;
      lookIntoInbox();
      await setTimeout(LOOK_AGAIN_MS);
    }
    // A refused request has left the run on disk, for whichever process Restate calls next.
    if (log.find(no) === undefined) await journal.release([no]);
    return isAsked;
  }
}

function toWait({ wakeAt }: RunRecord, now: number): RunEntry {
  return wakeAt === undefined ? { type: "waits" } : { type: "waits", forMs: Math.max(0, wakeAt - now) };
}

function refuseEnded({ ended, runId }: Attempt): void {
  if (ended.aborted) throw new PawlError("OWNER_GONE", { message: `Restate goes on with the run ${runId} elsewhere.` });
}

function drivenElsewhere(no: RunNo): PawlError {
  return new PawlError("RUN_ELSEWHERE", { message: `Another process drives run number ${no}.` });
}

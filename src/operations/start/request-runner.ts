import { setTimeout } from "node:timers/promises";
import { isErrorCode } from "../../core/errors/error-table.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { EVERY_RUN, type RunHost, type RunNotice, type SettledRun } from "../../hosts/run-host.ts";
import type { RunRecord } from "../../ports/journal.ts";
import type { PreparedRun } from "./prepare-run.ts";

export interface RequestRunnerOptions {
  /** Requests that may wait for their run at once. */
  readonly maxInFlight: number;
  /** Throws `QUOTA_EXCEEDED` where the tenant has as many runs as it may have, `STORED_TOO_MUCH` where they have stored as much. */
  admit?(tenantId: string): Promise<void>;
}

/** The part of a host that runs for callers need. */
export type RunningHost = Pick<RunHost, "startRun" | "settled" | "watch">;

export type Ran =
  | { readonly is: "ended"; readonly record: SettledRun }
  /** It waits: for a person, for an event, or for a time that is far away. */
  | { readonly is: "parked"; readonly record: RunRecord }
  /** The run is recorded and goes on; who asked for it cannot be told how it ends. */
  | { readonly is: "unanswered"; readonly error: PawlError };

/** Runs for one caller, by a host that is asked for when the run could begin: that may start a process. */
export function runnerForOne(openHost: () => Promise<RunningHost>): RequestRunner {
  const host: RunningHost = {
    startRun: async (start) => (await openHost()).startRun(start),
    settled: async (runId) => (await openHost()).settled(runId),
    watch: () => () => undefined,
  };
  return new RequestRunner(host, { maxInFlight: 1 });
}

/** Runs for callers who wait for the result: so many at once, none when nothing can be written or the process stops. */
export class RequestRunner {
  readonly #host: RunningHost;
  readonly #options: RequestRunnerOptions;
  readonly #stopWatching: () => void;
  #inFlight = 0;
  /** Why nothing is taken at the moment. */
  #refusal: PawlError | undefined;
  #isStopping = false;
  /** Waiting callers, which must learn why their wait ends early. */
  readonly #waiting = new Set<(error: PawlError) => void>();
  #idle: (() => void)[] = [];
  /** Starts of runs that nobody waits for. Two starts of one id at the same time follow each other. */
  readonly #starting = new Map<string, Promise<unknown>>();

  constructor(host: RunningHost, options: RequestRunnerOptions) {
    this.#host = host;
    this.#options = options;
    this.#stopWatching = host.watch(EVERY_RUN, (notice) => this.#hear(notice));
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Throws `SERVER_BUSY`, `SERVER_STOPPING`, `JOURNAL_FULL`, `JOURNAL_IO`: then nothing has been started. */
  refuseWhereFull(): void {
    if (this.#refusal !== undefined) throw this.#refusal;
    if (this.#inFlight < this.#options.maxInFlight) return;
    throw new PawlError("SERVER_BUSY", { message: `${this.#inFlight} requests are under way already.` });
  }

  /**
   * Starts a run and waits until it ends or parks; `listen` is told what happens meanwhile. Throws `SERVER_BUSY` and its
   * kin, `RUN_ID_TAKEN`.
   */
  async run(prepared: PreparedRun, listen?: (notice: RunNotice) => void): Promise<Ran> {
    await this.#options.admit?.(prepared.tenantId ?? "");
    this.refuseWhereFull();
    this.#inFlight += 1;
    const stopListening = listen === undefined ? undefined : this.#host.watch(prepared.runId, listen);
    try {
      return await this.#unlessDisturbed(this.#runToRest(prepared));
    } catch (error) {
      if (error instanceof Disturbance) return { is: "unanswered", error: error.reason };
      throw error;
    } finally {
      stopListening?.();
      this.#inFlight -= 1;
      if (this.#inFlight === 0) for (const resolve of this.#idle.splice(0)) resolve();
    }
  }

  /** Starts a run that nobody waits for. Throws `RUN_ID_TAKEN`, and what `run` throws. */
  async start(prepared: PreparedRun): Promise<void> {
    await this.#options.admit?.(prepared.tenantId ?? "");
    if (this.#refusal !== undefined) throw this.#refusal;
    const start: Promise<unknown> = prepared.hasNewId === true ? this.#host.startRun(prepared) : this.#inTurn(prepared);
    try {
      await this.#unlessDisturbed(start);
    } catch (error) {
      throw error instanceof Disturbance ? error.reason : error;
    }
  }

  /** After the starts of the same id that have not ended yet. */
  async #inTurn(prepared: PreparedRun): Promise<void> {
    const { runId } = prepared;
    const start = (this.#starting.get(runId) ?? Promise.resolve()).then(() => this.#host.startRun(prepared));
    const settled = start.catch(() => undefined);
    this.#starting.set(runId, settled);
    try {
      await start;
    } finally {
      if (this.#starting.get(runId) === settled) this.#starting.delete(runId);
    }
  }

  /**
   * Takes nothing more, as soon as `quiet` resolves: until then requests come in that were sent before anybody could know.
   * Resolves when nobody waits any more, or after the grace, when whoever still did has been told.
   */
  async stop(graceMs: number, force: AbortSignal, quiet: Promise<void> = Promise.resolve()): Promise<void> {
    const error = new PawlError("SERVER_STOPPING", {
      message: "This process stops; the run goes on with the next one.",
    });
    this.#isStopping = true;
    const over = new AbortController();
    const grace = setTimeout(graceMs, undefined, { signal: AbortSignal.any([force, over.signal]) }).catch(
      () => undefined,
    );
    await Promise.race([quiet, grace]);
    this.#refusal = error;
    if (this.#inFlight > 0) await Promise.race([new Promise<void>((resolve) => this.#idle.push(resolve)), grace]);
    // A timer that still runs would keep the process.
    over.abort();
    this.#disturb(error);
    this.#stopWatching();
  }

  async #runToRest(prepared: PreparedRun): Promise<Ran> {
    await this.#host.startRun(prepared);
    return toRan(await this.#host.settled(prepared.runId));
  }

  #hear(notice: RunNotice): void {
    if (this.#isStopping) return;
    if (notice.type === "unstalled") this.#refusal = undefined;
    if (notice.type !== "stalled") return;
    const { code, message } = notice;
    this.#refusal = new PawlError(isErrorCode(code) ? code : "JOURNAL_IO", { message });
    this.#disturb(this.#refusal);
  }

  /** Rejects with a `Disturbance` as soon as there is a reason to wait no longer. */
  async #unlessDisturbed<T>(work: Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const disturb = (error: PawlError) => reject(new Disturbance(error));
    this.#waiting.add(disturb);
    work.then(resolve, reject);
    try {
      return await promise;
    } finally {
      this.#waiting.delete(disturb);
    }
  }

  #disturb(error: PawlError): void {
    for (const disturb of [...this.#waiting]) disturb(error);
  }
}

/** Waiting has ended, the work has not. */
class Disturbance extends Error {
  readonly reason: PawlError;

  constructor(reason: PawlError) {
    super(reason.message);
    this.reason = reason;
  }
}

function toRan(record: SettledRun): Ran {
  if (record.completedAt !== undefined) return { is: "ended", record };
  if (record.parked) return { is: "parked", record };
  const error = new PawlError("SERVER_STOPPING", { message: "This process has parked the run; it goes on later." });
  return { is: "unanswered", error };
}

import { ChurnMap } from "../../core/churn-map.ts";
import type { PawlError } from "../../core/errors/pawl-error.ts";
import { waitsForOthers } from "../../core/interpreter/run-status.ts";
import type { RunNotice } from "../run-host.ts";
import type { LiveRun } from "../session/live-run.ts";

type Listen = (notice: RunNotice) => void;

/** Tells watchers that nothing can be written, or that it goes on. */
export function stallNotice(error: PawlError | undefined): RunNotice {
  return error === undefined ? { type: "unstalled" } : { type: "stalled", code: error.code, message: error.message };
}

/** The watchers of each run. A listener that throws harms neither the run nor other listeners. */
export class RunWatchers {
  readonly #byRun = new ChurnMap<string, Set<Listen>>();
  readonly #onDefect: (error: unknown) => void;

  constructor(onDefect: (error: unknown) => void) {
    this.#onDefect = onDefect;
  }

  has(runId: string): boolean {
    return this.#byRun.has(runId);
  }

  /** Returns a function that removes the listener. */
  add(runId: string, listen: Listen): () => void {
    const listeners = this.#byRun.get(runId) ?? new Set();
    this.#byRun.set(runId, listeners);
    listeners.add(listen);
    return () => {
      listeners.delete(listen);
      if (listeners.size === 0) this.#byRun.delete(runId);
    };
  }

  tell(runId: string, notice: RunNotice): void {
    this.#tellEach(this.#byRun.get(runId) ?? [], notice);
  }

  tellAll(notice: RunNotice): void {
    for (const listeners of this.#byRun.values()) this.#tellEach(listeners, notice);
  }

  #tellEach(listeners: Iterable<Listen>, notice: RunNotice): void {
    for (const listen of listeners) {
      try {
        listen(notice);
      } catch (error) {
        this.#onDefect(error);
      }
    }
  }
}

/** Callers that wait until a run settles. Kept by run id: the run may leave memory and come back meanwhile. */
export class SettledRuns {
  readonly #byRun = new ChurnMap<string, PromiseWithResolvers<void>[]>();

  wait(runId: string): Promise<void> {
    const settled = Promise.withResolvers<void>();
    const waiting = this.#byRun.get(runId);
    if (waiting === undefined) this.#byRun.set(runId, [settled]);
    else waiting.push(settled);
    return settled.promise;
  }

  get isEmpty(): boolean {
    return this.#byRun.size === 0;
  }

  resolve(runId: string): void {
    for (const { resolve } of this.#take(runId)) resolve();
  }

  reject(runId: string, error: unknown): void {
    for (const { reject } of this.#take(runId)) reject(error);
  }

  resolveAll(): void {
    for (const runId of [...this.#byRun.keys()]) this.resolve(runId);
  }

  #take(runId: string): readonly PromiseWithResolvers<void>[] {
    const waiting = this.#byRun.get(runId) ?? [];
    this.#byRun.delete(runId);
    return waiting;
  }
}

/** The run has ended, or only waits for a person or an event. */
export function isSettled({ state, isBusy, isDurable }: LiveRun): boolean {
  // A run that has ended leaves memory with the commit of its end, and the commands that still wait for their turn go with it.
  return state.phase === "finished" ? isDurable : !isBusy && waitsForOthers(state);
}

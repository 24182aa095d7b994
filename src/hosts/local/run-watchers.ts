import { ChurnMap } from "../../core/churn-map.ts";
import type { PawlError } from "../../core/errors/pawl-error.ts";
import type { RunNotice } from "../run-host.ts";

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

import { ChurnMap } from "../../core/churn-map.ts";
import { waitsForOthers } from "../../core/interpreter/run-status.ts";
import type { LiveRun } from "../session/live-run.ts";

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
export function isSettled({ state, isBusy }: LiveRun): boolean {
  if (isBusy) return false;
  return state.phase === "finished" || waitsForOthers(state);
}

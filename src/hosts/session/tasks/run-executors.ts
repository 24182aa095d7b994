import { ChurnMap } from "../../../core/churn-map.ts";
import type { Executor } from "../../../ports/executor.ts";
import type { FindExecutor } from "../../executors.ts";
import type { LiveRun } from "../live-run.ts";
import type { RunningTask } from "./running-task.ts";

interface RunExecutorsParts {
  readonly findExecutor: FindExecutor;
  /** The run cannot go on in this process. */
  broken(run: LiveRun, error: unknown): void;
}

/** The executors of each run. Each is looked up once a run, and notified when the run ends. */
export class RunExecutors {
  readonly #parts: RunExecutorsParts;
  readonly #found = new ChurnMap<LiveRun, Map<string, Executor | Promise<Executor>>>();
  /** Executors that keep something for a run, by its id: the run may leave memory and come back before it ends. */
  readonly #keepers = new Map<string, Set<Executor>>();

  constructor(parts: RunExecutorsParts) {
    this.#parts = parts;
  }

  find({ run, step, settings }: RunningTask): Executor | Promise<Executor> {
    const known = this.#found.get(run) ?? new Map<string, Executor | Promise<Executor>>();
    this.#found.set(run, known);
    const executor = known.get(step.executor);
    if (executor !== undefined) return executor;
    const finding = this.#parts.findExecutor(step.executor, { options: run.options, settings });
    known.set(step.executor, finding);
    finding.then(
      (found) => {
        known.set(step.executor, found);
        if (found.runEnded !== undefined) this.#noteKeeper(run.runId, found);
      },
      () => known.delete(step.executor),
    );
    return finding;
  }

  #noteKeeper(runId: string, executor: Executor): void {
    const keepers = this.#keepers.get(runId);
    if (keepers === undefined) this.#keepers.set(runId, new Set([executor]));
    else keepers.add(executor);
  }

  /** The run has left memory. */
  forget(run: LiveRun): void {
    this.#found.delete(run);
  }

  /** Executors release what they keep for the run. */
  endRun(run: LiveRun): void {
    const { runId, options, state } = run;
    const keepers = this.#keepers.get(runId);
    this.#keepers.delete(runId);
    const status = state.ending?.status;
    if (keepers === undefined || status === undefined) return;
    for (const keeper of keepers)
      keeper.runEnded?.({ runId, status, options }).catch((error: unknown) => this.#parts.broken(run, error));
  }
}

import type { Executor } from "../../ports/executor.ts";
import type { FindExecutor } from "../executors.ts";
import type { Flight } from "./flight.ts";
import type { RunDriver } from "./run-driver.ts";

interface RunExecutorsParts {
  readonly findExecutor: FindExecutor;
  /** The run cannot go on in this process. */
  broken(driver: RunDriver, error: unknown): void;
}

/** The executors that the steps of each run have asked for. They are found once a run, and told of its end. */
export class RunExecutors {
  readonly #parts: RunExecutorsParts;
  readonly #found = new Map<RunDriver, Map<string, Executor | Promise<Executor>>>();
  /** Executors that want to know when a run ends, by its id: a run may leave memory and come back before that. */
  readonly #keepers = new Map<string, Set<Executor>>();

  constructor(parts: RunExecutorsParts) {
    this.#parts = parts;
  }

  find({ driver, step, settings }: Flight): Executor | Promise<Executor> {
    const known = this.#found.get(driver) ?? new Map<string, Executor | Promise<Executor>>();
    this.#found.set(driver, known);
    const executor = known.get(step.executor);
    if (executor !== undefined) return executor;
    const finding = this.#parts.findExecutor(step.executor, { options: driver.options, settings });
    known.set(step.executor, finding);
    finding.then(
      (found) => {
        known.set(step.executor, found);
        if (found.runEnded !== undefined) this.#noteKeeper(driver.runId, found);
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
  forget(driver: RunDriver): void {
    this.#found.delete(driver);
  }

  /** Executors let go of what they keep for the run. */
  endRun(driver: RunDriver): void {
    const { runId, options, state } = driver;
    const keepers = this.#keepers.get(runId);
    this.#keepers.delete(runId);
    const status = state.ending?.status;
    if (keepers === undefined || status === undefined) return;
    for (const keeper of keepers) {
      keeper.runEnded?.({ runId, status, options }).catch((error: unknown) => this.#parts.broken(driver, error));
    }
  }
}

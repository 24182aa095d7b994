import { PawlError } from "../../core/errors/pawl-error.ts";

/**
 * Runs that others begin to take over, and those that are being deleted: never the same one. From its start on the journal says
 * that a rerun needs its old run; until then this does.
 */
export class RerunGuard {
  readonly #beginning = new Map<string, number>();
  readonly #deleting = new Set<string>();

  /** Throws `RUN_NOT_FOUND` where the run is being deleted. Returns what lets go of it again. */
  begin(runId: string): () => void {
    if (this.#deleting.has(runId)) {
      throw new PawlError("RUN_NOT_FOUND", { message: `The run "${runId}" that this one repeats is being deleted.` });
    }
    this.#beginning.set(runId, (this.#beginning.get(runId) ?? 0) + 1);
    return () => {
      const left = (this.#beginning.get(runId) ?? 0) - 1;
      if (left > 0) this.#beginning.set(runId, left);
      else this.#beginning.delete(runId);
    };
  }

  /** Throws `RUN_NEEDED` where another run begins to take it over. Returns what is called when it is done. */
  delete(runId: string): () => void {
    if (this.#beginning.has(runId)) {
      throw new PawlError("RUN_NEEDED", { message: `Another run begins to take outcomes of ${runId} over.` });
    }
    this.#deleting.add(runId);
    return () => this.#deleting.delete(runId);
  }
}

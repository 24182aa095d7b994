import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Journal, RunNo, RunRecord } from "../../ports/journal.ts";

/** Keeps a run from being deleted while a rerun of it begins, and a rerun from beginning while the run is deleted. */
export class RerunGuard {
  readonly #beginning = new Map<string, number>();
  readonly #deleting = new Set<string>();

  /** A rerun begins. Throws `RUN_NOT_FOUND` if the run is being deleted. Returns the release. */
  begin(runId: string): () => void {
    if (this.#deleting.has(runId))
      throw new PawlError("RUN_NOT_FOUND", { message: `The run "${runId}" that this one repeats is being deleted.` });
    this.#beginning.set(runId, (this.#beginning.get(runId) ?? 0) + 1);
    return () => {
      const left = (this.#beginning.get(runId) ?? 0) - 1;
      if (left > 0) this.#beginning.set(runId, left);
      else this.#beginning.delete(runId);
    };
  }

  /** The run is deleted. Throws `RUN_NEEDED` while a rerun of it begins. Returns the release. */
  delete(runId: string): () => void {
    if (this.#beginning.has(runId))
      throw new PawlError("RUN_NEEDED", { message: `Another run begins to take outcomes of ${runId} over.` });
    this.#deleting.add(runId);
    return () => this.#deleting.delete(runId);
  }
}

const PAGE = 50;

/** Throws `RUN_NEEDED` while a rerun of it goes on, and `RUN_NOT_ENDED`. */
export async function deleteRun(journal: Journal, record: RunRecord): Promise<void> {
  const unfinished = await findUnfinishedRepeat(journal, record.id);
  if (unfinished !== undefined)
    throw new PawlError("RUN_NEEDED", {
      message: `The run ${unfinished.id} takes outcomes of ${record.id} over and has not ended.`,
    });
  if (await journal.deleteRun(record.no)) return;
  throw new PawlError("RUN_NOT_ENDED", { message: `The run ${record.id} has not ended: ${record.status}.` });
}

/** A rerun or fork of the run that has not ended: it may still read from it. */
async function findUnfinishedRepeat(journal: Journal, runId: string): Promise<RunRecord | undefined> {
  for (let beforeRun: RunNo | undefined; ; ) {
    const page = await journal.listRuns({ parentRunId: runId, limit: PAGE, beforeRun });
    const unfinished = page.find(({ completedAt }) => completedAt === undefined);
    if (unfinished !== undefined || page.length < PAGE) return unfinished;
    beforeRun = page.at(-1)?.no;
  }
}

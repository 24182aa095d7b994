import type { Journal, RunRecord } from "../../../ports/journal.ts";
import { FollowedRun } from "./followed-run.ts";

/** The runs that somebody follows at the moment. Nothing is kept of one that nobody follows any more. */
export class FollowedRuns {
  readonly #runs = new Map<string, { readonly run: FollowedRun; followers: number }>();

  /** To be given back with `leave`. */
  join(record: RunRecord, journal: Journal): FollowedRun {
    const shared = this.#runs.get(record.id) ?? { run: new FollowedRun(record, journal), followers: 0 };
    shared.followers += 1;
    this.#runs.set(record.id, shared);
    return shared.run;
  }

  leave(runId: string): void {
    const shared = this.#runs.get(runId);
    if (shared === undefined) return;
    shared.followers -= 1;
    if (shared.followers === 0) this.#runs.delete(runId);
  }
}

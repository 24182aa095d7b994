import type { Append, AppendResult, ClaimedRun, Journal, RunNo } from "../ports/journal.ts";
import { hasEnded } from "./append-rule.ts";

/**
 * Remembers the runs that this process drives, of a journal that only this process writes: nobody else needs to know. `journal`
 * gives every run that is asked for.
 */
export function holdRuns(journal: Journal): Journal {
  const held = new Set<RunNo>();

  function note(entries: readonly Append[], results: readonly AppendResult[]): void {
    for (const [index, { run, create, patch }] of entries.entries()) {
      if (results[index]?.ok !== true) continue;
      if (patch?.status !== undefined && hasEnded(patch.status)) held.delete(run);
      else if (create !== undefined) held.add(run);
    }
  }

  return {
    ...journal,

    append(entries, token) {
      const appending = journal.append(entries, token);
      return appending.then((results) => {
        note(entries, results);
        return results;
      });
    },

    async claim(run) {
      const record = await journal.claim(run);
      if (record === undefined || hasEnded(record.status)) return undefined;
      held.add(run);
      return record;
    },

    async claimDue(due) {
      const claimed: ClaimedRun[] = [];
      for (let afterRun = due.afterRun; claimed.length < due.limit; ) {
        const page = await journal.claimDue({ ...due, afterRun });
        const free = page.filter(({ no }) => !held.has(no)).slice(0, due.limit - claimed.length);
        for (const { no } of free) held.add(no);
        claimed.push(...free);
        const last = page.at(-1);
        if (last === undefined || page.length < due.limit) break;
        afterRun = last.no;
      }
      return claimed;
    },

    async release(runs) {
      for (const run of runs) held.delete(run);
    },
  };
}

import type { Journal, RunNo } from "../../ports/journal.ts";
import type { InvocationClaims } from "./run-driver.ts";

interface Told {
  /** A run is about to be created here. */
  created(no: RunNo): void;
  /** Runs have left memory. */
  unloaded(no: RunNo): void;
}

/** The journal of a host whose runs Restate drives: a run is claimed only while its invocation is here, and Restate's clock wakes runs. */
export function createInvocationJournal(journal: Journal, claims: InvocationClaims, told: Told): Journal {
  return {
    ...journal,

    async reserveRun() {
      const no = await journal.reserveRun();
      told.created(no);
      return no;
    },

    async claim(run) {
      return claims.allows(run) ? journal.claim(run) : undefined;
    },

    async claimDue(wanted) {
      // A claim whose connection was cut may have been done: no other process could drive that run.
      const strays = claims.isAlone ? [] : await journal.claimDue({ ...wanted, only: [] });
      if (strays.length > 0) await journal.release(strays.map(({ no }) => no));
      return [];
    },

    async nextWakeAt() {
      return undefined;
    },

    async release(runs) {
      await journal.release(runs);
      for (const run of runs) told.unloaded(run);
    },
  };
}

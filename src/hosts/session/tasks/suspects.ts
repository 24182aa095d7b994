import type { Event } from "../../../core/history/events.ts";
import type { Instance, RunState } from "../../../core/history/run-state.ts";
import type { Journal, RunNo } from "../../../ports/journal.ts";

/** The next crash would make it POISON. */
const LAST_CHANCE_CRASHES = 2;

/**
 * After two crashes with an attempt in flight nobody knows whether it was the attempt or one beside it. So those on
 * their last chance begin one after another in this process, each durably before it begins: the third crash is then
 * only the one's that had begun, and who waited for its turn is not to blame.
 */
export function isLastChance({ crashes }: Instance): boolean {
  return crashes >= LAST_CHANCE_CRASHES;
}

/** One at a time, in the order of asking. */
export class SuspectTurns {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when it is one's turn, with what ends it. */
  async take(): Promise<() => void> {
    const before = this.#last;
    const turn = Promise.withResolvers<void>();
    this.#last = turn.promise;
    await before;
    return turn.resolve;
  }
}

/** Says of the attempts that waited for their turn when the process died that they had not begun. */
export async function clearInnocentAttempts(
  journal: Journal,
  run: RunNo,
  { state, events }: { readonly state: RunState; readonly events: readonly Event[] },
): Promise<readonly Event[]> {
  const suspects = events.filter((event) => event.type === "stepInterrupted" && isSuspect(state, event.path));
  if (suspects.length === 0) return events;
  const begun = await findBegun(journal, run, state.seq);
  return events.map((event) =>
    event.type === "stepInterrupted" && suspects.includes(event) && begun.get(event.path) !== event.attempt
      ? { ...event, hasBegun: false }
      : event,
  );
}

function isSuspect(state: RunState, path: string): boolean {
  const instance = state.active.get(path);
  return instance !== undefined && isLastChance(instance);
}

const PAGE = 10_000;

/** The latest attempt of each step whose start is recorded. Read only when somebody is on its last chance. */
async function findBegun(journal: Journal, run: RunNo, lastSeq: number): Promise<ReadonlyMap<string, number>> {
  const begun = new Map<string, number>();
  for (let afterSeq = 0; afterSeq < lastSeq; afterSeq += PAGE) {
    for (const { event } of await journal.readEvents(run, { afterSeq, limit: PAGE })) {
      if (event.type === "stepStarted") begun.set(event.path, event.attempt);
    }
  }
  return begun;
}

import type { Event } from "../../../core/history/events.ts";
import type { Instance, RunState } from "../../../core/history/run-state.ts";
import type { Journal, RunNo } from "../../../ports/journal.ts";
import type { RunningTask } from "./running-task.ts";

/** One crash more would make the instance POISON. */
const SUSPECT_CRASHES = 2;

/**
 * After two crashes with an attempt in flight nobody knows whether that attempt was the cause or one beside it. So suspects
 * run one after another in this process, and each start is durable before the work begins. The third crash then counts
 * only against the one that had begun.
 */
export function isSuspect({ crashes }: Instance): boolean {
  return crashes >= SUSPECT_CRASHES;
}

/** A lock that suspects take in the order of asking. */
export class SuspectLock {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when the task has the lock and its start is durable, or when it has ended meanwhile. */
  async take(task: RunningTask, now: () => number): Promise<void> {
    const before = this.#last;
    const turn = Promise.withResolvers<void>();
    this.#last = turn.promise;
    await before;
    if (task.hasEnded || task.controller.signal.aborted) return turn.resolve();
    task.endTurn = turn.resolve;
    const { run, path, attempt } = task;
    run.apply({ type: "stepStarted", at: now(), path, attempt }, task.startValue);
    await run.durable();
  }
}

const PAGE = 10_000;

/** The latest attempt of each step whose start is recorded. Read only if a suspect was in flight. */
export async function findBegun(journal: Journal, run: RunNo, state: RunState): Promise<ReadonlyMap<string, number>> {
  const begun = new Map<string, number>();
  const suspects = [...state.active.values()].some(
    (instance) => instance.phase === "dispatched" && isSuspect(instance),
  );
  if (!suspects) return begun;
  for (let afterSeq = 0; afterSeq < state.seq; afterSeq += PAGE) {
    for (const { event } of await journal.readEvents(run, { afterSeq, limit: PAGE })) {
      if (event.type === "stepStarted") begun.set(event.path, event.attempt);
    }
  }
  return begun;
}

/** Says of suspects that waited for the lock when the process died that they had not begun. */
export function clearInnocentAttempts(
  events: readonly Event[],
  { active }: RunState,
  begun: ReadonlyMap<string, number>,
): readonly Event[] {
  return events.map((event) => {
    if (event.type !== "stepInterrupted") return event;
    const instance = active.get(event.path);
    const isInnocent = instance !== undefined && isSuspect(instance) && begun.get(event.path) !== event.attempt;
    return isInnocent ? { ...event, hasBegun: false } : event;
  });
}

import type { Journal, RunNo } from "../../ports/journal.ts";

/** The calls that reach the database. Numbers of runs are reserved on the caller's side. */
type JournalCalls = Omit<Journal, "reserveRun">;
export type JournalCall = keyof JournalCalls;

/** The same calls where the answers are there at once. */
export type SynchronousCalls = {
  readonly [Call in JournalCall]: (
    ...parameters: Parameters<JournalCalls[Call]>
  ) => Awaited<ReturnType<JournalCalls[Call]>>;
};

const CALLS: Readonly<Record<JournalCall, true>> = {
  append: true,
  readEvents: true,
  readValue: true,
  readValues: true,
  readLog: true,
  findCommit: true,
  listViolations: true,
  findRun: true,
  readRun: true,
  listRuns: true,
  countRuns: true,
  countApprovals: true,
  listDue: true,
  nextWakeAt: true,
  readPinned: true,
  readOutbox: true,
  finishOutbox: true,
  deleteRun: true,
  close: true,
};

/** A journal whose calls are all answered by one function, which may do them here or send them elsewhere. */
export function journalOver(
  newestRun: RunNo,
  answer: (call: JournalCall, parameters: readonly unknown[]) => Promise<unknown>,
): Journal {
  let lastReserved = newestRun;
  const reserveRun = () => {
    lastReserved += 1;
    return lastReserved;
  };
  const calls = (Object.keys(CALLS) as JournalCall[]).map((call) => {
    return [call, (...parameters: readonly unknown[]) => answer(call, parameters)];
  });
  return { ...(Object.fromEntries(calls) as JournalCalls), reserveRun };
}

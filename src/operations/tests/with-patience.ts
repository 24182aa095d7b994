import { setTimeout } from "node:timers/promises";

/** How long work that goes on is waited for before time moves on: it may be work that a time-out is to end. */
const WORK_MS = 1_000;

/** What `rest` gives, or undefined where work goes on. */
export async function withPatience<T>(rest: Promise<T>): Promise<T | undefined> {
  const patience = new AbortController();
  const late = setTimeout(WORK_MS, undefined, { signal: patience.signal }).catch(() => undefined);
  try {
    return await Promise.race([rest, late]);
  } finally {
    patience.abort();
  }
}

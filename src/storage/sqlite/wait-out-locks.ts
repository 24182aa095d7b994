import { setTimeout } from "node:timers/promises";
import { isPawlError } from "../../core/errors/pawl-error.ts";

/**
 * How long SQLite itself waits for a lock that another process holds, on the thread that everything else needs: as long as
 * a short write takes. Longer ones are waited out by `waitOutLocks`.
 */
export const BUSY_TIMEOUT_MS = 5;

const PATIENCE_MS = 5_000;
const FIRST_PAUSE_MS = 5;
const LAST_PAUSE_MS = 100;

/** The same object, whose calls are made again while another process holds the lock that they need. Others go on meanwhile. */
export function waitOutLocks<T extends object>(records: T): T {
  return new Proxy(records, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...parameters: unknown[]): unknown => {
        const call = (): unknown => Reflect.apply(value, target, parameters);
        const result = call();
        return result instanceof Promise ? result.catch((error: unknown) => retryWhileLocked(call, error)) : result;
      };
    },
  });
}

/** Makes a call again that has failed. Rejects with its failure where that is no lock, or after five seconds. */
async function retryWhileLocked<T>(call: () => T | Promise<T>, failure: unknown): Promise<T> {
  const until = performance.now() + PATIENCE_MS;
  let last = failure;
  for (let pauseMs = FIRST_PAUSE_MS; isLocked(last); pauseMs = Math.min(2 * pauseMs, LAST_PAUSE_MS)) {
    if (performance.now() >= until) break;
    await setTimeout(pauseMs);
    try {
      return await call();
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

const SQLITE_BUSY = 5;

/** Another process holds the lock that was needed. */
export function isLocked(error: unknown): boolean {
  const cause = isPawlError(error) ? error.cause : error;
  return cause instanceof Error && "errcode" in cause && (Number(cause.errcode) & 0xff) === SQLITE_BUSY;
}

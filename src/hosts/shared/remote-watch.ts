import { setTimeout } from "node:timers/promises";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { Journal } from "../../ports/journal.ts";
import type { RunNotice } from "../run-host.ts";

interface RemoteWatchParts {
  readonly journal: Journal;
  readonly runId: string;
  listen(notice: RunNotice): void;
  /** Resolves when something may have happened somewhere. */
  changed(): Promise<void>;
}

const LOOK_AGAIN_MS = 250;
const PAGE = 500;

/** Watches a run that this or another process drives: what is not heard here is read from the journal. */
export class RemoteWatch {
  readonly #parts: RemoteWatchParts;
  /** The last event that was told. Undefined: nothing is known so far. */
  #lastSeq: number | undefined;
  #isStopped = false;
  #told = Promise.withResolvers<void>();

  constructor(parts: RemoteWatchParts) {
    this.#parts = parts;
    void this.#follow();
  }

  /** Heard in this process. */
  receive(notice: RunNotice): void {
    if (notice.type === "event") {
      if (notice.seq <= (this.#lastSeq ?? 0)) return;
      this.#lastSeq = notice.seq;
    }
    this.#parts.listen(notice);
  }

  /** Told by another process. */
  relayed(notice: JsonObject): void {
    const read = readRelayed(notice);
    if (read === "look") this.#told.resolve();
    else if (read !== undefined) this.#parts.listen(read);
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #follow(): Promise<void> {
    while (!this.#isStopped) {
      this.#told = Promise.withResolvers();
      try {
        if (await this.#readOn()) return;
      } catch {
        // A caller that waits for the run is told what is wrong with the journal. The view goes on when it can be read again.
      }
      await Promise.race([
        this.#told.promise,
        this.#parts.changed(),
        setTimeout(LOOK_AGAIN_MS, undefined, { ref: false }),
      ]);
    }
  }

  /** True: the run has ended, and nothing follows. */
  async #readOn(): Promise<boolean> {
    const { journal, runId } = this.#parts;
    const record = await journal.findRun(runId);
    if (record === undefined || record === "ambiguous") return false;
    this.#lastSeq ??= record.lastSeq;
    while (this.#lastSeq < record.lastSeq && !this.#isStopped) {
      const rows = await journal.readEvents(record.no, { afterSeq: this.#lastSeq, limit: PAGE });
      for (const { seq, event } of rows) this.receive({ type: "event", seq, event });
      if (rows.length === 0) break;
    }
    return record.completedAt !== undefined;
  }
}

/** What other processes are told of a notice. Events they read in the journal, which alone is true: they are told to look. */
export function toRelayed(notice: RunNotice): JsonObject | undefined {
  if (notice.type === "parked") return undefined;
  return notice.type === "event" ? { type: "event" } : { ...notice };
}

/** A notice of another process. Undefined: it is none. `look`: there is an event to be read. */
function readRelayed({ type, path, attempt, at, event, code, message }: JsonObject): RunNotice | "look" | undefined {
  if (type === "event") return "look";
  if (type === "unstalled") return { type };
  if (type === "stalled")
    return typeof code === "string" && typeof message === "string" ? { type, code, message } : undefined;
  if (typeof path !== "string" || typeof attempt !== "number") return undefined;
  if (type === "dispatched" && typeof at === "number") return { type, path, attempt, at };
  if (type === "progress" && event !== undefined) return { type, path, attempt, event };
  if (type === "live" && isJsonObject(event)) return { type, path, attempt, event };
  return undefined;
}

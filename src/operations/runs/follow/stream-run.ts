import type { RunNotice } from "../../../hosts/run-host.ts";
import { findRun } from "../../application/find-run.ts";
import type { Driving, Principal, Stores } from "../../application/ports.ts";
import { toTold } from "../read-run-events.ts";
import type { FollowedRuns } from "./followed-runs.ts";
import { isBehind, type ProgressChange, parseId, type RunNow, type StreamedChange } from "./streamed-change.ts";

export interface StreamOptions {
  /** Those of this server: what is read for one follower is there for all. */
  readonly followed: FollowedRuns;
  /** The id of the last change that the follower has seen. */
  readonly after?: string;
  /**
   * Also what steps tell while they work: `progress` is in their logs, `live` (the text of an agent as it comes) is nowhere
   * else. It is told once, and left out for who reads too slowly.
   */
  readonly withProgress?: boolean;
  /** Also the events of the journal, for who draws the whole run. */
  readonly withEvents?: boolean;
}

const MAX_PROGRESS_KEPT = 256;
const MAX_LIVE_KEPT = 1_024;

/**
 * Streams what happens in a run, from its beginning or from where a follower has lost it: without a gap and without a repetition.
 * A slow reader falls behind, and nothing is kept for them in memory.
 */
export async function* streamRun(
  app: Principal & Stores & Driving,
  idOrPrefix: string,
  options: StreamOptions,
  stop: AbortSignal,
): AsyncGenerator<StreamedChange> {
  const record = await findRun(app, idOrPrefix);
  const sources = await app.records();
  const after = parseId(options.after);
  const wakeUp = new WakeUp(options.withProgress === true, record.lastSeq);
  const stopped = () => wakeUp.ring();
  // Before anything is read: what happens in between is not missed.
  const host = await app.host();
  const stopWatching = host.watch(record.id, (notice) => wakeUp.hear(notice));
  stop.addEventListener("abort", stopped, { once: true });
  const run = options.followed.join(record, sources.journal);
  try {
    let shown: RunNow | undefined;
    for (let place = 0; !stop.aborted; ) {
      await run.readOn();
      for (; place < run.changes.length && !stop.aborted; place += 1) {
        const change = run.changes[place];
        if (change === undefined || !isBehind(change, after)) continue;
        yield* wakeUp.takeProgress(Number.parseInt(change.id, 10) - 1);
        if (change.event !== "event") yield change;
        else if (options.withEvents === true) yield { ...change, data: toTold(app, change.data) };
      }
      // Others may be reading on while this follower was away.
      if (!run.isLast || stop.aborted) continue;
      // What others read while this follower takes what it is handed is told first.
      const { hasEnded } = run;
      const now = run.now();
      yield* wakeUp.takeProgress(run.lastSeq);
      if (shown?.status !== now.status || shown.at_rest !== now.at_rest) {
        yield { event: "status", data: now };
        shown = now;
      }
      if (hasEnded) return yield* (await run.end(sources)).filter((change) => isBehind(change, after));
      if (!stop.aborted) await wakeUp.next();
    }
  } finally {
    options.followed.leave(record.id);
    stopWatching();
    stop.removeEventListener("abort", stopped);
  }
}

/** Tells that there is something to read, and keeps a little of what is not recorded. */
class WakeUp {
  readonly #keepsProgress: boolean;
  /** The last event that was heard of. */
  #seq: number;
  #kept: { readonly afterSeq: number; readonly change: ProgressChange }[] = [];
  #count = { progress: 0, live: 0 };
  #isDue = false;
  #ring: () => void = () => undefined;

  constructor(keepsProgress: boolean, seq: number) {
    this.#keepsProgress = keepsProgress;
    this.#seq = seq;
  }

  hear(notice: RunNotice): void {
    if (notice.type === "progress" || notice.type === "live") {
      if (!this.#keepsProgress) return;
      this.#keep(notice);
    } else if (notice.type !== "event") return;
    else this.#seq = Math.max(this.#seq, notice.seq);
    this.ring();
  }

  /** Many small pieces never push out what stands in the log as well. */
  #keep({ type, path, attempt, event }: Extract<RunNotice, { readonly type: "progress" | "live" }>): void {
    if (this.#count[type] >= (type === "live" ? MAX_LIVE_KEPT : MAX_PROGRESS_KEPT)) return;
    this.#count[type] += 1;
    this.#kept.push({ afterSeq: this.#seq, change: { event: type, data: { path, attempt, event } } });
  }

  ring(): void {
    this.#isDue = true;
    this.#ring();
  }

  /** What was told before the event after `seq`: what the journal knows comes first, and what it did not know yet later. */
  takeProgress(seq: number): readonly ProgressChange[] {
    const later = this.#kept.findIndex(({ afterSeq }) => afterSeq > seq);
    const taken = this.#kept.splice(0, later < 0 ? this.#kept.length : later).map(({ change }) => change);
    for (const { event } of taken) this.#count[event] -= 1;
    return taken;
  }

  async next(): Promise<void> {
    if (!this.#isDue) await new Promise<void>((resolve) => (this.#ring = resolve));
    this.#isDue = false;
  }
}

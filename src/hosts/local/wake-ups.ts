import { isStorageFailure } from "../../core/errors/is-storage-failure.ts";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Journal, RunNo, RunRecord } from "../../ports/journal.ts";
import { STALL_RETRY_MS } from "./host-parts.ts";

const SLICE = 50;

interface WakeUpsParts {
  readonly journal: Journal;
  readonly clock: Clock;
  load(record: RunRecord): Promise<unknown>;
  /** How many more runs this process takes up. */
  room(): number;
  /** The runs that it takes up. Undefined: all. */
  only(): readonly RunNo[] | undefined;
  recover(): Promise<unknown>;
  onDefect(error: unknown): void;
}

/** Takes up runs that must go on: at the start, when a parked run is due, and again after the storage has failed. */
export class WakeUps {
  readonly #parts: WakeUpsParts;
  /** Runs that cannot be read. They are reported once, and keep no other run from going on. */
  readonly #unreadable = new Set<RunNo>();
  #stopAlarm: (() => void) | undefined;
  #stopRetry: (() => void) | undefined;
  #settingAlarm: Promise<void> | undefined;
  #looking: Promise<number> | undefined;
  #mustLookAgain = false;
  #isStopped = false;
  #isFull = false;

  constructor(parts: WakeUpsParts) {
    this.#parts = parts;
  }

  /** The last look ended because there was no room for more. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Loads runs that are due and that no process drives, as long as there is room. Returns how many. */
  takeUpDue(): Promise<number> {
    this.#mustLookAgain = true;
    this.#looking ??= this.#lookUntilDone().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** One look at a time: two would fill the same room. */
  async #lookUntilDone(): Promise<number> {
    let resumed = 0;
    while (this.#mustLookAgain) {
      this.#mustLookAgain = false;
      resumed += await this.#look();
    }
    return resumed;
  }

  /** In slices. */
  async #look(): Promise<number> {
    const { journal, clock, room, only } = this.#parts;
    let resumed = 0;
    const seen = new Set<RunNo>();
    let isNews = false;
    for (let afterRun = 0; ; ) {
      const limit = Math.min(SLICE, room());
      this.#isFull = limit <= 0;
      if (this.#isFull) return resumed;
      const slice = await journal.claimDue({ now: clock.now(), afterRun, limit, only: only() });
      for (const record of slice) {
        if (await this.#takeUp(record)) resumed += 1;
        afterRun = Math.max(afterRun, record.no);
        isNews ||= !seen.has(record.no);
        seen.add(record.no);
      }
      if (slice.length === limit) continue;
      // Where tenants have turns a slice is not that of the lowest numbers: then it begins again, until nothing new comes.
      if (!isNews || seen.size < limit) return resumed;
      [afterRun, isNews] = [0, false];
    }
  }

  async #takeUp(record: RunRecord): Promise<boolean> {
    if (this.#unreadable.has(record.no)) return false;
    try {
      await this.#parts.load(record);
      return true;
    } catch (error) {
      // It was let go of in between, perhaps in vain: then it is found again.
      if (isPawlError(error) && error.code === "RUN_ELSEWHERE") return false;
      if (!isStorageFailure(error)) this.#unreadable.add(record.no);
      this.retryLater(error);
      return false;
    }
  }

  /** The storage may work again soon, and perhaps no other caller asks for these runs. */
  retryLater(error: unknown): void {
    const { clock, onDefect } = this.#parts;
    onDefect(error);
    if (!isStorageFailure(error) || this.#isStopped) return;
    this.#stopRetry ??= clock.wakeAt(clock.now() + STALL_RETRY_MS, () => {
      this.#stopRetry = undefined;
      void this.#recover();
    });
  }

  /** Sets the alarm for the next parked run; for one that is due already, at `notBefore`. */
  setAlarm(notBefore = 0): Promise<void> {
    // Runs that were parked by one commit share the query.
    this.#settingAlarm ??= Promise.resolve().then(() => {
      this.#settingAlarm = undefined;
      return this.#setAlarm(notBefore);
    });
    return this.#settingAlarm;
  }

  async #setAlarm(notBefore: number): Promise<void> {
    const { journal, clock } = this.#parts;
    const wakeAt = await journal.nextWakeAt();
    this.#stopAlarm?.();
    this.#stopAlarm = undefined;
    if (wakeAt === undefined || this.#isStopped) return;
    this.#stopAlarm = clock.wakeAt(wakeAt <= clock.now() ? notBefore : wakeAt, () => {
      this.#stopAlarm = undefined;
      return this.#recover();
    });
  }

  #recover(): Promise<unknown> {
    return this.#parts.recover().catch((error: unknown) => this.retryLater(error));
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopAlarm?.();
    this.#stopRetry?.();
  }
}

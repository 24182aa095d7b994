import { isStorageFailure } from "../../core/errors/is-storage-failure.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import { parseExact, writeExact } from "../../core/exact-json.ts";
import type { Json } from "../../core/json.ts";
import type { Clock } from "../../ports/clock.ts";
import type { FileStorage } from "../../ports/file-storage.ts";
import type { Journal, OutboxRecord, RunNo, RunRecord } from "../../ports/journal.ts";
import { filesOfTenant } from "../tenant-files.ts";
import { STALL_RETRY_MS } from "./host-parts.ts";

interface OutboxParts {
  readonly journal: Journal;
  readonly files: FileStorage;
  readonly clock: Clock;
  outputsOf(run: RunNo): Promise<{ readonly record: RunRecord; readonly outputs: Json }>;
  /** An entry has failed. It is tried again, here or with the next start, as long as it can succeed at all. */
  onDefect(error: unknown): void;
}

const PAGE = 100;

/** Does what must follow the end of runs, from entries committed with the end: at least once, and a failed entry does not block others. */
export class Outbox {
  readonly #parts: OutboxParts;
  /** Left for the next start. */
  readonly #postponed = new Set<number>();
  #draining: Promise<void> | undefined;
  #isWanted = false;
  #isClosed = false;
  #stopRetry: (() => void) | undefined;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  schedule(): void {
    if (this.#isClosed) return;
    this.#isWanted = true;
    this.#draining ??= this.#drainAll();
  }

  /** Resolves when no entry is being worked on. */
  async idle(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining;
  }

  async drain(): Promise<void> {
    this.schedule();
    await this.idle();
  }

  /** Finishes the current entries and begins no more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopRetry?.();
    await this.idle();
  }

  async #drainAll(): Promise<void> {
    // Not at once: the caller goes on first.
    await Promise.resolve();
    try {
      while (this.#isWanted) {
        this.#isWanted = false;
        await this.#drainStorage();
      }
    } catch (error) {
      this.#parts.onDefect(error);
      this.#retryLater();
    } finally {
      this.#draining = undefined;
    }
  }

  #retryLater(): void {
    const { clock } = this.#parts;
    if (this.#isClosed) return;
    this.#stopRetry?.();
    this.#stopRetry = clock.wakeAt(clock.now() + STALL_RETRY_MS, () => this.schedule());
  }

  async #drainStorage(): Promise<void> {
    const { journal } = this.#parts;
    for (;;) {
      const limit = PAGE + this.#postponed.size;
      const entries = await journal.readOutbox({ limit, kind: "storage" });
      const done: number[] = [];
      try {
        for (const entry of entries)
          if (!this.#postponed.has(entry.id) && (await this.#isDone(entry))) done.push(entry.id);
      } finally {
        if (done.length > 0) await journal.finishOutbox(done);
      }
      if (entries.length < limit) return;
    }
  }

  /** Throws if the storage fails as a whole: then the others would fail too. */
  async #isDone(entry: OutboxRecord): Promise<boolean> {
    try {
      await this.#store(entry);
      return true;
    } catch (error) {
      if (isStorageFailure(error)) throw error;
      this.#parts.onDefect(withRun(error, entry));
      // Such a path leads out of the storage for ever; anything else may be put right before the next start.
      const isHopeless = isPawlError(error) && error.code === "STORAGE_PATH_INVALID";
      if (!isHopeless) this.#postponed.add(entry.id);
      return isHopeless;
    }
  }

  async #store(entry: OutboxRecord): Promise<void> {
    const { path } = parseExact(entry.body) as { path: unknown };
    const { record, outputs } = await this.#parts.outputsOf(entry.run);
    await filesOfTenant(this.#parts.files, record.tenantId).write(
      typeof path === "string" ? path : String(path),
      `${writeExact(outputs, 2)}\n`,
    );
  }
}

function withRun(error: unknown, { run, body }: OutboxRecord): unknown {
  if (!isPawlError(error)) return error;
  const message = `The outputs of run number ${run} could not be stored (${body}): ${error.message}`;
  return new PawlError(error.code, { message, cause: error });
}

import { isStorageFailure } from "../../../core/errors/is-storage-failure.ts";
import { isPawlError, type PawlError } from "../../../core/errors/pawl-error.ts";
import type { Blobs } from "../../../ports/blobs.ts";
import type { Clock } from "../../../ports/clock.ts";

export interface RetryingBlobsParts {
  readonly blobs: Blobs;
  readonly clock: Clock;
  readonly retryMs: number;
  /** Nothing can be written or read, and it is tried again. `undefined`: it has succeeded. */
  stalled(error: PawlError | undefined): void;
}

/**
 * Retries while the disk is full or fails: the output of a finished step is written later, neither lost nor paid for twice,
 * and a step whose input cannot be read waits for it.
 */
export class RetryingBlobs implements Blobs {
  readonly #parts: RetryingBlobsParts;
  readonly #waiting = new Set<() => void>();
  #hasGivenUp = false;

  constructor(parts: RetryingBlobsParts) {
    this.#parts = parts;
  }

  put(content: string | Uint8Array): Promise<string> {
    return this.#withRetries(() => this.#parts.blobs.put(content));
  }

  get(sha256: string): Promise<Uint8Array> {
    return this.#withRetries(() => this.#parts.blobs.get(sha256));
  }

  list(): ReturnType<Blobs["list"]> {
    return this.#parts.blobs.list();
  }

  remove(sha256: string): Promise<void> {
    return this.#parts.blobs.remove(sha256);
  }

  /** Tries each once more at once. From then on errors are thrown. */
  giveUpRetries(): void {
    this.#hasGivenUp = true;
    for (const wake of [...this.#waiting]) wake();
  }

  async #withRetries<T>(act: () => Promise<T>): Promise<T> {
    const { stalled } = this.#parts;
    for (let isStalled = false; ; isStalled = true) {
      try {
        const done = await act();
        if (isStalled) stalled(undefined);
        return done;
      } catch (error) {
        if (!isPawlError(error) || !isStorageFailure(error) || this.#hasGivenUp) throw error;
        stalled(error);
      }
      await this.#pause();
    }
  }

  #pause(): Promise<void> {
    const { clock, retryMs } = this.#parts;
    if (this.#hasGivenUp) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        stop();
        this.#waiting.delete(wake);
        resolve();
      };
      const stop = clock.wakeAt(clock.now() + retryMs, wake);
      this.#waiting.add(wake);
    });
  }
}

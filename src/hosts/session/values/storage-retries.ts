import { isStorageFailure } from "../../../core/errors/is-storage-failure.ts";
import { isPawlError, type PawlError } from "../../../core/errors/pawl-error.ts";
import type { Blobs } from "../../../ports/blobs.ts";
import type { Clock } from "../../../ports/clock.ts";
import type { FileStorage } from "../../../ports/file-storage.ts";
import type { StartRates } from "../../../ports/service/start-rates.ts";
import type { AwaitedEvents } from "../steps/step-parts.ts";

export interface StorageRetriesParts {
  readonly clock: Clock;
  /** The first pause. Each further one is twice as long, until they are `retryMs`. */
  readonly firstRetryMs: number;
  readonly retryMs: number;
  /** Nothing can be written or read, and it is tried again. `undefined`: it has succeeded. */
  stalled(error: PawlError | undefined): void;
}

/**
 * Retries while the storage is full or fails: the output of a finished step is written later, neither lost nor paid for twice,
 * and a step whose input cannot be read waits for it.
 */
export class StorageRetries {
  readonly #parts: StorageRetriesParts;
  readonly #waiting = new Set<() => void>();
  #hasGivenUp = false;

  constructor(parts: StorageRetriesParts) {
    this.#parts = parts;
  }

  /** Tries each once more at once. From then on errors are thrown. */
  giveUp(): void {
    this.#hasGivenUp = true;
    for (const wake of [...this.#waiting]) wake();
  }

  blobs(blobs: Blobs): Blobs {
    return {
      put: (content) => this.#untilDone(() => blobs.put(content)),
      get: (sha256) => this.#untilDone(() => blobs.get(sha256)),
      list: () => blobs.list(),
      remove: (sha256) => blobs.remove(sha256),
    };
  }

  files(files: FileStorage): FileStorage {
    return {
      ...(files.extendsAtomically === true ? { extendsAtomically: true } : {}),
      read: (path) => this.#untilDone(() => files.read(path)),
      write: (path, content, known) => this.#untilDone(() => files.write(path, content, known)),
      sizeOf: (path) => this.#untilDone(() => files.sizeOf(path)),
      readRange: (path, range) => this.#untilDone(() => files.readRange(path, range)),
      extend: (path, addition) => this.#untilDone(() => files.extend(path, addition)),
      list: (prefix) => this.#untilDone(() => files.list(prefix)),
      remove: (path) => this.#untilDone(() => files.remove(path)),
    };
  }

  events(events: AwaitedEvents): AwaitedEvents {
    return {
      register: (wait) => this.#untilDone(() => events.register(wait)),
      unregister: (wait) => this.#untilDone(() => events.unregister(wait)),
      giveBack: (...given) => this.#untilDone(() => events.giveBack(...given)),
      settle: (...settled) => this.#untilDone(() => events.settle(...settled)),
    };
  }

  rates({ take, pass }: StartRates): StartRates {
    // Whoever starts a run is told at once.
    return { take, pass: (...passed) => this.#untilDone(() => pass(...passed)) };
  }

  async #untilDone<T>(act: () => Promise<T>): Promise<T> {
    const { stalled, firstRetryMs, retryMs } = this.#parts;
    let pauseMs = firstRetryMs;
    for (let isStalled = false; ; isStalled = true) {
      try {
        const done = await act();
        if (isStalled) stalled(undefined);
        return done;
      } catch (error) {
        if (!isPawlError(error) || !isStorageFailure(error) || this.#hasGivenUp) throw error;
        stalled(error);
      }
      await this.#pause(pauseMs);
      pauseMs = Math.min(2 * pauseMs, retryMs);
    }
  }

  #pause(pauseMs: number): Promise<void> {
    const { clock } = this.#parts;
    if (this.#hasGivenUp) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        stop();
        this.#waiting.delete(wake);
        resolve();
      };
      const stop = clock.wakeAt(clock.now() + pauseMs, wake);
      this.#waiting.add(wake);
    });
  }
}

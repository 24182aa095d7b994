import type { ApiError, FeedEvent, PawlClient } from "pawl/client";
import { isPassing } from "./read-again.ts";

/** `lost`: the connection is being made again, and what is shown may be behind. */
export type FeedState = "connecting" | "live" | "lost" | "paused";

/** How often views are told: a thousand runs a second are one look at the list, not a thousand. */
const TOLD_EVERY_MS = 300;

type Listener = (events: readonly FeedEvent[]) => void;

/** What happens in all runs, over one connection for the whole page. Views are told of it in batches, and of nothing while it is paused. */
export class LiveFeed {
  readonly #listeners = new Set<Listener>();
  readonly #watchers = new Set<() => void>();
  #batch: FeedEvent[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #connection: "connecting" | "live" | "lost" = "connecting";
  #isPaused = false;
  /** Changes that wait while it is paused. */
  waiting = 0;

  get state(): FeedState {
    return this.#connection === "live" && this.#isPaused ? "paused" : this.#connection;
  }

  /** Follows until the signal. After a lost connection the listeners are told, as what a server does not keep may be missing. */
  async run(client: PawlClient, signal: AbortSignal, failed: (error: ApiError) => void): Promise<void> {
    const options = {
      signal,
      lost: () => this.#become("lost"),
      connected: () => {
        if (this.#connection === "lost") this.#flush();
        this.#become("live");
      },
    };
    for (;;) {
      try {
        for await (const event of client.followFeed(options)) this.#take(event);
      } catch (error) {
        if (signal.aborted) return;
        this.#become("lost");
        failed(error as ApiError);
        // A server that wants another key: the next try is by the key.
        if (!isPassing(error)) return;
      }
    }
  }

  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (!isPaused) this.#flush();
    this.#tellWatchers();
  }

  /** The listener is told what has happened; an empty batch says that something may have been missed. */
  readonly listen = (listener: Listener): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Of a change of `state` and `waiting`. */
  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  };

  #take(event: FeedEvent): void {
    if (event.event === "ready") return;
    // The server does not keep what was missed.
    if (event.event === "reset") return this.#flush();
    this.#batch.push(event);
    if (this.#isPaused) {
      // What waits is counted and read again, not kept.
      this.waiting += 1;
      this.#batch.length = 0;
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#tellWatchers();
      }, TOLD_EVERY_MS);
      return;
    }
    this.#timer ??= setTimeout(() => this.#flush(), TOLD_EVERY_MS);
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#batch;
    this.#batch = [];
    this.waiting = 0;
    for (const listener of this.#listeners) listener(batch);
  }

  #become(connection: "live" | "lost"): void {
    this.#connection = connection;
    this.#tellWatchers();
  }

  #tellWatchers(): void {
    for (const watcher of this.#watchers) watcher();
  }
}

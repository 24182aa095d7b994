import type { SentEvent } from "./service/event-stream.ts";

const MAX_WAITING = 1_000;

/** Events on their way to a client that takes them one by one. Nothing is kept for one that has left. */
export class EventQueue {
  readonly #stop: AbortSignal;
  #waiting: SentEvent[] = [];
  #isClosed = false;
  #wake: () => void = () => undefined;

  constructor(stop: AbortSignal) {
    this.#stop = stop;
    stop.addEventListener("abort", () => this.close(), { once: true });
  }

  /** An event that `mayBeLost` is left out for a client that reads too slowly. */
  push(event: SentEvent, { mayBeLost = false } = {}): void {
    if (this.#isClosed || (mayBeLost && this.#waiting.length >= MAX_WAITING)) return;
    this.#waiting.push(event);
    this.#wake();
  }

  /** Nothing more comes. */
  close(): void {
    this.#isClosed = true;
    if (this.#stop.aborted) this.#waiting = [];
    this.#wake();
  }

  async *read(): AsyncGenerator<SentEvent> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next !== undefined) yield next;
      else if (this.#isClosed) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}

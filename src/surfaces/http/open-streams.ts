/** The event streams of a server: so many at most, and all of them hear when it stops. */
export class OpenStreams {
  readonly #stop = new AbortController();
  #open = 0;

  get stopping(): AbortSignal {
    return this.#stop.signal;
  }

  get open(): number {
    return this.#open;
  }

  opened(): void {
    this.#open += 1;
  }

  closed(): void {
    this.#open -= 1;
  }

  stop(): void {
    this.#stop.abort();
  }
}

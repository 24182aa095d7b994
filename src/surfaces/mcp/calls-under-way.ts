/** Calls of tools that have not ended: what a call has begun may take a moment to end when the caller is gone. */
export class CallsUnderWay {
  readonly #calls = new Set<Promise<unknown>>();

  add<T>(call: Promise<T>): Promise<T> {
    this.#calls.add(call);
    const forget = () => this.#calls.delete(call);
    call.then(forget, forget);
    return call;
  }

  /** Resolves when none is left, however they end. */
  async ended(): Promise<void> {
    while (this.#calls.size > 0) await Promise.allSettled(this.#calls);
  }
}

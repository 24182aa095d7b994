import { SdkError, SdkErrorCode } from "@modelcontextprotocol/client";

/** Ends a call that gives no sign of life for too long, or takes too long in all. It stands still while a person is asked. */
export class CallClock {
  readonly #timedOut = new AbortController();
  readonly #idleMs: number;
  #leftMs: number;
  #begunAt = performance.now();
  #stops = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor({ idleMs, totalMs }: { readonly idleMs: number; readonly totalMs: number }) {
    this.#idleMs = idleMs;
    this.#leftMs = totalMs;
    this.#start();
  }

  /** Aborts with what the SDK says of a request whose time is over. */
  get signal(): AbortSignal {
    return this.#timedOut.signal;
  }

  /** A sign of life. */
  beat(): void {
    if (this.#stops > 0) return;
    this.#pause();
    this.#start();
  }

  async standStill<Value>(work: Promise<Value>): Promise<Value> {
    this.#pause();
    this.#stops += 1;
    try {
      return await work;
    } finally {
      this.#stops -= 1;
      if (this.#stops === 0) this.#start();
    }
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#stops = Number.POSITIVE_INFINITY;
  }

  #start(): void {
    if (this.#stops > 0) return;
    this.#begunAt = performance.now();
    const end = () => this.#timedOut.abort(new SdkError(SdkErrorCode.RequestTimeout, "Request timed out"));
    this.#timer = setTimeout(end, Math.min(this.#idleMs, Math.max(0, this.#leftMs)));
  }

  #pause(): void {
    clearTimeout(this.#timer);
    if (this.#stops === 0) this.#leftMs -= performance.now() - this.#begunAt;
  }
}

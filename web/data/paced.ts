import { useEffect, useRef, useState } from "react";

/** `Paced` for a component: it does what the last drawing said. */
export function usePaced(action: () => Promise<unknown>): Paced {
  const current = useRef(action);
  useEffect(() => {
    current.current = action;
  });
  const [paced] = useState(() => new Paced(() => current.current()));
  return paced;
}

/**
 * Does it at once, and what is asked for meanwhile once more after a pause: on a busy server a page asks about once a second, however much
 * happens, and stays far below the limit of requests.
 */
class Paced {
  readonly #action: () => Promise<unknown>;
  readonly #pauseMs: number;
  #isBusy = false;
  #isAsked = false;

  constructor(action: () => Promise<unknown>, pauseMs = 1_000) {
    this.#action = action;
    this.#pauseMs = pauseMs;
  }

  ask(): void {
    if (this.#isBusy) this.#isAsked = true;
    else void this.#go();
  }

  async #go(): Promise<void> {
    this.#isBusy = true;
    // What fails is shown where it is read; the feed asks again when the server is back.
    await this.#action().catch(() => undefined);
    setTimeout(() => {
      this.#isBusy = false;
      if (!this.#isAsked) return;
      this.#isAsked = false;
      void this.#go();
    }, this.#pauseMs);
  }
}

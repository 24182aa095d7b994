import { useEffect, useRef, useState } from "react";

/** `Paced` for a component: it does what the last drawing said. */
export function usePaced(action: Action): Paced {
  const current = useRef(action);
  useEffect(() => {
    current.current = action;
  });
  const [paced] = useState(() => new Paced(() => current.current()));
  return paced;
}

/** May tell how many milliseconds to pause behind it; a second where it tells no number. */
type Action = () => Promise<unknown>;

const USUAL_PAUSE_MS = 1_000;

/**
 * Does it at once, and what is asked for meanwhile once more after a pause: on a busy server a page asks about once a second, however much
 * happens, and stays far below the limit of requests.
 */
export class Paced {
  readonly #action: Action;
  #isBusy = false;
  #isAsked = false;

  constructor(action: Action) {
    this.#action = action;
  }

  ask(): void {
    if (this.#isBusy) this.#isAsked = true;
    else void this.#go();
  }

  async #go(): Promise<void> {
    this.#isBusy = true;
    // What fails is shown where it is read; the feed asks again when the server is back.
    const told = await this.#action().catch(() => undefined);
    setTimeout(
      () => {
        this.#isBusy = false;
        if (!this.#isAsked) return;
        this.#isAsked = false;
        void this.#go();
      },
      typeof told === "number" ? told : USUAL_PAUSE_MS,
    );
  }
}

import { type Cast, countUntil } from "./cast.ts";
import type { Emulator } from "./emulator.ts";

/** Written at once, so that a long way does not hold up the page. */
const PIECE_CHARACTERS = 100_000;

/** Shows a recording as of a time. A slider that is dragged far gets the last place that was asked for, not all between. */
export class CastPlayer {
  readonly #cast: Cast;
  readonly #emulator: Emulator;
  #wanted = 0;
  /** How many events are to be seen; −1: not even the empty screen is. */
  #shown = -1;
  #isBusy = false;

  constructor(cast: Cast, emulator: Emulator) {
    this.#cast = cast;
    this.#emulator = emulator;
  }

  async seek(seconds: number): Promise<void> {
    this.#wanted = countUntil(this.#cast, seconds);
    if (this.#isBusy) return;
    this.#isBusy = true;
    while (this.#shown !== this.#wanted) await this.#go();
    this.#isBusy = false;
  }

  /** One piece of the way. Back is only from the beginning. */
  async #go(): Promise<void> {
    const { columns, rows, events } = this.#cast;
    if (this.#shown < 0 || this.#wanted < this.#shown) {
      await this.#emulator.show({ columns, rows, data: "" });
      this.#shown = 0;
      return;
    }
    const size = events[this.#shown];
    if (size?.is === "size") {
      await this.#emulator.resize(size.columns, size.rows);
      this.#shown += 1;
      return;
    }
    let text = "";
    for (; this.#shown < this.#wanted && text.length < PIECE_CHARACTERS; this.#shown += 1) {
      const event = events[this.#shown];
      if (event?.is !== "output") break;
      text += event.text;
    }
    await this.#emulator.write(text);
  }
}

/** So much may be on its way unread; then the program has to wait. */
const HIGH_WATER = 512 * 1024;
const LOW_WATER = 128 * 1024;

/** Lets a program run ahead of those who take its output, but only so far. */
export class OutputWindow {
  readonly #source: { pause(): void; resume(): void };
  #untaken = 0;
  #isPaused = false;

  constructor(source: { pause(): void; resume(): void }) {
    this.#source = source;
  }

  gathered(length: number): void {
    this.#untaken += length;
    if (this.#untaken < HIGH_WATER || this.#isPaused) return;
    this.#isPaused = true;
    this.#source.pause();
  }

  taken(length: number): void {
    this.#untaken -= length;
    if (!this.#isPaused || this.#untaken > LOW_WATER) return;
    this.#isPaused = false;
    this.#source.resume();
  }

  /** No reader is left. A program whose output is not read could not end. */
  open(): void {
    this.taken(Number.POSITIVE_INFINITY);
  }
}

/** Between two messages. Whoever prints more speaks another language, and would keep us busy for ever. */
const MAX_NOISE_LINES = 20_000;
/** Of messages that we have not asked for: so many at once, and then so many each second. */
const MAX_AT_ONCE = 10_000;
const MAX_PER_SECOND = 1_000;

/** How much a server may say of its own accord before it is ended: a flood leaves no time for the others. */
export class Patience {
  #noiseLines = 0;
  #allowed = MAX_AT_ONCE;
  #countedAt = performance.now();

  /** A line that is no message. Throws when it is one too many. */
  hearNoise(): void {
    this.#noiseLines += 1;
    if (this.#noiseLines > MAX_NOISE_LINES)
      throw new Error(`it printed more than ${MAX_NOISE_LINES} lines that are no messages`);
  }

  /** A message; an answer is what we wanted. Throws when it is one too many. */
  hearMessage(isAnswer: boolean): void {
    this.#noiseLines = 0;
    if (isAnswer) return;
    const now = performance.now();
    this.#allowed = Math.min(MAX_AT_ONCE, this.#allowed + ((now - this.#countedAt) / 1_000) * MAX_PER_SECOND);
    this.#countedAt = now;
    this.#allowed -= 1;
    if (this.#allowed < 0)
      throw new Error(`it sent more than ${MAX_PER_SECOND} messages a second that nobody asked for`);
  }
}

import { io } from "./process-io.ts";

/** Speaks to the person at the terminal, on stderr, and above a status line where there is one. */
export class Voice {
  #through: ((line: string) => void) | undefined;

  say(line: string): void {
    if (this.#through === undefined) io().stderr.write(`${line}\n`);
    else this.#through(line);
  }

  /** From now on lines go this way. Undefined: straight to stderr again. */
  speakThrough(through: ((line: string) => void) | undefined): void {
    this.#through = through;
  }
}

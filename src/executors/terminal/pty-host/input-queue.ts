import { writeSync } from "node:fs";

const FIRST_RETRY_MS = 2;
const LAST_RETRY_MS = 100;

/**
 * Writes to a pseudo-terminal without ever waiting in the system: a program that does not read its input fills the
 * kernel's buffer, and a write that waits for it would hold up all other terminals.
 */
export class InputQueue {
  readonly #fd: number;
  readonly #onWritten: (length: number) => void;
  #waiting: { bytes: Buffer; readonly length: number }[] = [];
  #retry: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;
  #isClosed = false;

  constructor(fd: number, onWritten: (length: number) => void) {
    this.#fd = fd;
    this.#onWritten = onWritten;
  }

  push(data: string): void {
    if (this.#isClosed) return;
    this.#waiting.push({ bytes: Buffer.from(data), length: data.length });
    if (this.#retry === undefined) this.#flush();
  }

  /** To be called before the descriptor can belong to another file. */
  close(): void {
    this.#isClosed = true;
    this.#waiting = [];
    clearTimeout(this.#retry);
  }

  #flush(): void {
    this.#retry = undefined;
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      const written = this.#write(first.bytes);
      if (written === undefined) return this.#flushLater();
      this.#retryMs = FIRST_RETRY_MS;
      first.bytes = first.bytes.subarray(written);
      if (first.bytes.length > 0) continue;
      this.#waiting.shift();
      this.#onWritten(first.length);
    }
  }

  /** How much the kernel took. `undefined`: nothing at the moment. */
  #write(bytes: Buffer): number | undefined {
    try {
      return writeSync(this.#fd, bytes);
    } catch (error) {
      const isFull = error instanceof Error && "code" in error && error.code === "EAGAIN";
      // The program has ended: what is left has no reader.
      return isFull ? undefined : bytes.length;
    }
  }

  #flushLater(): void {
    this.#retry = setTimeout(() => this.#flush(), this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
  }
}

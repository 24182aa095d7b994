const NEWLINE = 10;

/**
 * Cuts a stream into lines, in one pass however long they are and however they come. `push` throws once a line has more
 * bytes than it may.
 */
export class MessageLines {
  readonly #maxBytes: number;
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that `chunk` completes. */
  *push(chunk: Buffer): Generator<string> {
    let rest = chunk;
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      this.#add(rest.subarray(0, end));
      rest = rest.subarray(end + 1);
      const line = Buffer.concat(this.#pieces).toString("utf8");
      this.clear();
      yield line;
    }
    if (rest.length > 0) this.#add(rest);
  }

  clear(): void {
    this.#pieces = [];
    this.#bytes = 0;
  }

  #add(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > this.#maxBytes) {
      this.clear();
      throw new Error(`it sent a message of more than ${this.#maxBytes / 1024 / 1024} MiB`);
    }
    this.#pieces.push(piece);
  }
}

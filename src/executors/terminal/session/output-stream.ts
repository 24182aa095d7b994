/** So much of the end of the output of a session is kept, in bytes. The recording has the rest. */
const KEPT_BYTES = 4 * 1024 * 1024;

/**
 * All that a program has put out, byte for byte, with offsets from the beginning of the session. It lies under the model of the screen,
 * so that nothing which a program does to its screen takes anything away. The oldest bytes are let go.
 */
export class OutputStream {
  readonly #keptBytes: number;
  #pieces: Uint8Array[] = [];
  #start = 0;
  #end = 0;

  constructor(keptBytes = KEPT_BYTES) {
    this.#keptBytes = keptBytes;
  }

  /** The offset of the first byte that is kept. */
  get start(): number {
    return this.#start;
  }

  /** The offset of the next byte. */
  get end(): number {
    return this.#end;
  }

  append(bytes: Uint8Array): void {
    this.#pieces.push(bytes);
    this.#end += bytes.length;
    // Half at once: taking away one by one would cost as much as everything else.
    if (this.#end - this.#start <= 2 * this.#keptBytes) return;
    let gone = 0;
    while (this.#end - this.#start > this.#keptBytes) this.#start += this.#pieces[gone++]?.length ?? 0;
    this.#pieces = this.#pieces.slice(gone);
  }

  /** What is kept of a part of it. */
  read(from: number, to = this.#end): Buffer {
    const found: Uint8Array[] = [];
    let at = this.#end;
    // From the end, where nearly everything that is read lies.
    for (let index = this.#pieces.length - 1; index >= 0 && at > from; index -= 1) {
      const piece = this.#pieces[index] ?? new Uint8Array();
      at -= piece.length;
      if (at < to) found.push(piece.subarray(Math.max(0, from - at), Math.min(piece.length, to - at)));
    }
    return Buffer.concat(found.reverse());
  }
}

/** The last bytes of a stream. */
export class Tail {
  readonly #maxBytes: number;
  #kept = Buffer.alloc(0);

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(chunk: Uint8Array): void {
    const all = Buffer.concat([this.#kept, chunk]);
    this.#kept = Buffer.from(all.subarray(Math.max(0, all.length - this.#maxBytes)));
  }

  get text(): string {
    return this.#kept.toString("utf8").trim();
  }
}

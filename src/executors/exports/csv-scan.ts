const QUOTE = 0x22;
const COMMA = 0x2c;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/**
 * Looks through the bytes of a CSV file, piece by piece, without keeping them: where its header ends, and whether rows can be
 * added behind it.
 */
export class CsvScan {
  #state: "field" | "bare" | "quoted" | "closed" = "field";
  #at = 0;
  #headerEnd: number | undefined;
  #isBroken = false;

  /** Behind the end of the first line. Undefined: it has not come so far. */
  get headerEnd(): number | undefined {
    return this.#headerEnd;
  }

  /** A quote stands in the middle of a field; of the whole file also: one is never closed. */
  isBroken(isWhole: boolean): boolean {
    return this.#isBroken || (isWhole && this.#state === "quoted");
  }

  feed(piece: Uint8Array): void {
    for (const byte of piece) {
      this.#take(byte);
      this.#at += 1;
    }
  }

  #take(byte: number): void {
    if (byte === BYTE_ORDER_MARK[this.#at]) return;
    if (this.#state === "quoted") {
      if (byte === QUOTE) this.#state = "closed";
      return;
    }
    if (byte === LINE_FEED || byte === CARRIAGE_RETURN) {
      // Of CRLF the end is behind both.
      if (this.#headerEnd === undefined || (byte === LINE_FEED && this.#headerEnd === this.#at)) {
        this.#headerEnd = this.#at + 1;
      }
      this.#state = "field";
      return;
    }
    if (byte === COMMA) {
      this.#state = "field";
      return;
    }
    if (byte !== QUOTE) {
      if (this.#state === "closed") this.#isBroken = true;
      this.#state = "bare";
      return;
    }
    if (this.#state === "bare") this.#isBroken = true;
    this.#state = "quoted";
  }
}

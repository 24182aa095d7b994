import { TemplateError } from "./template-error.ts";

const CHARACTERS_PER_STEP = 32;
const COMPARED_PER_STEP = 1_000;
const SHORT_SEARCH = 32;
const LONGEST_TEXT = 16_000_000;

/**
 * What a rendering may still do. Every node that is evaluated is a step, and so is each element that is made or looked at;
 * text costs a step for some characters. Work is paid for before it is done, so that no single operation can be too large.
 */
export class Meter {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  spend(steps = 1): void {
    this.#left -= steps;
    if (!(this.#left >= 0))
      throw new TemplateError("limit", "it does more than a prompt may; look for a loop over too much");
  }

  /** Pays for texts that are put together, which costs little until the whole is read. */
  spendJoin(length: number): void {
    this.spend(length / CHARACTERS_PER_STEP / 16);
    if (length > LONGEST_TEXT) throw new TemplateError("limit", `a text has more than ${LONGEST_TEXT} characters`);
  }

  /** Pays for looking for a text in another. Where they resemble each other, that takes time with the product of the two. */
  spendSearch(text: string, wanted: string): void {
    this.spendText(text.length);
    const isLong = wanted.length > SHORT_SEARCH && wanted.length <= text.length;
    if (isLong) this.spend((text.length * wanted.length) / COMPARED_PER_STEP);
  }

  /** Pays for a text that is read or made. */
  spendText(length: number): void {
    this.spend(length / CHARACTERS_PER_STEP);
  }
}

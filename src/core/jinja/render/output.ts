import type { Meter } from "../meter.ts";
import { TemplateError } from "../template-error.ts";

/** The text that a template, or a part of it, writes. */
export class Output {
  readonly #meter: Meter;
  readonly #maxLength: number;
  readonly #parts: string[] = [];
  #length = 0;

  constructor(meter: Meter, maxLength: number) {
    this.#meter = meter;
    this.#maxLength = maxLength;
  }

  write(text: string): void {
    this.#length += text.length;
    this.#meter.spendJoin(text.length);
    if (this.#length > this.#maxLength)
      throw new TemplateError(
        "limit",
        `the prompt would be longer than the ${this.#maxLength} characters that are allowed`,
      );
    this.#parts.push(text);
  }

  get text(): string {
    return this.#parts.join("");
  }
}

import { writeExact } from "../../../core/exact-json.ts";
import type { JsonObject } from "../../../core/json.ts";
import { maskJson } from "../values/mask-json.ts";

/** Masks secrets in a text that comes in pieces, wherever it is cut. */
export interface PieceMask {
  /** Returns the masked text so far, without an end that could be the beginning of a secret. */
  push(piece: string): string;
  /** Returns the rest. */
  end(): string;
}

export interface LiveMasks {
  whole(text: string): string;
  readonly text: PieceMask;
}

/** Larger events are not shown. */
const MAX_EVENT_CHARS = 64 * 1024;

/**
 * Shows the live events of one attempt. The `text` of an event continues that of the event before, as long as the rest of the
 * event stays the same. So a secret is found even if it is cut between two pieces.
 */
export class LiveText {
  readonly #masks: LiveMasks;
  readonly #show: (event: JsonObject) => void;
  /** The event whose text is being shown, without the text. */
  #frame: { readonly rest: JsonObject; readonly json: string } | undefined;

  constructor(masks: LiveMasks, show: (event: JsonObject) => void) {
    this.#masks = masks;
    this.#show = show;
  }

  show(event: JsonObject): void {
    const { text, ...rest } = event;
    const json = writeExact(rest);
    const size = json.length + (typeof text === "string" ? text.length : 0);
    if (size > MAX_EVENT_CHARS) return;
    const { value: shown, text: masked } = maskJson(rest, (plain) => this.#masks.whole(plain), json);
    if (this.#frame !== undefined && this.#frame.json !== masked) this.end();
    if (typeof text !== "string") return this.#show(text === undefined ? shown : { ...shown, text: null });
    this.#frame = { rest: shown, json: masked };
    this.#showText(this.#masks.text.push(text));
  }

  /** The attempt is over, or another text begins. */
  end(): void {
    this.#showText(this.#masks.text.end());
    this.#frame = undefined;
  }

  #showText(text: string): void {
    if (text !== "" && this.#frame !== undefined) this.#show({ ...this.#frame.rest, text });
  }
}

import type { JsonObject } from "../../../core/json.ts";
import { maskJson } from "../values/mask-json.ts";

/** Takes secrets out of a text that comes in pieces, wherever they are cut. */
export interface PieceMask {
  /** What of the text so far is certain: an end that could be the beginning of a secret is kept back. */
  push(piece: string): string;
  /** What was kept back. */
  end(): string;
}

export interface LiveMasks {
  whole(text: string): string;
  readonly text: PieceMask;
}

/** An event that is larger than this is not of the moment. */
const MAX_EVENT_CHARS = 64 * 1024;

/**
 * Shows the events of one attempt that are of the moment. Where an event has a `text`, it goes on from that of the event
 * before, as long as the rest of the event stays the same: so a secret is found even where two pieces share it.
 */
export class LiveText {
  readonly #masks: LiveMasks;
  readonly #show: (event: JsonObject) => void;
  /** The rest of the event whose text is under way. */
  #frame: { readonly rest: JsonObject; readonly json: string } | undefined;

  constructor(masks: LiveMasks, show: (event: JsonObject) => void) {
    this.#masks = masks;
    this.#show = show;
  }

  show(event: JsonObject): void {
    const { text, ...rest } = event;
    const json = JSON.stringify(rest);
    const size = json.length + (typeof text === "string" ? text.length : 0);
    if (size > MAX_EVENT_CHARS) return;
    const { value: shown, text: masked } = maskJson(rest, (plain) => this.#masks.whole(plain), json);
    if (this.#frame !== undefined && this.#frame.json !== masked) this.end();
    if (typeof text !== "string") return this.#show(text === undefined ? shown : { ...shown, text: null });
    this.#frame = { rest: shown, json: masked };
    this.#showText(this.#masks.text.push(text));
  }

  /** The attempt is over, or its next text is another one. */
  end(): void {
    this.#showText(this.#masks.text.end());
    this.#frame = undefined;
  }

  #showText(text: string): void {
    if (text !== "" && this.#frame !== undefined) this.#show({ ...this.#frame.rest, text });
  }
}

import type { IParser } from "@xterm/headless";

/** The model knows these and does not tell. */
const CURSOR_VISIBLE = 25;
const MOUSE_ENCODINGS: readonly number[] = [1006, 1016];

/** Modes that a program has set and the model of the screen does not report: the visible cursor, the kind of mouse reports. */
export class PrivateModes {
  #isCursorVisible = true;
  #mouseEncoding: number | undefined;

  constructor(parser: IParser) {
    parser.registerCsiHandler({ prefix: "?", final: "h" }, (params) => this.#set(params, true));
    parser.registerCsiHandler({ prefix: "?", final: "l" }, (params) => this.#set(params, false));
    parser.registerCsiHandler({ intermediates: "!", final: "p" }, () => this.#reset());
    parser.registerEscHandler({ final: "c" }, () => this.#reset());
  }

  get isCursorVisible(): boolean {
    return this.#isCursorVisible;
  }

  /** The number of the mode. Undefined: as terminals do without one. */
  get mouseEncoding(): number | undefined {
    return this.#mouseEncoding;
  }

  /** False: the model takes it in as well. */
  #set(params: readonly (number | number[])[], isOn: boolean): false {
    for (const param of params) {
      if (typeof param !== "number") continue;
      if (param === CURSOR_VISIBLE) this.#isCursorVisible = isOn;
      if (MOUSE_ENCODINGS.includes(param)) this.#mouseEncoding = isOn ? param : undefined;
    }
    return false;
  }

  #reset(): false {
    this.#isCursorVisible = true;
    this.#mouseEncoding = undefined;
    return false;
  }
}

import { styleText } from "node:util";

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan" | "magenta";

/** Puts a style around text that is already sanitized and cut to its width. */
export type Paint = (style: Style, text: string) => string;

/** Whether colour is decided by the caller, once: see `wantsColor`. */
export function createPaint(color: boolean): Paint {
  return (style, text) => (color && text !== "" ? styleText(style, text, { validateStream: false }) : text);
}

/** https://no-color.org, `TERM=dumb`, and FORCE_COLOR, which wins over the absence of a terminal. */
export function wantsColor({ isTty, env }: { readonly isTty: boolean; readonly env: NodeJS.ProcessEnv }): boolean {
  if ((env["NO_COLOR"] ?? "") !== "") return false;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return isTty && env["TERM"] !== "dumb";
}

export interface PageOptions {
  readonly paint: Paint;
  readonly now: number;
  /** Columns of the terminal; absent where the text goes elsewhere. */
  readonly width?: number | undefined;
}

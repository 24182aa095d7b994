import type { Terminal } from "@xterm/headless";
import { useCurrentWidths } from "./character-width.ts";

export interface ModelOptions {
  readonly columns: number;
  readonly rows: number;
  /** Rows that are kept when they have left the screen. A row of 120 columns takes 1.4 KB. */
  readonly scrollbackRows: number;
}

/** Loads the model of a terminal with the first one: nothing else needs it. */
export async function openModel({ columns: cols, rows, scrollbackRows: scrollback }: ModelOptions): Promise<Terminal> {
  const [{ default: xterm }, { default: stringWidth }] = await Promise.all([
    import("@xterm/headless"),
    import("string-width"),
  ]);
  const terminal = new xterm.Terminal({ cols, rows, scrollback, allowProposedApi: true });
  useCurrentWidths(terminal.unicode, stringWidth);
  return terminal;
}

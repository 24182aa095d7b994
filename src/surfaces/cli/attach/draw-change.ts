import type { ScreenChange, ViewWindow } from "../../../ports/terminals/terminal-views.ts";

const ESC = "\u001b";

export interface Drawing {
  readonly window: ViewWindow;
  /** The last line of the person's terminal, as plain text. */
  readonly status: string;
}

/** What makes the person's terminal show a change: rows from above, the line below them, then the cursor. */
export function drawChange(change: ScreenChange, { window, status }: Drawing): string {
  const { isWhole, rows, cursor, keys } = change;
  const lines = rows.map(({ row, text }) => `${to(row, 0)}${ESC}[0m${ESC}[2K${text}`);
  const line = [...status].slice(0, window.columns).join("").padEnd(window.columns);
  return [
    // Shown at once, where a terminal can.
    `${ESC}[?2026h${ESC}[?25l`,
    isWhole ? `${ESC}[0m${ESC}[2J` : "",
    ...lines,
    `${to(window.rows, 0)}${ESC}[0;7m${line}${ESC}[0m`,
    `${ESC}[?1${keys.applicationCursor ? "h" : "l"}${ESC}[?2004${keys.bracketedPaste ? "h" : "l"}`,
    cursor === null ? "" : `${to(cursor.row, cursor.column)}${ESC}[?25h`,
    `${ESC}[?2026l`,
  ].join("");
}

function to(row: number, column: number): string {
  return `${ESC}[${row + 1};${column + 1}H`;
}

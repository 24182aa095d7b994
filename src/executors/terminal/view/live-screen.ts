import type { ScreenChange, ScreenView, ViewWindow } from "../../../ports/terminals/terminal-views.ts";
import type { TerminalSession } from "../session/terminal-session.ts";
import { terminalNotFound } from "./live-output.ts";

/** More changes than this are not visible to anyone. */
const MIN_EVERY_MS = 16;

/** The screen of a session through a smaller window that follows the cursor. It is drawn from the model, so no output of a program is obeyed. */
export class LiveScreen implements ScreenView {
  readonly #session: TerminalSession;
  readonly #stop: () => void;
  #window: ViewWindow;
  #corner = { row: 0, column: 0 };
  /** The rows that the window shows. Undefined: unknown. */
  #shown: readonly string[] | undefined;
  #size: ViewWindow | undefined;
  #hasChanged = true;
  #isClosed = false;
  #notBefore = 0;
  #timer: NodeJS.Timeout | undefined;
  #taker: { resolve(change: ScreenChange): void; reject(error: Error): void } | undefined;

  constructor(session: TerminalSession, window: ViewWindow) {
    this.#session = session;
    this.#window = window;
    this.#stop = session.listen({
      data: () => this.#changed(),
      resized: () => this.#changed(),
      ended: () => this.#changed(),
    });
  }

  next(): Promise<ScreenChange> {
    if (this.#isClosed) return Promise.reject(terminalNotFound(this.#session.facts.id));
    return new Promise((resolve, reject) => {
      this.#taker = { resolve, reject };
      if (this.#hasChanged) this.#offerSoon();
    });
  }

  setWindow(window: ViewWindow): void {
    this.#window = window;
    this.#shown = undefined;
    this.#changed();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stop();
    clearTimeout(this.#timer);
    this.#taker?.reject(terminalNotFound(this.#session.facts.id));
  }

  #changed(): void {
    this.#hasChanged = true;
    if (this.#taker !== undefined) this.#offerSoon();
  }

  #offerSoon(): void {
    this.#timer ??= setTimeout(() => this.#offer(), Math.max(0, this.#notBefore - performance.now())).unref();
  }

  #offer(): void {
    this.#timer = undefined;
    const taker = this.#taker;
    if (taker === undefined || this.#isClosed) return;
    this.#taker = undefined;
    this.#hasChanged = false;
    const change = this.#look();
    this.#notBefore = performance.now() + MIN_EVERY_MS;
    taker.resolve(change);
  }

  #look(): ScreenChange {
    const { screen, exitCode } = this.#session;
    const size = { columns: screen.columns, rows: screen.rows };
    if (this.#size?.columns !== size.columns || this.#size.rows !== size.rows) this.#shown = undefined;
    this.#size = size;
    this.#moveAfterCursor();
    const { row: top, column: left } = this.#corner;
    const height = Math.min(this.#window.rows, screen.rows);
    const to = Math.min(left + this.#window.columns, screen.columns);
    const shown = Array.from({ length: height }, (_, row) => screen.serializeRow(top + row, { from: left, to }));
    const rows = shown.map((text, row) => ({ row, text })).filter(({ row, text }) => text !== this.#shown?.[row]);
    const isWhole = this.#shown === undefined;
    this.#shown = shown;
    const cursor = { row: screen.row - top, column: Math.min(screen.column, screen.columns - 1) - left };
    return {
      isWhole,
      rows,
      cursor: screen.isCursorVisible ? cursor : null,
      size,
      keys: { applicationCursor: screen.wantsApplicationKeys, bracketedPaste: screen.wantsBracketedPaste },
      ...(exitCode === undefined ? {} : { end: { exitCode } }),
    };
  }

  #moveAfterCursor(): void {
    const { screen } = this.#session;
    const { row, column } = this.#corner;
    this.#corner = {
      row: cornerAfter(row, { cursor: screen.row, seen: this.#window.rows, all: screen.rows }),
      column: cornerAfter(column, { cursor: screen.column, seen: this.#window.columns, all: screen.columns }),
    };
  }
}

/** Moves no further than it takes to see the cursor. */
function cornerAfter(
  corner: number,
  { cursor, seen, all }: { readonly cursor: number; readonly seen: number; readonly all: number },
): number {
  const at = Math.min(cursor, all - 1);
  const moved = at < corner ? at : at >= corner + seen ? at - seen + 1 : corner;
  return Math.max(0, Math.min(moved, all - seen));
}

/** One terminal, for people who choose which one to look at. */
export interface TerminalSummary {
  readonly session_id: string;
  /** The command that was asked for. */
  readonly command: string;
  /** The title that the program has set: text from outside. Empty if there is none. */
  readonly title: string;
  readonly state: "initializing" | "active" | "waiting" | "error" | "terminated";
  readonly columns: number;
  readonly rows: number;
  /** Whose run has opened it. Null: the application's own, or a person. */
  readonly tenant_id: string | null;
  readonly run_id: string | null;
  readonly step_path: string | null;
  /** ISO 8601. */
  readonly created_at: string;
  readonly last_activity: string;
  /** The address of its live view. Null if the live view is off. */
  readonly web_url: string | null;
  /** Present when the program has ended; null where it is unknown how. */
  readonly exit_code?: number | null;
}

/** How much of a terminal a person can see at once. */
export interface ViewWindow {
  readonly columns: number;
  readonly rows: number;
}

/** Changes in a window since the change before. */
export interface ScreenChange {
  /** Nothing that was shown before counts any more. */
  readonly isWhole: boolean;
  /** Rows of the window, counted from 0: printable characters and colours, nothing else that a terminal obeys. */
  readonly rows: readonly { readonly row: number; readonly text: string }[];
  /** Null: not to be seen. */
  readonly cursor: { readonly row: number; readonly column: number } | null;
  /** The size of the program's terminal. */
  readonly size: ViewWindow;
  /** How keys and pasted text are to be sent. */
  readonly keys: { readonly applicationCursor: boolean; readonly bracketedPaste: boolean };
  /** Present when the program has ended: there is no further change. */
  readonly end?: { readonly exitCode: number | null };
}

/** A person's view of a terminal. Nothing waits for it: a slow reader sees fewer states and costs at most one window of memory. */
export interface ScreenView {
  /** Resolves as soon as the window shows something else than at the last change. One call at a time. */
  next(): Promise<ScreenChange>;
  /** The next change is the whole window. The program's terminal keeps its size. */
  setWindow(window: ViewWindow): void;
  /** Ends waiting for a change, which rejects with `TERMINAL_NOT_FOUND`. */
  close(): void;
}

/** Terminals as people see them: all of the process that owns the data directory. */
export interface TerminalViews {
  list(): Promise<readonly TerminalSummary[]>;
  /** Throws `TERMINAL_NOT_FOUND`. */
  watchScreen(sessionId: string, window: ViewWindow): Promise<ScreenView>;
  /** Types text as a person does, by the rules for tools, without counting as a call. Throws `TERMINAL_REFUSED`, `TERMINAL_NOT_FOUND`. */
  type(sessionId: string, data: string): Promise<void>;
  /** Ends the program and all that it has started. Throws `TERMINAL_NOT_FOUND`. */
  kill(sessionId: string): Promise<void>;
  /** Absent: another process holds them. Throws `TERMINAL_NOT_FOUND`. */
  watchOutput?(sessionId: string): OutputView;
}

/** Frames for a terminal in a browser, in order. */
export type OutputFrame =
  /** Everything anew: an empty terminal of this size that takes this text shows the screen. */
  | { readonly type: "screen"; readonly columns: number; readonly rows: number; readonly data: string }
  | { readonly type: "output"; readonly data: string }
  | { readonly type: "ended"; readonly exitCode: number | null };

/** Takes the output of a terminal. A slow reader gets the screen anew in place of what was missed. */
export interface OutputView {
  /** One call at a time. There is nothing after `ended`. */
  next(): Promise<OutputFrame>;
  close(): void;
}

/** For views in the process that holds the terminals. */
export interface LiveTerminals extends TerminalViews {
  /** Throws `TERMINAL_NOT_FOUND`. */
  watchOutput(sessionId: string): OutputView;
}

/** The program of a new pseudo-terminal. */
export interface PtySpec {
  /** A path, and arguments. */
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  /** All of it: nothing is added but what a terminal needs. */
  readonly env: Readonly<Record<string, string>>;
  readonly columns: number;
  readonly rows: number;
}

export type ToPtyHost =
  | ({ readonly type: "open"; readonly id: number } & PtySpec)
  | { readonly type: "write"; readonly id: number; readonly data: string }
  | { readonly type: "resize"; readonly id: number; readonly columns: number; readonly rows: number }
  /** So much of the output has been taken in; the host sends only so much ahead. */
  | { readonly type: "taken"; readonly id: number; readonly length: number }
  /** Ends all that the terminal has started, also what is left after its program has ended, and forgets it. */
  | { readonly type: "end"; readonly id: number };

export type FromPtyHost =
  | { readonly type: "opened"; readonly id: number; readonly pid: number }
  | { readonly type: "notOpened"; readonly id: number; readonly reason: string }
  | { readonly type: "data"; readonly id: number; readonly data: string }
  /** The program has taken so much of what was written. */
  | { readonly type: "written"; readonly id: number; readonly length: number }
  | { readonly type: "exited"; readonly id: number; readonly exitCode: number; readonly signal: number }
  | { readonly type: "ended"; readonly id: number };

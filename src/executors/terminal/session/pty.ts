import type { TypedLine } from "../input/typed-line.ts";
import type { ExpectedEcho } from "../screen/echo.ts";

export interface PtyEvents {
  data(data: Uint8Array): void;
  /** `shown`: all that the terminal shows, where some of it may not have come as data. */
  exited(end: PtyEnd, shown?: ShownBefore): void;
}

/** `undefined`: the process that held the terminal is gone, and how the program ended is unknown. */
export type PtyEnd = { readonly exitCode: number; readonly signal: number } | undefined;

export interface PtySpec {
  /** A path, and arguments. */
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  /** All of it: nothing is added but what a terminal needs. */
  readonly env: Readonly<Record<string, string>>;
  readonly columns: number;
  readonly rows: number;
}

/** A program in a pseudo-terminal that another process holds. */
export interface Pty {
  readonly pid: number;
  /** Length of what was written and the program has not read yet, in UTF-16 units. */
  readonly unread: number;
  /** The holder of the terminal answers the queries that programs send to it. */
  readonly answersQueries?: boolean;
  /** Comes before `write`; kept as long as the terminal, where it outlives this process. */
  noteInput?(note: InputNote): void;
  write(data: string): void;
  resize(columns: number, rows: number): void;
  /** Says that so many bytes of the output have been dealt with. Without it the program has to wait in the end. */
  taken(length: number): void;
  /** Ends the program and everything that it has started. */
  end(): Promise<void>;
}

/** The content of a terminal when it was found again. */
export interface ShownBefore {
  /** Makes an empty terminal show what was there when the last input came. */
  readonly before: string;
  /** The output since then, as far as it still shows. */
  readonly after: string;
  /** Absent: nothing has been typed. */
  readonly input: InputNote | undefined;
}

/** The facts about the last input that tell its echo from output. Kept with the terminal, as JSON. */
export interface InputNote {
  readonly echo: ExpectedEcho;
  readonly typed: TypedLine;
  readonly prompts: readonly string[];
}

/** The facts about a session that are known from its beginning. */
export interface SessionFacts {
  readonly id: string;
  readonly command: string;
  readonly webUrl: string | null;
  /** The run that opened it, and closes it at its end. */
  readonly owner: string | undefined;
  /** The path of the step that opened it. */
  readonly stepPath?: string | undefined;
  /** Whose run that is. Absent: the application's own. */
  readonly tenantId?: string | undefined;
  readonly createdAt: Date;
  /** Its program is confined, so that what is typed need not be looked at. */
  readonly isSandboxed?: boolean;
}

export interface PtyHolder {
  /** Rejects where there is no terminal to be had. */
  open(spec: PtySpec, events: PtyEvents, facts: SessionFacts): Promise<Pty>;
  /** Sessions of an earlier process that still live. Absent: none outlives its process. */
  findLeft?(): Promise<readonly LeftSession[]>;
  /** Lets go of all terminals. Those that cannot live without this process end. */
  close(): Promise<void>;
}

export interface LeftSession {
  readonly facts: Omit<SessionFacts, "webUrl">;
  readonly columns: number;
  readonly rows: number;
  /** `restore` is called once, before the first event. */
  attach(events: PtyEvents, restore: (shown: ShownBefore) => void): Promise<Pty>;
}

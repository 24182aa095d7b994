import type { OpenApplication } from "../../operations/application/ports.ts";
import type { StandIns } from "../../ports/stand-ins.ts";
import { io } from "./process-io.ts";
import { createPaint, type PageOptions, type Paint, wantsColor } from "./render/text/paint.ts";
import type { Voice } from "./voice.ts";

/** How `main.ts` makes the application that a command asks for. */
export type OpenApp = (options: {
  readonly appDir: string;
  readonly flags: Readonly<Record<string, { readonly value: string; readonly flag: string }>>;
  readonly environment: NodeJS.ProcessEnv;
  /** For a command that only looks: records that are not there are not made. */
  readonly makesNothing?: true;
  /** Of a test of a workflow. */
  readonly standIns?: StandIns;
  tell(line: string): void;
  onDefect(error: unknown): void;
}) => Promise<OpenApplication>;

/** `text` is for people, `json` one envelope, `lines` one JSON object for every event and then the envelope. */
export type Format = "text" | "json" | "lines";

/** What a command that drives runs works with. */
export interface CommandParts {
  readonly app: OpenApplication;
  readonly voice: Voice;
}

export interface CommonOptions {
  readonly app: string;
  readonly data?: string;
  /** Only of commands that may own terminals. */
  readonly web?: true;
  /** Only of servers: what this process does of what several share, and how many runs it drives. */
  readonly role?: string;
  readonly concurrency?: string;
  /** Only of a process that Restate calls, and where. What is undefined the settings say. */
  readonly endpoint?: { readonly host: string | undefined; readonly port: number | undefined };
  /** The Restate server that drives the runs and is told of this process. Absent: the settings say. */
  readonly drivenBy?: { readonly ingressUrl: string; readonly adminUrl: string };
  /** The server that does the command. Absent: PAWL_URL, or this machine. */
  readonly url?: string;
  readonly apiKey?: string;
  /** Likely misspellings in definitions are warnings. */
  readonly lenient?: true;
  readonly json?: true;
  readonly jsonLines?: true;
}

export function formatOf({ json, jsonLines }: CommonOptions): Format {
  return jsonLines === true ? "lines" : json === true ? "json" : "text";
}

/** Whether somebody sits at the terminal who can be shown things and asked. */
export function isInteractive(): boolean {
  return io().stdin.isTTY === true && hasLiveTerminal();
}

/** Whether lines on stderr can be drawn again. */
export function hasLiveTerminal(): boolean {
  const { TERM, CI } = io().env;
  return io().stderr.isTTY === true && TERM !== "dumb" && (CI ?? "") === "";
}

export function paintFor(stream: NodeJS.WriteStream): Paint {
  return createPaint(wantsColor({ isTty: stream.isTTY === true, env: io().env }));
}

export function pageOptions(): PageOptions {
  const { stdout } = io();
  return { paint: paintFor(stdout), now: Date.now(), ...(stdout.isTTY === true ? { width: stdout.columns } : {}) };
}

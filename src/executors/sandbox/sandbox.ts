import type { Reach } from "../../core/trust/grant.ts";
import type { Refusal } from "./explain-refusal.ts";

/** Runs untrusted programs: bounded in time, memory, processes and output, and seeing only what they are given. */
export interface Sandbox {
  /** Runs one program to its end, and ends whatever it has started. Rejects only on a defect: the outcome is the `ending`. */
  runSandboxed(spec: SandboxSpec, signal: AbortSignal): Promise<SandboxResult>;
  /** For a program that runs for long. Undefined: the sandbox is off, or is not to be had and need not be. */
  prepareStanding(spec: StandingSpec): Promise<StandingProgram | { readonly refused: Refusal } | undefined>;
  /** Ends the programs that wait for a call. */
  close(): void;
}

/** `auto`: bwrap where it works, else a plain process and a warning. `required`: bwrap or a refusal. */
export type SandboxMode = "auto" | "required" | "off";

export interface SandboxSpec {
  /** Absolute, or a name that is looked for in /usr/local/bin, /usr/bin and /bin. */
  readonly command: string;
  readonly args: readonly string[];
  readonly stdin?: string;
  /** The program waits for all of its input, so that it may be started ahead of a call. It still serves one call. */
  readonly waitsForInput?: boolean;
  /** All that the program finds beside PATH, HOME, TMPDIR and LANG; nothing of our own environment reaches it. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: its own temporary folder. */
  readonly cwd?: string;
  /** Paths that can be read beside the system's programs. A later one lies over an earlier one. */
  readonly visible?: readonly Visible[];
  /** Default false: no network. Only bwrap can withhold it; there `true` leads through the `Egress`, and nowhere without one. */
  readonly network?: boolean;
  /** Addresses that the network has beside those that the `Egress` allows to all. */
  readonly reach?: Reach | undefined;
  readonly limits: SandboxLimits;
  /** The program may write a result of its own to file descriptor 3. */
  readonly hasResultChannel?: boolean;
  /** What the result ends with once all is done: what then still runs in bwrap is killed, without waiting for its end. */
  readonly endMark?: string;
  /** Called as output arrives; it is collected all the same. */
  onOutput?(stream: "stdout" | "stderr", chunk: Buffer): void;
}

/** The way out of sandboxes with a network: a proxy that decides where their programs may go. */
export interface Egress {
  /** Begins to listen on a Unix socket in the folder, which other users may not enter, and gives its path. */
  open(folder: string, reach: Reach): Promise<string>;
}

/** Absolute paths without symbolic links. What does not exist is left out. */
export type Visible =
  | { readonly kind: "path"; readonly path: string }
  /** The same, and the program may change it. A plain process may change whatever its user may. */
  | { readonly kind: "writable"; readonly path: string }
  /** The socket of a server outside, under another name. A plain process sees none. */
  | { readonly kind: "socket"; readonly path: string; readonly from: string }
  /** A folder without the entries whose names begin with a dot, and without those named. */
  | { readonly kind: "entries"; readonly path: string; readonly without?: readonly string[] }
  /** A file with this text, whatever the disk says. A plain process sees the disk. */
  | { readonly kind: "text"; readonly path: string; readonly text: string }
  /** An empty folder in place of this one. A plain process sees the disk. */
  | { readonly kind: "hidden"; readonly path: string };

export interface SandboxLimits {
  readonly timeoutMs: number;
  /** The memory of the program and all that it starts, together. */
  readonly memoryBytes: number;
  /** The limit for each of stdout, stderr and the result channel. */
  readonly maxOutputBytes: number;
  /** Processes and threads. */
  readonly maxProcesses: number;
  /** Address space of one process: for programs that answer a refused allocation better than a kill. */
  readonly addressSpaceBytes?: number;
  readonly cpuSeconds?: number;
  /** Of one file, and of all temporary files together. Default: 64 MiB. */
  readonly fileBytes?: number;
}

export type Ending = NaturalEnding | ForcedEnding;

type NaturalEnding =
  | { readonly type: "exited"; readonly code: number }
  | { readonly type: "killed"; readonly signal: NodeJS.Signals };

/** A limit was passed, it was stopped, or it has never begun. */
export type ForcedEnding =
  | { readonly type: "timedOut" }
  | { readonly type: "aborted" }
  | { readonly type: "outOfMemory" }
  | { readonly type: "tooManyProcesses" }
  | { readonly type: "outputTooLarge"; readonly stream: OutputStream }
  /** The program itself has not run. */
  | { readonly type: "notStarted"; readonly reason: string }
  /** A sandbox is required and there is none. */
  | ({ readonly type: "refused" } & Refusal);

export type OutputStream = "stdout" | "stderr" | "result";

export interface SandboxResult {
  readonly kind: "bwrap" | "process";
  readonly ending: Ending;
  /** Up to `maxOutputBytes` each. */
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly result: Buffer;
  readonly durationMs: number;
  /** The most memory that was seen; absent where it could not be read. */
  readonly maxRssBytes?: number;
  /** Why there is less protection than `auto` would like. */
  readonly warning?: string;
}

/** A program that the caller starts and talks to for long: a server over its standard streams, a shell in a terminal. */
export interface StandingSpec
  extends Pick<SandboxSpec, "command" | "args" | "env" | "cwd" | "visible" | "network" | "reach"> {
  readonly limits: Pick<SandboxLimits, "memoryBytes" | "maxProcesses">;
  /** It has a terminal, and signals that are typed there. */
  readonly hasTerminal?: boolean;
}

/** What to start instead of the program. It ends with its starter. */
export interface StandingProgram {
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Holds it to its limits from now on, and kills it where it passes one. */
  attach(pid: number): void;
  /** It has ended, or was never started. */
  release(): void;
}

import type { Reach } from "../../core/trust/grant.ts";
import type { StandingProgram } from "../sandbox/sandbox.ts";
import type { SecurityLevel } from "./policy/terminal-policy.ts";
import type { PtyHolder } from "./session/pty.ts";
import type { TerminalSession } from "./session/terminal-session.ts";

export interface TerminalOptions {
  readonly level: SecurityLevel;
  /** Every terminal runs in the sandbox; otherwise those that ask for it. */
  readonly sandbox?: boolean;
  readonly maxCallsPerMinute: number;
  readonly maxSessions: number;
  /** Absent: as many as all together. */
  readonly maxSessionsOfTenant?: number;
  readonly defaultShell: string;
  /** Shells do not write what is typed to the user's history files. */
  readonly isolateHistory: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly scrollbackRows: number;
  /** How long a session whose program has ended can still be looked at. */
  readonly sweepAfterMs: number;
  readonly auditLogPath?: string | undefined;
}

export interface ConfinedProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** What it sees beside the system. */
  readonly folder: string;
  /** Addresses that it reaches beside the public ones. */
  readonly reach?: Reach | undefined;
}

export interface TerminalSurroundings {
  /** The environment of this process. Terminals get a few harmless variables of it and nothing else. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly currentDir: string;
  readonly homeDir: string;
  readonly temporaryDir: string;
  /** Takes secrets out of what is recorded. */
  readonly mask: (text: string) => string;
  /** Told of what was typed at a hidden prompt, before it is typed. */
  readonly learn?: (secrets: readonly string[]) => void;
  /** The address at which a session can be watched. Absent: there is none. */
  readonly toWebUrl?: (sessionId: string) => string | null;
  /** Puts a program into the sandbox. Throws `SANDBOX_MISSING`. Absent: there is none. */
  readonly confine?: (program: ConfinedProgram) => Promise<StandingProgram>;
  /** The holder of the terminals. Absent: a process that ends with this one. */
  readonly holder?: PtyHolder;
  /** Called with a session before its program has shown anything. */
  readonly opened?: (session: TerminalSession) => void;
}

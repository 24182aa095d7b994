import type { SecurityLevel } from "./policy/security-level.ts";
import type { PtyHolder } from "./session/pty.ts";
import type { TerminalSession } from "./session/terminal-session.ts";

/** What can be configured about terminals. */
export interface TerminalOptions {
  readonly level: SecurityLevel;
  readonly maxCallsPerMinute: number;
  readonly maxSessions: number;
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

/** What terminals are opened in. */
export interface TerminalSurroundings {
  /** Of this process. Terminals get a few harmless variables of it and nothing else. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly currentDir: string;
  readonly homeDir: string;
  readonly temporaryDir: string;
  /** Takes secrets out of what is recorded. */
  readonly mask: (text: string) => string;
  /** Where a session can be watched; absent: nowhere. */
  readonly toWebUrl?: (sessionId: string) => string | null;
  /** Who holds the terminals. Absent: a process that ends with this one. */
  readonly holder?: PtyHolder;
  /** Hears of a session before its program has shown anything. */
  readonly opened?: (session: TerminalSession) => void;
}

import type { PtySpec } from "../pty-host/messages.ts";
import type { Pty, PtyEvents, ShownBefore } from "./pty.ts";
import type { SessionFacts } from "./session-facts.ts";

/** Who holds the terminals that programs run in. */
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

import type { ErrorCode } from "../../core/errors/error-table.ts";
import type { PawlError } from "../../core/errors/pawl-error.ts";
import type { Drives } from "../../hosts/local/local-host-options.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Inbox } from "../../ports/inbox.ts";
import type { Journal } from "../../ports/journal.ts";
import type { Log } from "../../ports/log.ts";
import type { RunRelay } from "../../ports/run-relay.ts";

/** What a process that drives runs writes in: the data directory that it owns, or a database that it shares. */
export interface Seat {
  readonly journal: Journal;
  /** Creates runs that belong to no process. Undefined: there are no others. */
  readonly starts: Journal | undefined;
  readonly clock: Clock & { readonly offsetMs: number; stop(): void };
  /** Which runs this process drives. Undefined: all. */
  readonly drives: Drives | undefined;
  readonly storage: StorageWatch;
  /** What an earlier process had acknowledged and is gone. */
  readonly loss: string | undefined;
  /** The last sign of life of the process before, where only one drives runs at a time. */
  readonly previousSeenAt: number | undefined;
  /** How often runs are looked for that others have left, in milliseconds. Undefined: there are no others. */
  readonly lookEveryMs: number | undefined;
  /** Requests to runs that other processes drive. Undefined: there are no others. */
  readonly inbox: Inbox | undefined;
  /** Tells other processes what runs say that is kept nowhere. Undefined: nothing does. */
  readonly relay: RunRelay | undefined;
  /** The processes that drive runs. Undefined: only this one does. */
  readonly workers: Workers | undefined;
  /** `lost` is called when others have taken over what this process drives. */
  whenLost(lost: () => void): void;
  /** Tells other processes where requests are taken. Undefined: nowhere. */
  announce(url: string | undefined): void;
  /** After the journal was closed. */
  release(): Promise<void>;
}

interface Workers {
  /** This process. It is another one when others have taken over what it drove. */
  own(): string;
  /** Those that are not known to be dead. */
  list(): Promise<readonly string[]>;
}

/** Looks all the time whether what is written could be kept. */
export interface StorageWatch {
  /** Why nothing could be kept at the last look. Undefined: it could. */
  readonly trouble: PawlError | undefined;
  /** Until `stop`. What is found is logged once, and once when it is over. */
  start(log: Log): void;
  stop(): void;
}

/** Logs trouble that begins or changes, and its end, once. `before`: the code that was logged last. */
export function logTrouble(log: Log, trouble: PawlError | undefined, before: ErrorCode | undefined): void {
  if (trouble?.code === before) return;
  if (trouble === undefined) log.write("info", "storage: what is written is kept again");
  else log.write("error", `storage: ${trouble.code} ${trouble.message}`, { code: trouble.code });
}

import type { ErrorCode } from "../../core/errors/error-table.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";
import type { Json } from "../../core/json.ts";
import type { ServiceRecords } from "../../operations/application/ports.ts";
import type { Conversations } from "../../ports/conversations.ts";
import type { JournalWriter } from "../../storage/sqlite/sqlite-journal.ts";

/** What a thread is started with. */
export interface ThreadFiles {
  /** The journal's file, that of the service's records, and that of conversations with agents. */
  readonly journal: string;
  readonly service: string;
  readonly conversations: string;
  readonly durability: "power" | "process";
}

/** A call that writes, answered in any order. */
export interface ThreadCall {
  readonly id: number;
  readonly of: "journal" | keyof ThreadRecords;
  readonly method: string;
  readonly parameters: readonly unknown[];
}

export type ThreadReply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly failure: SentError };

export interface ThreadRecords extends ServiceRecords {
  readonly conversations: Conversations;
}

type Writes = { readonly [Name in keyof ThreadRecords]: readonly (keyof ThreadRecords[Name])[] };

/** The calls of records that write. All others only read, which waits for no disk and no lock of a writer. */
export const RECORD_WRITES: Writes = {
  keys: ["add", "revoke"],
  idempotency: ["claim"],
  definitions: ["save", "markStart", "remove"],
  deadLetters: ["close", "confirm", "reopen", "forget"],
  deliveries: ["add", "claimDue", "release", "record", "skip", "sendAgain", "forgetEndedBefore"],
  events: ["add", "register", "unregister", "claim", "giveBack", "settle", "keep", "forget"],
  rates: ["take", "pass"],
  schedules: ["add", "edit", "remove", "claim", "addSlots", "settle", "finish"],
  budgets: ["put", "remove", "raise", "lease", "release", "note", "close"],
  logins: ["save", "claim", "release", "remove"],
  conversations: ["append"],
};

export const JOURNAL_WRITES = [
  "append",
  "finishOutbox",
  "deleteRun",
] as const satisfies readonly (keyof JournalWriter)[];

/** A message takes the class and the fields of an error away. */
export interface SentError {
  readonly message: string;
  readonly stack: string | undefined;
  readonly pawl: { readonly code: ErrorCode; readonly remedy: string; readonly details: Json | undefined } | undefined;
}

export function toSentError(error: unknown): SentError {
  if (!(error instanceof Error)) return { message: String(error), stack: undefined, pawl: undefined };
  const { message, stack } = error;
  if (!isPawlError(error)) return { message, stack, pawl: undefined };
  const { code, remedy, details } = error;
  return { message, stack, pawl: { code, remedy, details } };
}

export function toError({ message, stack, pawl }: SentError): Error {
  if (pawl === undefined) return Object.assign(new Error(message), { stack });
  const { code, remedy, details } = pawl;
  return new PawlError(code, { message, remedy, ...(details === undefined ? {} : { details }) });
}

import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";

/** SQLSTATE classes of a server that cannot do anything at the moment, https://www.postgresql.org/docs/current/errcodes-appendix.html. */
const OUT_OF_ORDER = ["08", "53", "57", "58"];

/** It was done at the same time as another one: the same transaction can see that when it is done again, and succeed. */
const IN_THE_WAY = ["40001", "40P01", "55P03", "23505"];

/** A pooler has given this connection another session, which does not know a statement by its name, or knows it already. */
const NOT_PREPARED = ["26000", "42P05"];

const DISK_FULL = "53100";
/** A transaction that a standby or a pooler has made read-only: the address leads to a server that may not be written now. */
const READ_ONLY = "25006";
/** Pages of it, or tables, columns and functions that its version has and somebody took away. */
const DAMAGED = ["XX001", "XX002", "42P01", "42703", "42883"];

/** Whether the connection can be used for nothing more. */
export function isLost(error: unknown): boolean {
  if (isPawlError(error)) return false;
  return !isOfServer(error) || sqlStateOf(error).startsWith("57P");
}

export function isInTheWay(error: unknown): boolean {
  return IN_THE_WAY.includes(sqlStateOf(error));
}

/** A lock was waited for as long as `lock_timeout` says. */
export function isLockTimeout(error: unknown): boolean {
  return sqlStateOf(error) === "55P03";
}

export function isNotPrepared(error: unknown): boolean {
  return NOT_PREPARED.includes(sqlStateOf(error));
}

/** `shown` says where the database is. Undefined: it concerns one statement, or is a defect of ours. */
export function toDatabaseFailure(error: unknown, shown: string): PawlError | undefined {
  if (isPawlError(error)) return error;
  if (!(error instanceof Error)) return undefined;
  const message = `The database ${shown}: ${error.message.replace(/\.$/, "")}.`;
  const state = sqlStateOf(error);
  if (DAMAGED.includes(state)) return new PawlError("JOURNAL_DAMAGED", { message, cause: error });
  if (state === DISK_FULL) return new PawlError("JOURNAL_FULL", { message, cause: error });
  if (state.startsWith("28") || state === "3D000" || state === "42501") {
    const remedy = "Correct `database.url` (DATABASE_URL), or what its user may do there.";
    return new PawlError("JOURNAL_IO", { message, remedy, cause: error });
  }
  const isServer = state === READ_ONLY || OUT_OF_ORDER.includes(state.slice(0, 2));
  if (!isServer && isOfServer(error)) return undefined;
  // The driver's own errors have no code: a connection that ended, or that was not made in time.
  if (!isServer && !("syscall" in error || /connection|timeout|terminated|not queryable/i.test(error.message)))
    return undefined;
  const remedy =
    "Start the database, or correct `database.url` (DATABASE_URL). Nothing was lost: what waits goes on by itself.";
  return new PawlError("JOURNAL_IO", { message, remedy, cause: error });
}

function sqlStateOf(error: unknown): string {
  return isOfServer(error) && "code" in error ? String(error.code) : "";
}

/** The server's own errors alone have a severity. Migrations are told by them on SQLite too, where the driver is not loaded. */
function isOfServer(error: unknown): error is Error {
  return error instanceof Error && "severity" in error;
}

import type { ErrorCode } from "../../core/errors/error-table.ts";
import { isPawlError, PawlError } from "../../core/errors/pawl-error.ts";

/** Primary result codes of SQLite, https://www.sqlite.org/rescode.html, by what they mean to a user. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  3: "JOURNAL_IO", // PERM
  5: "JOURNAL_IO", // BUSY
  6: "JOURNAL_IO", // LOCKED
  7: "JOURNAL_IO", // NOMEM
  8: "JOURNAL_IO", // READONLY
  10: "JOURNAL_IO", // IOERR
  11: "JOURNAL_DAMAGED", // CORRUPT
  13: "JOURNAL_FULL", // FULL
  14: "JOURNAL_IO", // CANTOPEN
  15: "JOURNAL_IO", // PROTOCOL
  23: "JOURNAL_IO", // AUTH
  26: "JOURNAL_DAMAGED", // NOTADB
};

/**
 * Translates a failure of the whole file. Undefined if it concerns one statement (a constraint, a value that is too
 * long) or is a defect of ours.
 */
export function toStorageFailure(error: unknown, path: string): PawlError | undefined {
  if (isPawlError(error)) return error;
  const code = codeOf(error);
  if (code === undefined || !(error instanceof Error)) return undefined;
  return new PawlError(code, { message: `${path}: ${error.message}.`, cause: error });
}

/** Translates failures of reading and opening. No single entry can cause them, so every error of SQLite is the file's. */
export function toReadFailure(error: unknown, path: string): unknown {
  const failure = toStorageFailure(error, path);
  if (failure !== undefined || !(error instanceof Error)) return failure ?? error;
  const isSqlite = sqliteCodeOf(error) !== undefined;
  // We write JSON only, so a body that is not JSON means that pages of the file have been mixed up.
  if (!isSqlite && !(error instanceof SyntaxError)) return error;
  return new PawlError("JOURNAL_DAMAGED", { message: `${path}: ${error.message}.`, cause: error });
}

function codeOf(error: unknown): ErrorCode | undefined {
  const sqliteCode = sqliteCodeOf(error);
  if (sqliteCode !== undefined) return CODES[sqliteCode];
  const isSystemError = error instanceof Error && "syscall" in error && "code" in error;
  if (!isSystemError) return undefined;
  return error.code === "ENOSPC" || error.code === "EDQUOT" ? "JOURNAL_FULL" : "JOURNAL_IO";
}

/** The primary code is the lower byte of the extended one. */
function sqliteCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error && "errcode" in error && typeof error.errcode === "number")) return undefined;
  return error.errcode & 0xff;
}

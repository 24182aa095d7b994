import { DatabaseSync } from "node:sqlite";
import { makeFile } from "./make-folder.ts";

const SQLITE_BUSY = 5;

/**
 * Holds a file by an exclusive SQLite transaction, until the returned database is closed. The system takes it back the
 * moment the process dies. Never waits: undefined if somebody holds it, or asks in the same moment.
 */
export function tryLock(path: string): DatabaseSync | undefined {
  let database: DatabaseSync | undefined;
  try {
    makeFile(path);
    database = new DatabaseSync(path);
    database.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
}

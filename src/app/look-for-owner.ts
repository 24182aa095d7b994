import { existsSync } from "node:fs";
import { hostname } from "node:os";
import type { Owner } from "../operations/application/application.ts";

/** Who owns a data directory that this process has not opened. Only the lock itself tells: `lock.json` may be stale. */
export async function lookForOwner(dataDir: string): Promise<Owner> {
  if (!existsSync(dataDir)) return { state: "free" };
  const { acquireOwnerLock } = await import("../storage/sqlite/owner-lock.ts");
  const lock = acquireOwnerLock(dataDir, { pid: process.pid, host: hostname(), socket: "" });
  if (!lock.acquired) return { state: "held", ...lock.heldBy };
  lock.release();
  return { state: "free" };
}

import { acquireOwnerLock } from "../../src/storage/sqlite/owner-lock.ts";

/**
 * A child process of the lock test: asks for the lock of a data directory, says on stdout what it got, and holds it
 * until its stdin ends.
 */
const [dataDir = ""] = process.argv.slice(2);
const lock = acquireOwnerLock(dataDir, { pid: process.pid, host: "child", socket: "child.sock" });
process.stdout.write(lock.acquired ? "acquired\n" : `held by ${lock.heldBy?.pid}\n`);
process.stdin.resume().on("end", () => {
  if (lock.acquired) lock.release();
});

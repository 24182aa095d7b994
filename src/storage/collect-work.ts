import { lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ifThere } from "./files/durable-write.ts";

/** A command that still works in a folder changes something there. */
const GRACE_MS = 3_600_000;

/**
 * Removes what commands of agents have left in the folder in which they worked on files that lie in a bucket: `work/artifacts/RUN` of runs
 * that are over. It was stored after each call. Returns how many bytes there were; `onlyLooks`: it removes nothing.
 */
export async function collectWork(
  dataDir: string,
  isOver: (runId: string) => Promise<boolean>,
  onlyLooks: boolean,
): Promise<number> {
  const folder = join(dataDir, "work", "artifacts");
  let bytes = 0;
  for (const entry of await ifThere(folder, () => readdir(folder, { withFileTypes: true }), [])) {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) continue;
    const found = await measure(path);
    if (Date.now() - found.changedAt < GRACE_MS || !(await isOver(entry.name))) continue;
    if (!onlyLooks) await rm(path, { recursive: true, force: true });
    bytes += found.bytes;
  }
  return bytes;
}

/** Links are not followed. */
async function measure(folder: string): Promise<{ readonly bytes: number; readonly changedAt: number }> {
  let [bytes, changedAt] = [0, (await lstat(folder)).mtimeMs];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const found = await ifThere(path, () => lstat(path), undefined);
    if (found?.isFile() === true) bytes += found.size;
    changedAt = Math.max(changedAt, found?.mtimeMs ?? Date.now());
  }
  return { bytes, changedAt };
}

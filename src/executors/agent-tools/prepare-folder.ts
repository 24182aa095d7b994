import { chmod, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";

/**
 * Makes the folder, and lets a program change it that runs as a user of its own: that is who it is where we are root.
 * Nobody else comes near it, since the data directory is closed to them. Links are left alone.
 */
export async function prepareFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  if (process.getuid?.() === 0) await openUp(folder);
}

async function openUp(folder: string): Promise<void> {
  await chmod(folder, 0o777);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await openUp(path);
    else if (entry.isFile()) await chmod(path, 0o666);
  }
}

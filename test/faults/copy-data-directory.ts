import { cpSync, rmSync } from "node:fs";

const MAX_TRIES = 10;

/**
 * What a death at this moment would leave, without the owner's lock, which must not be opened by anybody else. The copy
 * is made in one turn of the event loop: of this process only a file that is on its way to its name can change meanwhile.
 */
export function copyDataDirectory(dataDir: string, into: string): string {
  const filter = (source: string) => !source.includes("owner.db") && !source.endsWith("lock.json");
  for (let tries = 1; ; tries += 1) {
    try {
      cpSync(dataDir, into, { recursive: true, filter });
      return into;
    } catch (error) {
      // It got its name after it had been listed under another.
      if (tries === MAX_TRIES || !(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
      rmSync(into, { recursive: true, force: true });
    }
  }
}

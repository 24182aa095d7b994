import { setTimeout } from "node:timers/promises";
import { isPawlError } from "../../src/core/errors/pawl-error.ts";
import type { FileStorage } from "../../src/ports/file-storage.ts";

/** Adds at the end, wherever that is by now. */
export async function addAtEnd(files: FileStorage, path: string, text: string): Promise<void> {
  for (;;) {
    const length = (await files.sizeOf(path)) ?? 0;
    try {
      return await files.extend(path, { from: length, content: Buffer.from(text), length });
    } catch (error) {
      if (!isPawlError(error) || error.code !== "STORAGE_CHANGED") throw error;
      await setTimeout(Math.random() * 100);
    }
  }
}

import { setTimeout } from "node:timers/promises";
import { isStorageFailure } from "../../core/errors/is-storage-failure.ts";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import type { FileStorage } from "../../ports/file-storage.ts";

const RETRY_MS = 1_000;

/** Mirrors a folder for programs into a storage such as a bucket. Calls must not overlap. A call waits for a failing storage until `signal` aborts. */
export class FolderMirror {
  readonly #local: FileStorage;
  readonly #stored: FileStorage;
  readonly #folder: string;
  /** How each file was on both sides when they were last equal. */
  readonly #known = new Map<string, { readonly local: string; readonly stored: string }>();

  /** `folder`: in the storage, with a slash at its end. */
  constructor(local: FileStorage, stored: FileStorage, folder: string) {
    this.#local = local;
    this.#stored = stored;
    this.#folder = folder;
  }

  /** Fetches what another process has stored since, and stores what one that has died had left here. */
  async bring(signal: AbortSignal): Promise<void> {
    await untilStored(signal, async () => {
      const stored = await this.#listStored();
      for (const path of this.#known.keys()) {
        if (stored.has(path)) continue;
        await this.#local.remove(path);
        this.#known.delete(path);
      }
      for (const [path, mark] of stored) if (this.#known.get(path)?.stored !== mark) await this.#fetch(path, mark);
    });
    await this.keep(signal);
  }

  /** Stores what has changed in the folder. */
  async keep(signal: AbortSignal): Promise<void> {
    await untilStored(signal, async () => {
      const local = await this.#listLocal();
      for (const path of [...this.#known.keys()]) {
        if (local.has(path)) continue;
        await this.#stored.remove(this.#folder + path);
        this.#known.delete(path);
      }
      const changed = [...local].filter(([path, mark]) => this.#known.get(path)?.local !== mark);
      for (const [path] of changed) await this.#store(path);
      if (changed.length === 0) return;
      const stored = await this.#listStored();
      for (const [path, local] of changed) {
        const mark = stored.get(path);
        if (mark !== undefined) this.#known.set(path, { local, stored: mark });
      }
    });
  }

  /** A command may give a file a name that no stored file can have: it stays where it is. */
  async #store(path: string): Promise<void> {
    try {
      const content = await this.#local.read(path);
      if (content !== undefined) await this.#stored.write(this.#folder + path, content);
    } catch (error) {
      if (!isPawlError(error) || error.code !== "STORAGE_PATH_INVALID") throw error;
    }
  }

  async #fetch(path: string, mark: string): Promise<void> {
    const content = await this.#stored.read(this.#folder + path);
    if (content === undefined) return;
    await this.#local.write(path, content);
    this.#known.set(path, { local: (await this.#listLocal()).get(path) ?? "", stored: mark });
  }

  async #listLocal(): Promise<ReadonlyMap<string, string>> {
    return new Map((await this.#local.list("")).map((file) => [file.path, markOf(file)]));
  }

  async #listStored(): Promise<ReadonlyMap<string, string>> {
    const files = await this.#stored.list(this.#folder);
    return new Map(files.map((file) => [file.path.slice(this.#folder.length), markOf(file)]));
  }
}

function markOf({ bytes, modifiedAt }: { readonly bytes: number; readonly modifiedAt: number }): string {
  return `${bytes} ${modifiedAt}`;
}

async function untilStored(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isStorageFailure(error) || signal.aborted) throw error;
    }
    await setTimeout(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
}

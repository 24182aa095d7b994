import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { DefinitionLibrary, LibraryChange } from "./definition-library.ts";

export interface WatchOptions {
  readonly appDir: string;
  readonly library: DefinitionLibrary;
  changed(change: LibraryChange): void;
  failed(error: unknown): void;
}

/** Editors write in several moves (truncate, write, rename): they are looked at when they are through. */
const QUIET_MS = 100;
/** Systems lose notices, and network folders send none. */
const LOOK_ANYWAY_MS = 5_000;

/** Keeps a library as its files are, until it is closed. */
export class DefinitionWatch {
  readonly #options: WatchOptions;
  readonly #watchers = new Map<string, { readonly watcher: FSWatcher; readonly ino: number }>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    await this.#watchFolders();
    this.#lookIn(LOOK_ANYWAY_MS);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const { watcher } of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #lookIn(delayMs: number): void {
    if (this.#isClosed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), delayMs);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const { library, changed, failed } = this.#options;
    this.#timer = undefined;
    try {
      const change = await library.refresh();
      await this.#watchFolders();
      if (!this.#isClosed && (change.hasChanged || change.broken.length > 0)) changed(change);
    } catch (error) {
      failed(error);
    }
    // A notice that came meanwhile wants an earlier look.
    if (this.#timer === undefined) this.#lookIn(LOOK_ANYWAY_MS);
  }

  /** Those that are there now; one that was replaced is another one. */
  async #watchFolders(): Promise<void> {
    const { appDir, library } = this.#options;
    const definitions = [join(appDir, "workflows"), join(appDir, ".terminal_control_workflows")];
    const beside = library.pinnedFiles().map((file) => dirname(file));
    const wanted = new Set([appDir, ...definitions, ...beside]);
    for (const folder of this.#watchers.keys()) if (!wanted.has(folder)) this.#unwatch(folder);
    for (const folder of wanted) await this.#watchFolder(folder, definitions.includes(folder));
  }

  async #watchFolder(folder: string, recursive: boolean): Promise<void> {
    const ino = await inodeOf(folder);
    const known = this.#watchers.get(folder);
    if (known?.ino === ino) return;
    this.#unwatch(folder);
    if (ino === undefined || this.#isClosed) return;
    try {
      const watcher = watch(folder, { recursive, persistent: false }, () => this.#lookIn(QUIET_MS));
      watcher.on("error", () => this.#unwatch(folder));
      this.#watchers.set(folder, { watcher, ino });
    } catch {
      // Gone, or the system has no watches left: it is looked at now and then all the same.
    }
  }

  #unwatch(folder: string): void {
    this.#watchers.get(folder)?.watcher.close();
    this.#watchers.delete(folder);
  }
}

async function inodeOf(folder: string): Promise<number | undefined> {
  const found = await stat(folder).catch(() => undefined);
  return found?.ino;
}

import { setTimeout } from "node:timers/promises";
import { isPawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import type { FileStorage } from "../../ports/file-storage.ts";
import { type Added, type Addition, appendRows } from "./append-rows.ts";

export interface SharedFile {
  readonly files: FileStorage;
  /** The tenant that the file belongs to: tenants have paths of their own. */
  readonly tenantId: string | undefined;
  readonly path: string;
}

interface Waiting {
  readonly addition: Addition;
  readonly signal: AbortSignal;
  resolve(added: Added | "stopped"): void;
  reject(error: unknown): void;
}

const MAX_AT_ONCE = 200;
const MAX_TRIES = 20;
const PAUSE_MS = 100;

/**
 * One addition to a file follows the other, so that none overwrites what another is adding. All who come meanwhile are added
 * together: a burst of runs waits for a few writes, not for some each, which its time-out would not last for.
 */
export class AdditionQueue {
  readonly #waiting = new Map<string, Waiting[]>();

  /** "stopped": `signal` has aborted before anything was added. */
  add(file: SharedFile, addition: Addition, signal: AbortSignal): Promise<Added | "stopped"> {
    const { promise, resolve, reject } = Promise.withResolvers<Added | "stopped">();
    const one = { addition, signal, resolve, reject };
    const name = writeExact([file.tenantId ?? null, file.path]);
    const others = this.#waiting.get(name);
    if (others !== undefined) others.push(one);
    else {
      const waiting = [one];
      this.#waiting.set(name, waiting);
      void this.#addAll(file, name, waiting);
    }
    return promise;
  }

  async #addAll(file: SharedFile, name: string, waiting: Waiting[]): Promise<void> {
    // Additions of the same turn are made together.
    await Promise.resolve();
    while (waiting.length > 0) await addTogether(file, waiting.splice(0, MAX_AT_ONCE));
    this.#waiting.delete(name);
  }
}

async function addTogether(file: SharedFile, batch: readonly Waiting[]): Promise<void> {
  const wanted = batch.filter(({ signal }) => !signal.aborted);
  for (const { signal, resolve } of batch) if (signal.aborted) resolve("stopped");
  if (wanted.length === 0) return;
  try {
    const additions = wanted.map(({ addition }) => addition);
    const refused = new Set<string>();
    const added = await untilUnchanged(() => appendRows(file.files, file.path, additions, refused));
    for (const [index, one] of added.entries()) wanted[index]?.resolve(one);
  } catch (error) {
    const [only] = wanted;
    if (wanted.length === 1) only?.reject(error);
    else if (isPawlError(error) && error.code === "CSV_BROKEN") await addOneByOne(file, wanted);
    else for (const { reject } of wanted) reject(error);
  }
}

/** Other processes may add to the same file, and be faster. */
async function untilUnchanged<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      const isChanged = isPawlError(error) && error.code === "STORAGE_CHANGED";
      if (!isChanged || tries === MAX_TRIES) throw error;
    }
    // Those who disturb one another must not come back at once.
    await setTimeout(Math.random() * PAUSE_MS * tries);
  }
}

/** One addition that cannot be made does not fail the others. */
async function addOneByOne(file: SharedFile, batch: readonly Waiting[]): Promise<void> {
  for (const one of batch) await addTogether(file, [one]);
}

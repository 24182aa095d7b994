/**
 * One tool at a time in a folder: a command could exchange a folder for a link in the moment between the look at it and
 * the write through it.
 */
export class FolderTurns {
  readonly #last = new Map<string, Promise<unknown>>();

  async take<T>(folder: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(folder) ?? Promise.resolve();
    const mine = before.then(work);
    const settled = mine.catch(() => undefined);
    this.#last.set(folder, settled);
    try {
      return await mine;
    } finally {
      if (this.#last.get(folder) === settled) this.#last.delete(folder);
    }
  }
}

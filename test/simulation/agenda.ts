export interface Entry {
  readonly at: number;
  /** Comes from outside the process: a crash does not lose it. */
  readonly isExternal: boolean;
  run(): void;
}

/** What will happen, in the order of virtual time; at the same time, in the order of asking. */
export class Agenda {
  #entries: Entry[] = [];

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  add(entry: Entry): void {
    let index = this.#entries.length;
    while (index > 0 && (this.#entries[index - 1]?.at ?? 0) > entry.at) index -= 1;
    this.#entries.splice(index, 0, entry);
  }

  take(): Entry | undefined {
    return this.#entries.shift();
  }

  remove(entry: Entry): void {
    this.#entries = this.#entries.filter((other) => other !== entry);
  }

  /** What a crash leaves. */
  keepExternal(): void {
    this.#entries = this.#entries.filter(({ isExternal }) => isExternal);
  }
}

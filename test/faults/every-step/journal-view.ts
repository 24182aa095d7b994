import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Event } from "../../../src/core/history/events.ts";
import type { Journal, RunRecord } from "../../../src/ports/journal.ts";
import { openSqliteJournal } from "../../../src/storage/sqlite/sqlite-journal.ts";

/** The journal of a data directory with one run, read beside its owner. */
export class JournalView {
  readonly #path: string;
  #journal: Journal | undefined;
  readonly #events: Event[] = [];

  constructor(dataDir: string) {
    this.#path = join(dataDir, "pawl.db");
  }

  /** Everything so far. */
  async events(): Promise<readonly Event[]> {
    const record = await this.run();
    if (record === undefined || this.#journal === undefined) return [];
    const rows = await this.#journal.readEvents(record.no, { afterSeq: this.#events.length, limit: 10_000 });
    this.#events.push(...rows.map(({ event }) => event));
    return this.#events;
  }

  /** Undefined: not yet there. */
  async run(): Promise<RunRecord | undefined> {
    try {
      if (!existsSync(this.#path)) return undefined;
      this.#journal ??= openSqliteJournal({ path: this.#path, durability: "process", readOnly: true });
      return (await this.#journal.listRuns({ limit: 1 }))[0];
    } catch {
      // Its owner is just making it.
      return undefined;
    }
  }

  async close(): Promise<void> {
    await this.#journal?.close();
    this.#journal = undefined;
  }
}

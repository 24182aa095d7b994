import type { DeadLetterNote, DeadLetterNotes } from "../../../ports/service/dead-letter-notes.ts";
import { plain, RecordTable, trueOrAbsent } from "./record-table.ts";
import type { ServiceDatabase } from "./service-database.ts";

export class SqliteDeadLetterNotes implements DeadLetterNotes {
  readonly #database: ServiceDatabase;
  readonly #notes: RecordTable<DeadLetterNote>;

  constructor(database: ServiceDatabase) {
    this.#database = database;
    this.#notes = new RecordTable<DeadLetterNote>(database, "dead_letter_notes", {
      run: plain,
      path: plain,
      status: plain,
      at: plain,
      note: plain,
      newRun: plain,
      isPending: { ...trueOrAbsent, name: "pending" },
    });
  }

  async close(note: DeadLetterNote): Promise<boolean> {
    return this.#notes.insert(note, "ON CONFLICT DO NOTHING");
  }

  async confirm(run: string, path: string): Promise<void> {
    this.#database.run("UPDATE dead_letter_notes SET pending = 0 WHERE run = ? AND path = ?", run, path);
  }

  async reopen(run: string, path: string, newRun: string): Promise<void> {
    const text = "DELETE FROM dead_letter_notes WHERE run = ? AND path = ? AND new_run = ? AND pending = 1";
    this.#database.run(text, run, path, newRun);
  }

  async find(run: string, path: string): Promise<DeadLetterNote | undefined> {
    return this.#notes.find("WHERE run = ? AND path = ?", run, path);
  }

  async forget(run: string): Promise<void> {
    this.#database.run("DELETE FROM dead_letter_notes WHERE run = ?", run);
  }
}

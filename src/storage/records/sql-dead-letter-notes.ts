import type { DeadLetterNote, DeadLetterNotes } from "../../ports/service/dead-letter-notes.ts";
import type { Sql } from "../sql/sql-database.ts";
import { plain, RecordTable, trueOrAbsent } from "./record-table.ts";

export const NOTES = new RecordTable<DeadLetterNote>("dead_letter_notes", {
  run: plain,
  path: plain,
  status: plain,
  at: plain,
  note: plain,
  newRun: plain,
  isPending: { ...trueOrAbsent, name: "pending" },
});

export class SqlDeadLetterNotes implements DeadLetterNotes {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async close(note: DeadLetterNote): Promise<boolean> {
    return NOTES.insert(this.#sql, note, "ON CONFLICT DO NOTHING");
  }

  async confirm(run: string, path: string): Promise<void> {
    await this.#sql.run("UPDATE dead_letter_notes SET pending = 0 WHERE run = ? AND path = ?", run, path);
  }

  async reopen(run: string, path: string, newRun: string): Promise<void> {
    const text = "DELETE FROM dead_letter_notes WHERE run = ? AND path = ? AND new_run = ? AND pending = 1";
    await this.#sql.run(text, run, path, newRun);
  }

  async find(run: string, path: string): Promise<DeadLetterNote | undefined> {
    return NOTES.find(this.#sql, "WHERE run = ? AND path = ?", run, path);
  }

  async forget(run: string): Promise<void> {
    await this.#sql.run("DELETE FROM dead_letter_notes WHERE run = ?", run);
  }
}

import type { DeadLetterNote, DeadLetterNotes } from "../../ports/service/dead-letter-notes.ts";
import type { Sql } from "../sql/sql-database.ts";
import { integer, optional, RecordTable, text, trueOrAbsent } from "./record-table.ts";

export const NOTES = new RecordTable<DeadLetterNote>(
  "dead_letter_notes",
  {
    run: text,
    path: text,
    status: text,
    at: integer,
    note: optional(text),
    newRun: optional(text),
    isPending: { ...trueOrAbsent, name: "pending", byDefault: "0" },
  },
  { key: ["run", "path"] },
);

export class SqlDeadLetterNotes implements DeadLetterNotes {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async close(note: DeadLetterNote): Promise<boolean> {
    return NOTES.insert(this.#sql, note, "ON CONFLICT DO NOTHING");
  }

  async confirm(run: string, path: string): Promise<void> {
    await NOTES.update(this.#sql, { isPending: null }, { run, path });
  }

  async reopen(run: string, path: string, newRun: string): Promise<void> {
    await NOTES.remove(this.#sql, { run, path, newRun });
  }

  async find(run: string, path: string): Promise<DeadLetterNote | undefined> {
    return NOTES.find(this.#sql, { run, path });
  }

  async forget(run: string): Promise<void> {
    await NOTES.remove(this.#sql, { run });
  }
}

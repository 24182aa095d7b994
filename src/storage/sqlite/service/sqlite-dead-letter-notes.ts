import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { DeadLetterNote, DeadLetterNotes } from "../../../ports/dead-letter-notes.ts";
import { prepareQuery, type Query } from "../statement.ts";

interface NoteRow {
  readonly run: string;
  readonly path: string;
  readonly status: DeadLetterNote["status"];
  readonly at: number;
  readonly note: string | null;
  readonly new_run: string | null;
}

export class SqliteDeadLetterNotes implements DeadLetterNotes {
  readonly #close: StatementSync;
  readonly #reopen: StatementSync;
  readonly #forget: StatementSync;
  readonly #find: Query<NoteRow>;

  constructor(database: DatabaseSync) {
    this.#close = database.prepare("INSERT INTO dead_letter_notes VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
    this.#reopen = database.prepare("DELETE FROM dead_letter_notes WHERE run = ? AND path = ? AND status = 'retried'");
    this.#forget = database.prepare("DELETE FROM dead_letter_notes WHERE run = ?");
    this.#find = prepareQuery(database, "SELECT * FROM dead_letter_notes WHERE run = ? AND path = ?");
  }

  async close({ run, path, status, at, note, newRun }: DeadLetterNote): Promise<boolean> {
    return this.#close.run(run, path, status, at, note ?? null, newRun ?? null).changes === 1;
  }

  async reopen(run: string, path: string): Promise<void> {
    this.#reopen.run(run, path);
  }

  async find(run: string, path: string): Promise<DeadLetterNote | undefined> {
    const row = this.#find.get(run, path);
    if (row === undefined) return undefined;
    const { status, at, note, new_run: newRun } = row;
    return { run, path, status, at, ...(note === null ? {} : { note }), ...(newRun === null ? {} : { newRun }) };
  }

  async forget(run: string): Promise<void> {
    this.#forget.run(run);
  }
}

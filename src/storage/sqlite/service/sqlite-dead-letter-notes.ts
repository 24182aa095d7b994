import type { DeadLetterNote, DeadLetterNotes } from "../../../ports/dead-letter-notes.ts";
import { prepareQuery, type Query } from "../statement.ts";
import type { ServiceDatabase, ServiceStatement } from "./service-database.ts";

interface NoteRow {
  readonly run: string;
  readonly path: string;
  readonly status: DeadLetterNote["status"];
  readonly at: number;
  readonly note: string | null;
  readonly new_run: string | null;
  readonly pending: number;
}

export class SqliteDeadLetterNotes implements DeadLetterNotes {
  readonly #close: ServiceStatement;
  readonly #confirm: ServiceStatement;
  readonly #reopen: ServiceStatement;
  readonly #forget: ServiceStatement;
  readonly #find: Query<NoteRow>;

  constructor(database: ServiceDatabase) {
    this.#close = database.prepare(
      `INSERT INTO dead_letter_notes (run, path, status, at, note, new_run, pending) VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT DO NOTHING`,
    );
    this.#confirm = database.prepare("UPDATE dead_letter_notes SET pending = 0 WHERE run = ? AND path = ?");
    this.#reopen = database.prepare(
      "DELETE FROM dead_letter_notes WHERE run = ? AND path = ? AND new_run = ? AND pending = 1",
    );
    this.#forget = database.prepare("DELETE FROM dead_letter_notes WHERE run = ?");
    this.#find = prepareQuery(database, "SELECT * FROM dead_letter_notes WHERE run = ? AND path = ?");
  }

  async close({ run, path, status, at, note, newRun, isPending }: DeadLetterNote): Promise<boolean> {
    return (
      this.#close.run(run, path, status, at, note ?? null, newRun ?? null, Number(isPending === true)).changes === 1
    );
  }

  async confirm(run: string, path: string): Promise<void> {
    this.#confirm.run(run, path);
  }

  async reopen(run: string, path: string, newRun: string): Promise<void> {
    this.#reopen.run(run, path, newRun);
  }

  async find(run: string, path: string): Promise<DeadLetterNote | undefined> {
    const row = this.#find.get(run, path);
    if (row === undefined) return undefined;
    const { status, at, note, new_run: newRun, pending } = row;
    return {
      run,
      path,
      status,
      at,
      ...(note === null ? {} : { note }),
      ...(newRun === null ? {} : { newRun }),
      ...(pending === 1 ? { isPending: true } : {}),
    };
  }

  async forget(run: string): Promise<void> {
    this.#forget.run(run);
  }
}

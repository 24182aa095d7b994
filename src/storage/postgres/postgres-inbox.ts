import { parseExact, writeExact } from "../../core/exact-json.ts";
import type { Inbox, SentRefusal, SentRequest } from "../../ports/inbox.ts";
import type { SqlDatabase } from "../sql/sql-database.ts";

/** Wakes other processes. They look by themselves too, some times a second. */
export interface Signals {
  tell(): Promise<void>;
  /** Until the returned function is called. */
  watch(changed: () => void): () => void;
}

const LIST = `SELECT inbox.id, runs.id AS "runId", inbox.body FROM inbox JOIN runs ON runs.no = inbox.run_no
  WHERE inbox.done = 0 AND runs.owner = ? ORDER BY inbox.id LIMIT 100`;

const SELECT_ANSWER = "SELECT done, refusal FROM inbox WHERE id = ?";

/** What nobody has come back for is forgotten. */
const SWEEP = "DELETE FROM inbox WHERE done = 1 AND at < now() - interval '1 hour'";

/** `owner`: the process whose runs are asked for, as it is called now. Null: it drives none. */
export function createPostgresInbox(
  database: SqlDatabase,
  { owner, signals }: { owner(): string | null; readonly signals: Signals },
): Inbox {
  return {
    async send(run, body) {
      const text = "INSERT INTO inbox (run_no, body) VALUES (?, ?) RETURNING id";
      const sent = await database.get<{ readonly id: number }>(text, run, body);
      await signals.tell();
      return sent?.id ?? 0;
    },

    async list() {
      const id = owner();
      return id === null ? [] : database.all<SentRequest>(LIST, id);
    },

    async answer(id, refusal) {
      const text = "UPDATE inbox SET done = 1, refusal = ? WHERE id = ?";
      await database.run(text, refusal === undefined ? null : writeExact(refusal), id);
      await signals.tell();
    },

    async readAnswer(id) {
      const row = await database.get<{ readonly done: number; readonly refusal: string | null }>(SELECT_ANSWER, id);
      if (row === undefined || row.done === 0) return undefined;
      return { refusal: row.refusal === null ? undefined : (parseExact(row.refusal) as SentRefusal) };
    },

    async withdraw(id) {
      return (await database.run("DELETE FROM inbox WHERE id = ? AND done = 0", id)) === 1;
    },

    async forget(id) {
      await database.run("DELETE FROM inbox WHERE id = ?", id);
      await database.run(SWEEP);
    },

    tell: () => signals.tell(),
    watch: (changed) => signals.watch(changed),
  };
}

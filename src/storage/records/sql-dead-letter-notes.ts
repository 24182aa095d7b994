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

export function openDeadLetterNotes(sql: Sql): DeadLetterNotes {
  return {
    close: (note) => NOTES.insert(sql, note, "ON CONFLICT DO NOTHING"),
    confirm: async (run, path) => void (await NOTES.update(sql, { isPending: null }, { run, path })),
    reopen: async (run, path, newRun) => void (await NOTES.remove(sql, { run, path, newRun })),
    find: (run, path) => NOTES.find(sql, { run, path }),
    forget: async (run) => void (await NOTES.remove(sql, { run })),
  };
}

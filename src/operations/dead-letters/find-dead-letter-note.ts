import type { DeadLetterNote } from "../../ports/service/dead-letter-notes.ts";
import type { Application } from "../application/application.ts";

export interface FoundNote {
  /** The note. Absent: nothing was done. */
  readonly note?: DeadLetterNote;
  /** The id that a retry has claimed whose run never began: its process died before. Whoever retries next takes it. */
  readonly claimed?: string;
}

/** Finds the note on a step that failed for good. */
export async function findDeadLetterNote(
  app: Pick<Application, "records" | "service">,
  run: string,
  path: string,
): Promise<FoundNote> {
  const note = await (await app.service()).deadLetters.find(run, path);
  if (note === undefined) return {};
  if (note.isPending !== true || note.newRun === undefined) return { note };
  const known = await (await app.records()).journal.findRun(note.newRun);
  return known === undefined ? { claimed: note.newRun } : { note };
}

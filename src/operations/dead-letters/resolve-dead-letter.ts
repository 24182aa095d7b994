import type { Application } from "../application/application.ts";
import { deadLetterClosed, findDeadLetter } from "./find-dead-letter.ts";
import type { DeadLetter } from "./list-dead-letters.ts";

/** Notes that nothing more is to be done. The run stays as it ended. Throws `DEAD_LETTER_NOT_FOUND`, `DEAD_LETTER_CLOSED`. */
export async function resolveDeadLetter(app: Application, id: string, note: string | undefined): Promise<DeadLetter> {
  const { record, letter, claimed } = await findDeadLetter(app, id);
  const { deadLetters } = await app.service();
  if (claimed !== undefined) await deadLetters.reopen(record.id, letter.path, claimed);
  const closed = await deadLetters.close({
    run: record.id,
    path: letter.path,
    status: "resolved",
    at: app.clock.now(),
    ...(note === undefined ? {} : { note: app.mask(note) }),
  });
  const after = (await findDeadLetter(app, id)).letter;
  if (closed) return after;
  throw deadLetterClosed(after);
}

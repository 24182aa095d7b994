import type { Application } from "./application.ts";
import { deadLetterClosed, findDeadLetter } from "./find-dead-letter.ts";
import type { PreparedRepetition } from "./prepare-repetition.ts";
import { prepareRerun } from "./rerun-run.ts";

export interface DeadLetterRetry {
  readonly prepared: PreparedRepetition;
  /** Throws `DEAD_LETTER_CLOSED` where somebody was faster. Rejects as `start` does; then the letter is open again. */
  begin<T>(start: () => Promise<T>): Promise<T>;
}

/** A rerun from the step that has failed. Of those who ask at the same time one gets a run. */
export async function prepareDeadLetterRetry(app: Application, id: string): Promise<DeadLetterRetry> {
  const { record, letter } = await findDeadLetter(app, id);
  if (letter.status !== "open") throw deadLetterClosed(letter);
  const { path } = letter;
  const prepared = await prepareRerun(app, { run: record.id, fromStep: path });
  const { deadLetters } = await app.service();
  return {
    prepared,
    async begin(start) {
      const note = {
        run: record.id,
        path,
        status: "retried",
        at: app.clock.now(),
        newRun: prepared.start.runId,
      } as const;
      // Noted before it begins: two runs for one failure would pay twice.
      if (!(await deadLetters.close(note))) throw deadLetterClosed((await findDeadLetter(app, id)).letter);
      try {
        return await start();
      } catch (error) {
        await deadLetters.reopen(record.id, path);
        throw error;
      }
    },
  };
}

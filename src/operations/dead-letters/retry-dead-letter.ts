import { isPawlError } from "../../core/errors/pawl-error.ts";
import type { Application } from "../application/application.ts";
import type { PreparedRepetition } from "../repeat/prepare-repetition.ts";
import { prepareRerun } from "../repeat/rerun-run.ts";
import { deadLetterClosed, findDeadLetter } from "./find-dead-letter.ts";

export interface DeadLetterRetry {
  readonly prepared: PreparedRepetition;
  /** Throws `DEAD_LETTER_CLOSED` where somebody was faster. Rejects as `start` does; then the letter is open again. */
  begin<T>(start: () => Promise<T>): Promise<T>;
}

/**
 * A rerun from the step that has failed. Of those who ask at the same time one gets a run: the retry is noted with the id of its
 * run before that begins, since two runs for one failure would pay twice. A note whose run never began counts for nothing but
 * its id, under which whoever asks next begins; of several who do the host lets one.
 */
export async function prepareDeadLetterRetry(app: Application, id: string): Promise<DeadLetterRetry> {
  const { record, letter, claimed } = await findDeadLetter(app, id);
  if (letter.status !== "open") throw deadLetterClosed(letter);
  const { path } = letter;
  const repetition = { run: record.id, fromStep: path, runId: claimed };
  const prepared = await prepareRerun(app, repetition);
  const { runId } = prepared.start;
  const { deadLetters } = await app.service();
  const closed = async () => deadLetterClosed((await findDeadLetter(app, id)).letter);
  return {
    prepared,
    async begin(start) {
      const at = app.clock.now();
      const note = { run: record.id, path, status: "retried", at, newRun: runId, isPending: true } as const;
      if (claimed === undefined && !(await deadLetters.close(note))) throw await closed();
      const begun = await start().catch(async (error: unknown) => {
        throw isPawlError(error) && error.code === "RUN_ID_TAKEN" ? await closed() : error;
      });
      await deadLetters.confirm(record.id, path);
      return begun;
    },
  };
}

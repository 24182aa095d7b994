import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Journal, RunNo, RunRecord } from "../../ports/journal.ts";

const PAGE = 50;

/** Throws `RUN_NEEDED` where another run still takes outcomes of it over, `RUN_NOT_ENDED`. */
export async function deleteRun(journal: Journal, record: RunRecord): Promise<void> {
  for (let beforeRun: RunNo | undefined; ; ) {
    const page = await journal.listRuns({ parentRunId: record.id, limit: PAGE, beforeRun });
    const unfinished = page.find(({ completedAt }) => completedAt === undefined);
    if (unfinished !== undefined) {
      throw new PawlError("RUN_NEEDED", {
        message: `The run ${unfinished.id} takes outcomes of ${record.id} over and has not ended.`,
      });
    }
    beforeRun = page.at(-1)?.no;
    if (page.length < PAGE) break;
  }
  if (await journal.deleteRun(record.no)) return;
  throw new PawlError("RUN_NOT_ENDED", { message: `The run ${record.id} has not ended: ${record.status}.` });
}

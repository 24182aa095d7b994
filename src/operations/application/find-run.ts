import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Journal, RunRecord } from "../../ports/journal.ts";
import type { Stores } from "./ports.ts";

/** A run by its id or by the beginning of it. Throws `RUN_NOT_FOUND`, `RUN_AMBIGUOUS`. */
export async function findRun(app: Pick<Stores, "records">, idOrPrefix: string): Promise<RunRecord> {
  return findRunIn((await app.records()).journal, idOrPrefix);
}

async function findRunIn(journal: Journal, idOrPrefix: string): Promise<RunRecord> {
  const record = idOrPrefix === "" ? undefined : await journal.findRun(idOrPrefix);
  if (record === "ambiguous")
    throw new PawlError("RUN_AMBIGUOUS", { message: `"${idOrPrefix}" is the beginning of more than one run's id.` });
  if (record === undefined) throw new PawlError("RUN_NOT_FOUND", { message: `There is no run "${idOrPrefix}".` });
  return record;
}

import { PawlError } from "../../core/errors/pawl-error.ts";
import { parseExact } from "../../core/exact-json.ts";
import type { Graph } from "../../core/graph/graph.ts";
import type { Stores } from "../application/ports.ts";

/** A graph that a run has pinned. */
export async function readPinnedGraph(app: Pick<Stores, "records">, hash: string): Promise<Graph> {
  const text = await (await app.records()).journal.readPinned(hash);
  if (text === undefined) throw new PawlError("JOURNAL_DAMAGED", { message: `The pinned graph ${hash} is missing.` });
  return parseExact(text) as Graph;
}

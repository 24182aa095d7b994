import type { IndexedGraph } from "../../core/graph/indexed-graph.ts";
import { rebuildRun } from "../../hosts/session/rebuild-run.ts";
import type { Journal, RunNo, RunRecord, RunSelection, RunStatus } from "../../ports/journal.ts";

export interface RetryingWanted {
  /** Without `retrying`: runs with one of these statuses count as well. */
  readonly selection: RunSelection & { readonly status: readonly RunStatus[] };
  readonly beforeRun?: RunNo;
}

const PAGE = 200;

/**
 * Runs with a step that failed and waits for its next try, newest first. Such a run is `running`: no row says that it
 * retries, for that would be a second page in the commit of every failure. So the histories of those that run now are
 * read, and of no others.
 */
export async function* listRetrying(
  journal: Journal,
  { selection, beforeRun }: RetryingWanted,
): AsyncGenerator<RunRecord> {
  const status = new Set<RunStatus>(["running", ...selection.status]);
  const graphs = new Map<string, IndexedGraph>();
  for (let before = beforeRun; ; ) {
    const page = await journal.listRuns({ ...selection, status: [...status], limit: PAGE, beforeRun: before });
    for (const record of page) {
      if (selection.status.includes(record.status) || (await isRetrying(journal, record, graphs))) yield record;
    }
    before = page.at(-1)?.no;
    if (page.length < PAGE) return;
  }
}

async function isRetrying(journal: Journal, record: RunRecord, graphs: Map<string, IndexedGraph>): Promise<boolean> {
  if (record.status !== "running") return false;
  const { state } = await rebuildRun(journal, record, graphs);
  for (const { phase } of state.active.values()) if (phase === "backoff") return true;
  return false;
}

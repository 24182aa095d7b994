import { z } from "zod";
import type { IndexedGraph } from "../../core/graph/indexed-graph.ts";
import {
  type Journal,
  RUN_STATUSES,
  type RunSelection,
  type RunStatus,
  UNFINISHED_STATUSES,
} from "../../ports/journal.ts";
import { passTurn } from "../../ports/turns.ts";
import type { Driving, Place, Stores } from "../application/ports.ts";
import type { Frozen } from "../schemas.ts";
import { isRetrying, type RunsWanted, selectStanding } from "./list-runs.ts";

const count = z.number().int();

const statuses = Object.fromEntries(RUN_STATUSES.map((status) => [status, count])) as Record<RunStatus, typeof count>;

export const runCountsSchema = z
  .object({
    total: count,
    by_status: z.object({
      ...statuses,
      retrying: count
        .nullable()
        .describe("Those of `running` with a step that failed and will be tried again. Null: too many runs to count."),
    }),
    not_driven: count.describe("Those that should go on, and no process drives them."),
    held: count.describe("Those with steps that are held until a person resumes the run."),
    asking: count.describe("Those that wait for a person somewhere, whatever else they do."),
  })
  .meta({ id: "RunCounts", description: "How many runs there are, of those that are selected." });

type RunCounts = Frozen<z.output<typeof runCountsSchema>>;

/** Statements count, whatever the number of runs; only of those that run now the histories are read, as far as they are short. */
export async function countByStatus(
  app: Place & Stores & Driving,
  wanted: Omit<RunsWanted, "status">,
): Promise<RunCounts> {
  const { journal } = await app.records();
  const {
    selection: { status: possible, ...selection },
  } = await selectStanding(app, wanted);
  const none = possible?.length === 0;
  const counted = none ? new Map<RunStatus, number>() : await journal.countRunsByStatus(selection);
  const numbers = RUN_STATUSES.map((status) => [status, counted.get(status) ?? 0] as const);
  const byStatus = Object.fromEntries(numbers) as Record<RunStatus, number>;
  const unfinished = { ...selection, status: UNFINISHED_STATUSES };
  const isDriven = none || (await app.isDriven());
  return {
    total: numbers.reduce((sum, [, number]) => sum + number, 0),
    by_status: { ...byStatus, retrying: none ? 0 : await countRetrying(journal, selection) },
    not_driven: isDriven ? 0 : await journal.countRuns({ ...unfinished, dueAt: app.clock.now() }),
    held: none ? 0 : await journal.countRuns({ ...unfinished, holdsSteps: true }),
    asking: none ? 0 : await journal.countRuns({ ...unfinished, hasApprovals: true }),
  };
}

const MAX_RUNS = 200;
/** So many are read in a tenth of a second. */
const MAX_EVENTS = 20_000;

async function countRetrying(journal: Journal, selection: RunSelection): Promise<number | null> {
  const running = await journal.listRuns({ ...selection, status: ["running"], limit: MAX_RUNS + 1 });
  const events = running.reduce((sum, { lastSeq }) => sum + lastSeq, 0);
  if (running.length > MAX_RUNS || events > MAX_EVENTS) return null;
  const graphs = new Map<string, IndexedGraph>();
  let retrying = 0;
  for (const record of running) {
    await passTurn();
    if (await isRetrying(journal, record, graphs)) retrying += 1;
  }
  return retrying;
}

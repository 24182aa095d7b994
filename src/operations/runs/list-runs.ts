import { z } from "zod";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { IndexedGraph } from "../../core/graph/indexed-graph.ts";
import { rebuildRun } from "../../hosts/session/rebuild-run.ts";
import {
  type Journal,
  type RunFilter,
  type RunNo,
  type RunRecord,
  type RunSelection,
  UNFINISHED_STATUSES,
} from "../../ports/journal.ts";
import type { Driving, Place, Ports, Stores } from "../application/ports.ts";
import { givenTimeSchema, severalOf } from "../schemas.ts";
import { summarizeRun } from "./describe/describe-run.ts";
import { findBudgetWaits, findUndriven, UNDRIVEN } from "./describe/describe-waits.ts";
import { eachRun } from "./each-event.ts";
import { type RunSummary, runStatusSchema } from "./run-schemas.ts";

/** A status of steps, and a filter of runs. Such a run is `running`. */
const RETRYING = "retrying";

export const statusOfRuns = severalOf(z.enum([...runStatusSchema.options, RETRYING])).describe(
  "Only runs with one of these; separated by commas, or given more than once. `retrying`: running, with a step that failed and will be tried again.",
);

export const selectedRuns = {
  workflow: z.string().min(1).optional().describe("Only runs of this workflow."),
  since: givenTimeSchema.optional().describe("Created then or later."),
  until: givenTimeSchema.optional().describe("Created before."),
  q: z.string().min(1).max(200).optional().describe("Stands in the workflow's name, the id or the error."),
  dialect: z.string().min(1).max(40).optional().describe("Only runs of this dialect."),
  tenant: z.string().min(1).max(200).optional().describe("Only runs of this tenant."),
  held: z.boolean().optional().describe("True: only runs with steps that are held until a person resumes the run."),
  asking: z.boolean().optional().describe("True: only runs that wait for a person somewhere, whatever else they do."),
  not_driven: z.boolean().optional().describe("True: only runs that should go on, and no process drives them."),
};

export type RunsWanted = z.output<z.ZodObject<typeof selectedRuns>> & {
  readonly status?: z.output<typeof statusOfRuns> | undefined;
};

interface Page {
  readonly limit: number;
  /** `next_cursor` of the page before: the run that it had no place for. */
  readonly cursor?: string | undefined;
  /** For clients that page by number. */
  readonly offset?: number | undefined;
}

/**
 * Newest first. The cursor names the first run of the next page, not the last of this one: who deletes what a page has shown
 * still finds the next. Throws `REQUEST_INVALID` for one that names no run.
 */
export async function listRuns(
  app: Place & Stores & Driving,
  { limit, cursor, offset, ...asked }: RunsWanted & Page,
): Promise<{ readonly items: readonly RunSummary[]; readonly next_cursor: string | null }> {
  const { journal } = await app.records();
  const wanted = await selectStanding(app, asked);
  const first = cursor === undefined ? undefined : await findFirst(journal, cursor);
  const found = await findPage(journal, wanted, {
    limit: limit + 1,
    ...(first === undefined ? {} : { beforeRun: first.no + 1 }),
    offset,
  });
  const shown = found.slice(0, limit);
  const [undriven, waits] = await Promise.all([findUndriven(app, shown), findBudgetWaits(app, shown)]);
  const items = shown.map((run) => ({
    ...summarizeRun(run),
    ...(undriven.has(run.id) ? UNDRIVEN : {}),
    ...waits.get(run.id),
  }));
  return { items, next_cursor: found[limit]?.id ?? null };
}

async function findFirst(journal: Journal, cursor: string): Promise<RunRecord> {
  const record = await journal.findRun(cursor);
  if (record !== undefined && record !== "ambiguous") return record;
  throw new PawlError("REQUEST_INVALID", {
    message: "The cursor names a run that is not there, or not any more.",
    remedy: "Begin with the first page: leave `cursor` out.",
  });
}

export async function countRuns(app: Place & Stores & Driving, asked: RunsWanted): Promise<number> {
  const { journal } = await app.records();
  const { selection, retries } = await selectStanding(app, asked);
  let count = await journal.countRuns(selection);
  if (retries) for await (const _ of listRetrying(journal, selection)) count += 1;
  return count;
}

interface Selected {
  readonly selection: RunSelection;
  /** Those that retry as well. */
  readonly retries: boolean;
}

/** What only unfinished runs can be is looked for among these, which the index of statuses finds. */
export async function selectStanding(
  app: Pick<Ports, "isDriven" | "clock">,
  { status, workflow, dialect, since, until, q, tenant, held, asking, not_driven: isNotDriven = false }: RunsWanted,
): Promise<Selected> {
  const wanted = {
    workflow,
    dialect,
    createdFrom: since,
    createdBefore: until,
    text: q,
    tenantId: tenant,
    holdsSteps: held,
    hasApprovals: asking,
  };
  const retries = status?.includes(RETRYING) === true;
  const listed = status?.filter((each) => each !== RETRYING);
  if (!isNotDriven && held !== true) return { selection: { ...wanted, status: listed }, retries };
  if (isNotDriven && (await app.isDriven())) return { selection: { ...wanted, status: [] }, retries: false };
  const unfinished = listed?.filter((each) => UNFINISHED_STATUSES.includes(each)) ?? UNFINISHED_STATUSES;
  const dueAt = isNotDriven ? app.clock.now() : undefined;
  return { selection: { ...wanted, status: unfinished, dueAt }, retries };
}

async function findPage(
  journal: Journal,
  { selection, retries }: Selected,
  page: Pick<RunFilter, "limit" | "beforeRun" | "offset">,
): Promise<readonly RunRecord[]> {
  if (!retries) return journal.listRuns({ ...selection, ...page });
  const { limit, beforeRun, offset = 0 } = page;
  const retrying: RunRecord[] = [];
  for await (const record of listRetrying(journal, selection, beforeRun)) {
    retrying.push(record);
    if (retrying.length === offset + limit) break;
  }
  // They are few, and each may stand before the page: the others are read from so many earlier on.
  const from = Math.max(0, offset - retrying.length);
  const others = await journal.listRuns({ ...selection, beforeRun, offset: from, limit: limit + retrying.length });
  const first = from === 0 ? undefined : (others[0]?.no ?? 0);
  const later = retrying.filter(({ no }) => first === undefined || no < first);
  const skipped = offset - from - (retrying.length - later.length);
  return [...others, ...later].sort((a, b) => b.no - a.no).slice(skipped, skipped + limit);
}

/**
 * Runs with a step that failed and waits for its next try, newest first. Such a run is `running`: no row says that it
 * retries, for that would be a second page in the commit of every failure. So the histories of those that run now are
 * read, and of no others.
 */
async function* listRetrying(
  journal: Journal,
  { status: listed = [], ...selection }: RunSelection,
  beforeRun?: RunNo,
): AsyncGenerator<RunRecord> {
  if (listed.includes("running")) return;
  const graphs = new Map<string, IndexedGraph>();
  for await (const record of eachRun(journal, { ...selection, status: ["running"], beforeRun }))
    if (await isRetrying(journal, record, graphs)) yield record;
}

export async function isRetrying(
  journal: Journal,
  record: RunRecord,
  graphs: Map<string, IndexedGraph>,
): Promise<boolean> {
  const { state } = await rebuildRun(journal, record, graphs);
  for (const { phase } of state.active.values()) if (phase === "backoff") return true;
  return false;
}

import { PawlError } from "../../core/errors/pawl-error.ts";
import type { IndexedGraph } from "../../core/graph/indexed-graph.ts";
import { rebuildRun } from "../../hosts/session/rebuild-run.ts";
import {
  type Journal,
  RUN_STATUSES,
  type RunFilter,
  type RunNo,
  type RunRecord,
  type RunSelection,
  type RunStatus,
  UNFINISHED_STATUSES,
} from "../../ports/journal.ts";
import { passTurn } from "../../ports/turns.ts";
import type { Driving, Place, Ports, Stores } from "../application/ports.ts";
import { summarizeRun } from "./describe/describe-run.ts";
import { findBudgetWaits, findUndriven, UNDRIVEN } from "./describe/describe-waits.ts";
import type { RunSummary } from "./run-schemas.ts";

export interface RunsWanted {
  /** `retrying` as well: those that run, and have a step that failed and waits for its next try. */
  readonly status?: readonly string[];
  readonly workflow?: string;
  readonly dialect?: string;
  readonly tenantId?: string;
  /** True: only those with steps that are held. */
  readonly holdsSteps?: boolean;
  /** True: only those that wait for a person somewhere. */
  readonly hasApprovals?: boolean;
  /** True: only those that should go on, and no process drives them. */
  readonly isNotDriven?: boolean;
  /** Milliseconds since the epoch. */
  readonly createdFrom?: number;
  readonly createdBefore?: number;
  /** Stands in the workflow's name, the id or the error. */
  readonly text?: string;
}

export interface ListRequest extends RunsWanted {
  readonly limit: number;
  /** `next_cursor` of the page before: the run that it had no place for. */
  readonly cursor?: string;
  /** For clients that page by number. */
  readonly offset?: number;
}

export interface RunList {
  readonly items: readonly RunSummary[];
  readonly next_cursor: string | null;
}

/** A status of steps, and a filter of runs. Such a run is `running`. */
const RETRYING = "retrying";

/**
 * Newest first. The cursor names the first run of the next page, not the last of this one: who deletes what a page has shown
 * still finds the next. Throws `REQUEST_INVALID` for one that names no run.
 */
export async function listRuns(
  app: Place & Stores & Driving,
  { limit, cursor, offset, ...asked }: ListRequest,
): Promise<RunList> {
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
  const wanted = await selectStanding(app, asked);
  if (!asksForRetrying(wanted)) return journal.countRuns(toSelection(wanted));
  const selection = toRetryingSelection(wanted);
  let count = await journal.countRuns(selection);
  for await (const _ of listRetrying(journal, selection)) count += 1;
  return count;
}

type Selected = Omit<RunsWanted, "isNotDriven"> & Pick<RunSelection, "dueAt">;

const UNFINISHED: ReadonlySet<string> = new Set([...UNFINISHED_STATUSES, RETRYING]);

/** What only unfinished runs can be is looked for among these, which the index of statuses finds. */
export async function selectStanding(
  app: Pick<Ports, "isDriven" | "clock">,
  { isNotDriven, ...wanted }: RunsWanted,
): Promise<Selected> {
  if (isNotDriven !== true && wanted.holdsSteps !== true) return wanted;
  if (isNotDriven === true && (await app.isDriven())) return { ...wanted, status: [] };
  const status = wanted.status?.filter((each) => UNFINISHED.has(each)) ?? UNFINISHED_STATUSES;
  return { ...wanted, status, ...(isNotDriven === true ? { dueAt: app.clock.now() } : {}) };
}

async function findPage(
  journal: Journal,
  wanted: Selected,
  page: Pick<RunFilter, "limit" | "beforeRun" | "offset">,
): Promise<readonly RunRecord[]> {
  if (!asksForRetrying(wanted)) return journal.listRuns({ ...toSelection(wanted), ...page });
  const selection = toRetryingSelection(wanted);
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

function asksForRetrying({ status = [] }: Selected): boolean {
  return status.includes(RETRYING);
}

/** Runs with one of these statuses, beside those that retry. */
type RetryingSelection = RunSelection & { readonly status: readonly RunStatus[] };

function toRetryingSelection({ status = [], ...rest }: Selected): RetryingSelection {
  return { ...rest, status: status.filter((each) => each !== RETRYING).map(toStatus) };
}

function toSelection({ status, ...rest }: Selected): RunSelection {
  return { ...rest, ...(status === undefined ? {} : { status: status.map(toStatus) }) };
}

function toStatus(text: string): RunStatus {
  if (isStatus(text)) return text;
  throw new PawlError("USAGE", {
    message: `There is no status "${text}".`,
    remedy: `Use one of ${[...RUN_STATUSES, RETRYING].join(", ")}.`,
  });
}

function isStatus(text: string): text is RunStatus {
  return RUN_STATUSES.some((status) => status === text);
}

const PAGE = 200;

/**
 * Runs with a step that failed and waits for its next try, newest first. Such a run is `running`: no row says that it
 * retries, for that would be a second page in the commit of every failure. So the histories of those that run now are
 * read, and of no others.
 */
async function* listRetrying(
  journal: Journal,
  { status: listed, ...selection }: RetryingSelection,
  beforeRun?: RunNo,
): AsyncGenerator<RunRecord> {
  if (listed.includes("running")) return;
  const graphs = new Map<string, IndexedGraph>();
  for (let before = beforeRun; ; ) {
    const page = await journal.listRuns({ ...selection, status: ["running"], limit: PAGE, beforeRun: before });
    for (const record of page) {
      await passTurn();
      if (await isRetrying(journal, record, graphs)) yield record;
    }
    before = page.at(-1)?.no;
    if (page.length < PAGE) return;
  }
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

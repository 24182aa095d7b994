import { PawlError } from "../core/errors/pawl-error.ts";
import type { RunSelection, RunStatus } from "../ports/journal.ts";
import type { Application } from "./application.ts";
import { type RunSummary, summarizeRun } from "./describe-run.ts";
import { findRun } from "./find-run.ts";

export interface RunsWanted {
  readonly status?: readonly string[];
  readonly workflow?: string;
  /** Milliseconds since the epoch. */
  readonly createdFrom?: number;
  readonly createdBefore?: number;
  /** Stands in the workflow's name, the id or the error. */
  readonly text?: string;
}

export interface ListRequest extends RunsWanted {
  readonly limit: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
  /** For clients that page by number. */
  readonly offset?: number;
}

export interface RunList {
  readonly items: readonly RunSummary[];
  readonly next_cursor: string | null;
}

const STATUSES: readonly string[] = [
  "queued",
  "running",
  "waiting",
  "awaiting_approval",
  "completed",
  "partial",
  "failed",
  "cancelled",
  "budget_exceeded",
] satisfies readonly RunStatus[];

/** Newest first. */
export async function listRuns(app: Application, { limit, cursor, offset, ...wanted }: ListRequest): Promise<RunList> {
  const { journal } = await app.records();
  const before = cursor === undefined ? undefined : await findRun(app, cursor);
  const found = await journal.listRuns({
    ...toSelection(wanted),
    limit: limit + 1,
    ...(before === undefined ? {} : { beforeRun: before.no }),
    ...(offset === undefined ? {} : { offset }),
  });
  const page = found.slice(0, limit);
  return { items: page.map(summarizeRun), next_cursor: found.length > limit ? (page.at(-1)?.id ?? null) : null };
}

export async function countRuns(app: Application, wanted: RunsWanted): Promise<number> {
  const { journal } = await app.records();
  return journal.countRuns(toSelection(wanted));
}

function toSelection({ status, ...rest }: RunsWanted): RunSelection {
  return { ...rest, ...(status === undefined ? {} : { status: status.map(toStatus) }) };
}

function toStatus(text: string): RunStatus {
  if (isStatus(text)) return text;
  throw new PawlError("USAGE", {
    message: `There is no status "${text}".`,
    remedy: `Use one of ${STATUSES.join(", ")}.`,
  });
}

function isStatus(text: string): text is RunStatus {
  return STATUSES.includes(text);
}

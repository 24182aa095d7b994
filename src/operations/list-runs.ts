import { PawlError } from "../core/errors/pawl-error.ts";
import type { RunStatus } from "../ports/journal.ts";
import type { Application } from "./application.ts";
import { type RunSummary, summarizeRun } from "./describe-run.ts";
import { findRun } from "./find-run.ts";

export interface ListRequest {
  readonly status?: readonly string[];
  readonly workflow?: string;
  readonly limit: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
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
export async function listRuns(app: Application, { status, workflow, limit, cursor }: ListRequest): Promise<RunList> {
  const { journal } = await app.records();
  const before = cursor === undefined ? undefined : await findRun(app, cursor);
  const found = await journal.listRuns({
    limit: limit + 1,
    ...(status === undefined ? {} : { status: status.map(toStatus) }),
    ...(workflow === undefined ? {} : { workflow }),
    ...(before === undefined ? {} : { beforeRun: before.no }),
  });
  const page = found.slice(0, limit);
  return { items: page.map(summarizeRun), next_cursor: found.length > limit ? (page.at(-1)?.id ?? null) : null };
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

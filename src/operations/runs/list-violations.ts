import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Policy } from "../../core/graph/policy.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import type { ViolationRecord } from "../../ports/journal.ts";
import type { Application } from "../application/application.ts";
import { findRun } from "./find-run.ts";

/** What a policy had to say about a step's output: what was found is counted, never told. */
export interface Violation {
  readonly run_id: string;
  readonly workflow_name: string;
  readonly tenant_id: string | null;
  readonly path: string;
  /** Number of the event in the run; with `run_id` it names the outcome for ever. */
  readonly seq: number;
  readonly policy: string;
  readonly action: Policy["action"];
  readonly found: { readonly [kind: string]: number };
  readonly why: string;
  readonly at: string;
}

export interface ViolationsWanted {
  /** A run's id, or the beginning of one. */
  readonly run?: string | undefined;
  readonly workflow?: string | undefined;
  readonly policy?: string | undefined;
  readonly action?: Policy["action"] | undefined;
  /** Milliseconds since the epoch: then or later, and before. */
  readonly from?: number | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string | undefined;
}

export interface ViolationList {
  readonly items: readonly Violation[];
  readonly next_cursor: string | null;
}

export const VIOLATION_CURSOR = /^\d{1,15}$/;

/** Newest first, over all runs that the caller may see. Throws `RUN_NOT_FOUND`, `REQUEST_INVALID`. */
export async function listViolations(app: Application, wanted: ViolationsWanted): Promise<ViolationList> {
  const { run, limit, cursor, ...named } = wanted;
  if (cursor !== undefined && !VIOLATION_CURSOR.test(cursor)) {
    throw new PawlError("REQUEST_INVALID", {
      message: "That is no cursor of this list.",
      remedy: "Begin with the first page: leave `cursor` out.",
    });
  }
  const given = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
  const { journal } = await app.records();
  const found = await journal.listViolations({
    ...given,
    tenantId: app.tenantId,
    limit: limit + 1,
    ...(run === undefined ? {} : { run: (await findRun(app, run)).no }),
    ...(cursor === undefined ? {} : { beforeNo: Number(cursor) }),
  });
  const items = found.slice(0, limit);
  return { items: items.map(describe), next_cursor: found.length > limit ? String(items.at(-1)?.no) : null };
}

function describe({ run, path, seq, at, decision }: ViolationRecord): Violation {
  const { policy, action, found = {}, why } = decision;
  return {
    run_id: run.id,
    workflow_name: run.workflow,
    tenant_id: run.tenantId ?? null,
    path,
    seq,
    policy,
    action,
    found,
    why,
    at: toIsoTime(at),
  };
}

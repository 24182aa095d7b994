import { toIsoTime } from "../../core/iso-time.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Journal, RunRecord, RunStatus } from "../../ports/journal.ts";

/** The run that this one repeats. */
interface Origin {
  readonly run_id: string;
  /** From where it was done again; empty: all of it. */
  readonly from_path: string;
  /** Of a fork: what it does differently. Of the input only the names. */
  readonly changes?: JsonObject;
  /** It was deleted since. */
  readonly deleted?: true;
}

/** A run that repeats this one. */
interface Repetition {
  readonly run_id: string;
  readonly kind: "rerun" | "fork";
  readonly from_path: string;
  readonly status: RunStatus;
  readonly created_at: string;
}

export interface LineageDescription {
  readonly rerun_of: Origin | null;
  readonly forked_from: Origin | null;
  /** Newest first, at most 50. */
  readonly reruns: readonly Repetition[];
}

const MAX_SHOWN = 50;

/** From which run this one comes, and which come from it. */
export async function describeLineage(journal: Journal, record: RunRecord): Promise<LineageDescription> {
  const { lineage, options } = (await readStart(journal, record)) ?? {};
  const changes = options?.["changes"] as JsonObject | undefined;
  const origin =
    lineage === undefined
      ? null
      : {
          run_id: lineage.run,
          from_path: lineage.fromPath,
          ...(lineage.kind === "fork" && changes !== undefined ? { changes } : {}),
          ...((await isThere(journal, lineage.run)) ? {} : { deleted: true as const }),
        };
  return {
    rerun_of: lineage?.kind === "rerun" ? origin : null,
    forked_from: lineage?.kind === "fork" ? origin : null,
    reruns: await listRepetitions(journal, record),
  };
}

async function listRepetitions(journal: Journal, { id }: RunRecord): Promise<readonly Repetition[]> {
  const children = await journal.listRuns({ parentRunId: id, limit: MAX_SHOWN });
  const described = await Promise.all(
    children.map(async (child): Promise<readonly Repetition[]> => {
      const lineage = (await readStart(journal, child))?.lineage;
      if (lineage === undefined) return [];
      const { status, createdAt } = child;
      const created_at = toIsoTime(createdAt);
      return [{ run_id: child.id, kind: lineage.kind, from_path: lineage.fromPath, status, created_at }];
    }),
  );
  return described.flat();
}

async function isThere(journal: Journal, run: string): Promise<boolean> {
  const record = await journal.findRun(run);
  return record !== undefined && record !== "ambiguous";
}

async function readStart(journal: Journal, { no }: RunRecord) {
  const [first] = await journal.readEvents(no, { afterSeq: 0, limit: 1 });
  return first?.event.type === "runStarted" ? first.event : undefined;
}

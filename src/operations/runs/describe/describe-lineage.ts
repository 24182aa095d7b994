import { toIsoTime } from "../../../core/iso-time.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Journal, RunRecord } from "../../../ports/journal.ts";
import { readRunStarted } from "../read-run-started.ts";
import type { LineageDescription } from "../run-schemas.ts";

type Repetition = LineageDescription["reruns"][number];

const MAX_SHOWN = 50;

export async function describeLineage(journal: Journal, record: RunRecord): Promise<LineageDescription> {
  const { lineage, options } = (await readRunStarted(journal, record)) ?? {};
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
      const lineage = (await readRunStarted(journal, child))?.lineage;
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

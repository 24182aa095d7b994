import { writeExact } from "../../../core/exact-json.ts";
import { encodeEvent } from "../../../core/history/event-codec.ts";
import type { Append, NewRun, RunNo, RunPatch } from "../../../ports/journal.ts";
import { latestOf, timeOf } from "../../append-rule.ts";
import { SEQ_RANGE, toUncertainColumn } from "../../sql/run-row.ts";
import type { SqlValue } from "../../sql/sql-database.ts";
import { toPostgresJson } from "../postgres-text.ts";

export interface BatchOwner {
  /** `null`: it drives no runs. */
  readonly id: string | null;
  epochOf(run: RunNo): number;
}

/** The parameters of `pawl_append_3`: rows as JSON, which the server reads faster than this process could write arrays. */
export function encodeBatch(entries: readonly Append[], token: string | null, owner: BatchOwner): readonly SqlValue[] {
  const created = entries.flatMap((entry) =>
    entry.create === undefined ? [] : [toCreated(entry, entry.create, owner)],
  );
  const runs = entries.flatMap(({ run, create, patch }) =>
    create === undefined && patch !== undefined ? [{ no: run, epoch: owner.epochOf(run), ...toColumns(patch) }] : [],
  );
  const events = entries.flatMap(toEvents);
  const rest = toRest(entries);
  const at = latestOf(entries);
  return [token, at, toLog(entries), owner.id, toList(created), toList(runs), toList(events), rest];
}

/** The parts of a commit, as readers of the order of all runs want them: run, last number before, how many events. */
export function toLog(entries: readonly Append[]): string {
  const parts = entries.filter(({ events }) => events.length > 0);
  return writeExact(parts.flatMap(({ run, afterSeq, events }) => [run, afterSeq, events.length]));
}

function toList(rows: readonly object[]): string | null {
  return rows.length === 0 ? null : toPostgresJson(rows);
}

function toCreated({ run, patch = {} }: Append, create: NewRun, owner: BatchOwner): object {
  // It waits in line until somebody takes it up.
  const waiting = owner.id === null && patch.status === "running" ? { status: "queued" as const } : {};
  return {
    no: run,
    id: toText(create.id),
    workflow: toText(create.workflow),
    dialect: create.dialect,
    graph: create.graph,
    definition: create.definition,
    parent: toText(create.parentRunId),
    tenant: toText(create.tenantId),
    callback: toText(create.callbackUrl),
    created: create.createdAt,
    ...toColumns({
      status: "queued",
      parked: false,
      costMicro: 0,
      uncertainMicro: 0,
      openApprovals: 0,
      storedBytes: 0,
      ...patch,
      ...waiting,
    }),
  };
}

/** A field that is not given leaves its column as it is. */
function toColumns(patch: RunPatch): object {
  const { status, parked, wakeAt, error, costMicro, uncertainMicro, openApprovals, startedAt, completedAt } = patch;
  const { storedBytes } = patch;
  return {
    status,
    parked: parked === undefined ? undefined : Number(parked),
    cost: costMicro,
    uncertain: toUncertainColumn(uncertainMicro) ?? undefined,
    approvals: openApprovals,
    bytes: storedBytes,
    started: startedAt,
    completed: completedAt,
    ...(wakeAt !== undefined && { wakes: true, wake: wakeAt }),
    ...(error !== undefined && { fails: true, error: error === null ? null : writeExact(error) }),
  };
}

function toEvents({ run, afterSeq, events }: Append): readonly object[] {
  return events.map(({ event, value }, index) => {
    const { type, path, attempt, at, costMicro, body } = encodeEvent(event);
    const id = run * SEQ_RANGE + afterSeq + index + 1;
    return {
      id,
      type,
      path: path === null ? undefined : toText(path),
      attempt: attempt ?? undefined,
      at,
      cost: costMicro ?? undefined,
      body: body ?? undefined,
      value,
    };
  });
}

function toRest(entries: readonly Append[]): string | null {
  const pins = entries.flatMap(({ pins: all = [] }) => all).map(({ hash, text }) => ({ hash, text: toText(text) }));
  const outbox = entries.flatMap((entry) =>
    (entry.outbox ?? []).map(({ kind, body }) => ({ run: entry.run, kind, body, at: timeOf(entry) })),
  );
  const violations = entries.flatMap(({ run, afterSeq, events }) =>
    events.flatMap(({ event }, index) => {
      if (!("policies" in event) || event.policies === undefined) return [];
      const { at, path, policies } = event;
      return policies.map((decision) => ({
        ...{ run, seq: afterSeq + index + 1, path: toText(path), at },
        ...{ policy: toText(decision.policy), action: decision.action, decision: writeExact(decision) },
      }));
    }),
  );
  const answers = entries.flatMap(({ answers: all = [] }) => all).map((id) => ({ id }));
  const places = entries.flatMap(({ run, patch }) => {
    if (patch?.place === undefined) return [];
    const { key, limit, whenFull, isOver } = patch.place;
    return [{ run, key, most: limit, cancels: Number(whenFull === "cancelOlder"), over: isOver }];
  });
  if (pins.length + outbox.length + violations.length + answers.length + places.length === 0) return null;
  return toPostgresJson({ pins: unique(pins), outbox, violations, answers, places });
}

/** One statement cannot insert the same row twice, and two that come in different orders would wait for each other. */
function unique<Pin extends { readonly hash: string }>(pins: readonly Pin[]): readonly Pin[] {
  const byHash = new Map(pins.toReversed().map((pin) => [pin.hash, pin]));
  return [...byHash.values()].toSorted((a, b) => (a.hash < b.hash ? -1 : 1));
}

/** JSON that the server reads knows no half of a character. */
function toText(text: string | undefined): string | undefined {
  return text === undefined || text.isWellFormed() ? text : text.toWellFormed();
}

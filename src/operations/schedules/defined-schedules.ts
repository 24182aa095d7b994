import { writeExact } from "../../core/exact-json.ts";
import type { Graph } from "../../core/graph/graph.ts";
import type { Grant } from "../../core/trust/grant.ts";
import type { ScheduleEdit, Schedules, StoredSchedule } from "../../ports/service/schedules.ts";
import type { RegisteredDefinition } from "../definitions/registry.ts";
import { deriveRunId } from "../start/derive-run-id.ts";
import { leftOut } from "./change-schedule.ts";
import { DEFAULT_SETTINGS } from "./create-schedule.ts";
import { openFireTimes, type Timetable, toNext } from "./fire-times.ts";

/** A schedule as a definition says it. */
export interface DefinedSchedule extends Timetable, Pick<StoredSchedule, "id" | "workflow" | "tenantId"> {
  readonly source: Exclude<StoredSchedule["source"], "api">;
  /** The most that one of its runs may cost; `null`: no limit. Absent: unchanged. */
  readonly maxCostMicro?: number | null;
  /** That of whoever saved the definition. Absent: it is a file of the operator. */
  readonly grant?: Grant | undefined;
}

/** When a definition says that it starts. */
export function timetableOf(graph: Graph | undefined): Timetable | undefined {
  if (graph?.schedule !== undefined) return { cron: graph.schedule.trim(), timezone: "UTC" };
  if (graph?.trigger?.kind !== "cron") return undefined;
  return { cron: graph.trigger.schedule.trim(), timezone: graph.trigger.timezone };
}

/** False: there is one of this id. */
export async function addDefined(schedules: Schedules, defined: DefinedSchedule, now: number): Promise<boolean> {
  const { id, workflow, source, cron, timezone, tenantId, maxCostMicro = null, grant } = defined;
  const next = toNext(await openFireTimes({ cron, timezone }), { id, jitterSeconds: 0, afterMs: now });
  return schedules.add({
    ...DEFAULT_SETTINGS,
    id,
    workflow,
    cron,
    timezone,
    source,
    version: 1,
    createdAt: now,
    updatedAt: now,
    ...next,
    ...(tenantId === undefined ? {} : { tenantId }),
    ...(maxCostMicro === null ? {} : { maxCostMicro }),
    ...(grant === undefined ? {} : { grant }),
  });
}

/** Undefined: it is as it should be. One that a person has paused stays paused, whatever the definition says. */
export async function toDefinedEdit(
  schedule: StoredSchedule,
  defined: DefinedSchedule | undefined,
  now: number,
): Promise<ScheduleEdit | undefined> {
  const { id, version, enabled, disabledReason, jitterSeconds } = schedule;
  if (defined === undefined) {
    if (disabledReason === "definition_removed") return undefined;
    return {
      version,
      at: now,
      changes: { enabled: false, disabledReason: "definition_removed" },
      slots: [
        ...(await leftOut(schedule, now)),
        { slot: now, kind: "change", outcome: { state: "skipped", reason: "definition_removed" }, at: now },
      ],
    };
  }
  const isBack = !enabled && disabledReason === "definition_removed";
  const hasMoved = defined.cron !== schedule.cron || defined.timezone !== schedule.timezone;
  const { maxCostMicro, grant } = defined;
  const limit = {
    ...(maxCostMicro === undefined || maxCostMicro === (schedule.maxCostMicro ?? null) ? {} : { maxCostMicro }),
    ...(writeExact(grant) === writeExact(schedule.grant) ? {} : { grant: grant ?? null }),
  };
  if (!isBack && !hasMoved) {
    return Object.keys(limit).length === 0 ? undefined : { version, at: now, changes: limit };
  }
  const next = toNext(await openFireTimes(defined), { id, jitterSeconds, afterMs: now });
  return {
    version,
    at: now,
    changes: {
      ...limit,
      cron: defined.cron,
      timezone: defined.timezone,
      nextFireAt: next.nextFireAt ?? null,
      dueAt: next.dueAt ?? null,
      ...(isBack ? { enabled: true, disabledReason: null } : {}),
    },
    slots: await leftOut(schedule, now),
  };
}

/** A schedule that somebody changes meanwhile is tried so many times. */
const MAX_TRIES = 5;

/**
 * Lets the stored schedules be what the definitions in files say. One that has changed is planned anew; one that is gone is
 * disabled, and says so; a definition that cannot be read at the moment changes nothing.
 */
export async function syncDefinitions(
  schedules: Schedules,
  definitions: readonly RegisteredDefinition[],
  now: number,
): Promise<void> {
  const unreadable = new Set(definitions.filter(({ report }) => report.definition === undefined).map(idOf));
  const defined = new Map<string, DefinedSchedule>();
  for (const definition of definitions) {
    const timetable = timetableOf(definition.report.definition?.graph);
    const id = idOf(definition);
    if (timetable === undefined || defined.has(id)) continue;
    defined.set(id, { ...timetable, id, workflow: definition.name, source: "definition" });
  }
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const stored = (await schedules.list({})).filter(({ source }) => source === "definition");
    const known = new Set(stored.map(({ id }) => id));
    for (const each of defined.values()) if (!known.has(each.id)) await addDefined(schedules, each, now);
    let hasLost = false;
    for (const schedule of stored) {
      if (unreadable.has(schedule.id) && !defined.has(schedule.id)) continue;
      const edit = await toDefinedEdit(schedule, defined.get(schedule.id), now);
      if (edit !== undefined && !(await schedules.edit(schedule.id, edit))) hasLost = true;
    }
    if (!hasLost) return;
  }
}

function idOf({ name }: RegisteredDefinition): string {
  return deriveRunId("schedule", "definition", name);
}

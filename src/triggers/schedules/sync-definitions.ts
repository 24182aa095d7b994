import type { Graph } from "../../core/graph/graph.ts";
import { leftOut } from "../../operations/change-schedule.ts";
import { deriveRunId } from "../../operations/derive-run-id.ts";
import { openFireTimes, type Timetable, toNext } from "../../operations/fire-times.ts";
import type { RegisteredDefinition } from "../../operations/registry.ts";
import type { ScheduleEdit, Schedules, StoredSchedule } from "../../ports/schedules.ts";

interface Defined extends Timetable {
  readonly id: string;
  readonly workflow: string;
}

/** Whoever changes one meanwhile is waited for so many times. */
const MAX_TRIES = 5;

/**
 * Lets the stored schedules be what the definitions say. One that has changed is planned anew; one that is gone is disabled,
 * and says so; a definition that cannot be read at the moment changes nothing.
 */
export async function syncDefinitions(
  schedules: Schedules,
  definitions: readonly RegisteredDefinition[],
  now: number,
): Promise<void> {
  const unreadable = new Set(definitions.filter(({ report }) => report.definition === undefined).map(idOf));
  const defined = new Map<string, Defined>();
  for (const definition of definitions) {
    const timetable = timetableOf(definition.report.definition?.graph);
    const id = idOf(definition);
    if (timetable !== undefined && !defined.has(id)) defined.set(id, { ...timetable, id, workflow: definition.name });
  }
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const stored = (await schedules.list({})).filter(({ source }) => source === "definition");
    const known = new Set(stored.map(({ id }) => id));
    for (const each of defined.values()) if (!known.has(each.id)) await add(schedules, each, now);
    let hasLost = false;
    for (const schedule of stored) {
      if (unreadable.has(schedule.id) && !defined.has(schedule.id)) continue;
      const edit = await toEdit(schedule, defined.get(schedule.id), now);
      if (edit !== undefined && !(await schedules.edit(schedule.id, edit))) hasLost = true;
    }
    if (!hasLost) return;
  }
}

/** When a definition says that it starts. */
export function timetableOf(graph: Graph | undefined): Timetable | undefined {
  if (graph?.schedule !== undefined) return { cron: graph.schedule.trim(), timezone: "UTC" };
  if (graph?.trigger?.kind !== "cron") return undefined;
  return { cron: graph.trigger.schedule.trim(), timezone: graph.trigger.timezone };
}

function idOf({ name }: RegisteredDefinition): string {
  return deriveRunId("schedule", "definition", name);
}

async function add(schedules: Schedules, { id, workflow, cron, timezone }: Defined, now: number): Promise<void> {
  const next = toNext(await openFireTimes({ cron, timezone }), { id, jitterSeconds: 0, afterMs: now });
  await schedules.add({
    id,
    workflow,
    cron,
    timezone,
    input: {},
    enabled: true,
    overlap: "skip",
    catchUp: "one",
    jitterSeconds: 0,
    source: "definition",
    version: 1,
    createdAt: now,
    updatedAt: now,
    ...next,
  });
}

/** Undefined: it is as it should be. One that a person has paused stays paused, whatever the definition says. */
async function toEdit(
  schedule: StoredSchedule,
  defined: Defined | undefined,
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
  if (!isBack && !hasMoved) return undefined;
  const next = toNext(await openFireTimes(defined), { id, jitterSeconds, afterMs: now });
  return {
    version,
    at: now,
    changes: {
      cron: defined.cron,
      timezone: defined.timezone,
      nextFireAt: next.nextFireAt ?? null,
      dueAt: next.dueAt ?? null,
      ...(isBack ? { enabled: true, disabledReason: null } : {}),
    },
    slots: await leftOut(schedule, now),
  };
}

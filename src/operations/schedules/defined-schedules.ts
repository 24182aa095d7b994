import { writeExact } from "../../core/exact-json.ts";
import type { CronSettings, Graph } from "../../core/graph/graph.ts";
import type { Grant } from "../../core/trust/grant.ts";
import type { ScheduleEdit, Schedules, StoredSchedule } from "../../ports/service/schedules.ts";
import type { RegisteredDefinition } from "../definitions/registry.ts";
import { deriveRunId } from "../start/derive-run-id.ts";
import { leftOut } from "./change-schedule.ts";
import { DEFAULT_SETTINGS } from "./create-schedule.ts";
import { openFireTimes, type Timetable, toNext } from "./fire-times.ts";

export interface DefinedSchedule extends DefinedTimetable, Pick<StoredSchedule, "id" | "workflow" | "tenantId"> {
  readonly source: Exclude<StoredSchedule["source"], "api">;
  /** The most that one of its runs may cost; `null`: no limit. Absent: unchanged. */
  readonly maxCostMicro?: number | null;
  /** That of whoever saved the definition. Absent: it is a file of the operator. */
  readonly grant?: Grant | undefined;
}

interface DefinedTimetable extends Timetable {
  readonly says?: CronSettings | undefined;
}

/** When a definition says that it starts. `part` tells its timetables apart: by name, or by their number from the second one on. */
export function timetablesOf(
  graph: Graph | undefined,
): readonly (DefinedTimetable & { readonly name?: string | undefined; readonly part: readonly string[] })[] {
  const said = graph?.schedule === undefined ? [] : [{ schedule: graph.schedule, timezone: "UTC" }];
  const triggers = graph?.triggers?.filter((trigger) => trigger.kind === "cron") ?? [];
  return [...said, ...triggers].map(({ schedule, ...rest }, index) => {
    const name = "name" in rest ? rest.name : undefined;
    const part = name ?? (index === 0 ? undefined : String(index));
    return { ...rest, cron: schedule.trim(), part: part === undefined ? [] : [part] };
  });
}

/** The schedule of a timetable that a definition says. */
export function idOfDefined(
  { source, workflow, tenantId }: Pick<StoredSchedule, "source" | "workflow" | "tenantId">,
  part: readonly string[],
): string {
  const owner = source === "saved" ? [tenantId ?? ""] : [];
  return deriveRunId("schedule", source, ...owner, workflow, ...part);
}

/** False: there is one of this id. */
async function addDefined(schedules: Schedules, defined: DefinedSchedule, now: number): Promise<boolean> {
  const { id, workflow, source, cron, timezone, tenantId, says, maxCostMicro = null, grant } = defined;
  const next = toNext(await openFireTimes({ cron, timezone }), { id, jitterSeconds: 0, afterMs: now });
  return schedules.add({
    ...DEFAULT_SETTINGS,
    ...says,
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
    ...(says === undefined ? {} : { says }),
  });
}

/** Undefined: it is as it should be. One that a person has paused stays paused, whatever the definition says. */
async function toDefinedEdit(
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
  const { maxCostMicro, grant, says } = defined;
  const others = {
    ...(maxCostMicro === undefined || maxCostMicro === (schedule.maxCostMicro ?? null) ? {} : { maxCostMicro }),
    ...(writeExact(grant) === writeExact(schedule.grant) ? {} : { grant: grant ?? null }),
    ...(writeExact(says) === writeExact(schedule.says)
      ? {}
      : { ...noLongerSaid(schedule), ...says, says: says ?? null }),
  };
  if (!isBack && !hasMoved) return Object.keys(others).length === 0 ? undefined : { version, at: now, changes: others };
  const next = toNext(await openFireTimes(defined), { id, jitterSeconds, afterMs: now });
  return {
    version,
    at: now,
    changes: {
      ...others,
      cron: defined.cron,
      timezone: defined.timezone,
      nextFireAt: next.nextFireAt ?? null,
      dueAt: next.dueAt ?? null,
      ...(isBack ? { enabled: true, disabledReason: null } : {}),
    },
    slots: await leftOut(schedule, now),
  };
}

function noLongerSaid({ says = {} }: StoredSchedule): CronSettings {
  return Object.fromEntries(Object.entries(DEFAULT_SETTINGS).filter(([setting]) => Object.hasOwn(says, setting)));
}

/** Lets schedules be what definitions say. False: somebody else has changed one of them meanwhile. */
export async function followDefinitions(
  schedules: Schedules,
  stored: readonly StoredSchedule[],
  defined: ReadonlyMap<string, DefinedSchedule>,
  now: number,
): Promise<boolean> {
  const known = new Set(stored.map(({ id }) => id));
  let hasAll = true;
  for (const each of defined.values())
    if (!known.has(each.id) && !(await addDefined(schedules, each, now))) hasAll = false;
  for (const schedule of stored) {
    const edit = await toDefinedEdit(schedule, defined.get(schedule.id), now);
    if (edit !== undefined && !(await schedules.edit(schedule.id, edit))) hasAll = false;
  }
  return hasAll;
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
  const unreadable = new Set(
    definitions.filter(({ report }) => report.definition === undefined).map(({ name }) => name),
  );
  const defined = new Map<string, DefinedSchedule>();
  for (const definition of definitions) {
    for (const { part, ...timetable } of timetablesOf(definition.report.definition?.graph)) {
      const of = { workflow: definition.name, source: "definition" } as const;
      const id = idOfDefined(of, part);
      if (!defined.has(id)) defined.set(id, { ...timetable, ...of, id });
    }
  }
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const stored = (await schedules.list({})).filter(
      ({ id, source, workflow }) => source === "definition" && (defined.has(id) || !unreadable.has(workflow)),
    );
    if (await followDefinitions(schedules, stored, defined, now)) return;
  }
}

import type { RegisteredDefinition } from "../../operations/definitions/registry.ts";
import {
  addDefined,
  type DefinedSchedule,
  timetableOf,
  toDefinedEdit,
} from "../../operations/schedules/defined-schedules.ts";
import { deriveRunId } from "../../operations/start/derive-run-id.ts";
import type { Schedules } from "../../ports/service/schedules.ts";

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

import { PawlError } from "../core/errors/pawl-error.ts";
import type { Graph } from "../core/graph/graph.ts";
import type { DefinitionKey, StoredDefinition } from "../ports/workflow-definitions.ts";
import type { Application } from "./application.ts";
import { addDefined, type DefinedSchedule, timetableOf, toDefinedEdit } from "./defined-schedules.ts";
import { deriveRunId } from "./derive-run-id.ts";
import { reportOnSaved } from "./saved-definitions.ts";

type SavedApplication = Pick<Application, "service" | "clock" | "config" | "compiledTexts" | "maxRunCostMicro">;

type Says = Pick<DefinedSchedule, "cron" | "timezone" | "maxCostMicro">;

/** Somebody else may be faster so many times in a row. */
const MAX_TRIES = 5;

/**
 * Lets the schedule of a saved definition be what its newest version says: for the tenant that has saved it, and within what
 * whoever saved it may spend on a run. Throws `SCHEDULE_CONFLICT`.
 */
export async function armSaved(app: SavedApplication, saved: StoredDefinition, graph: Graph): Promise<void> {
  const timetable = timetableOf(graph);
  const says = timetable && { ...timetable, maxCostMicro: app.maxRunCostMicro ?? null };
  await settle(app, saved, async (newest) =>
    // Whoever has saved another one since, or removed it, sees to its schedule.
    newest?.version === saved.version && newest.text === saved.text ? { says } : "leave",
  );
}

/** The definition has been removed: its schedule is disabled, and says so. Throws `SCHEDULE_CONFLICT`. */
export async function disarmSaved(app: SavedApplication, key: DefinitionKey): Promise<void> {
  await settle(app, key, async (newest) => (newest === undefined ? {} : "leave"));
}

/**
 * For who begins to fire: whoever saved or removed a definition may have died before its schedule followed. None is added,
 * for nobody knows any more what it may spend; saving the same text again does.
 */
export async function syncSaved(app: SavedApplication): Promise<void> {
  const { schedules } = await app.service();
  for (const { source, workflow, tenantId } of await schedules.list({})) {
    if (source !== "saved") continue;
    await settle(app, { name: workflow, ...(tenantId === undefined ? {} : { tenantId }) }, async (newest) => {
      if (newest === undefined) return {};
      const { definition } = await reportOnSaved(app, newest);
      return definition === undefined ? "leave" : { says: timetableOf(definition.graph) };
    });
  }
}

async function settle(
  app: SavedApplication,
  { name, tenantId }: DefinitionKey,
  decide: (newest: StoredDefinition | undefined) => Promise<{ readonly says?: Says | undefined } | "leave">,
): Promise<void> {
  const { definitions, schedules } = await app.service();
  const owner = tenantId === undefined ? {} : { tenantId };
  const id = deriveRunId("schedule", "saved", tenantId ?? "", name);
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const schedule = await schedules.find(id);
    // Read after the schedule, so that an edit which succeeds is of what was newest then.
    const decided = await decide(await definitions.find({ ...owner, name }));
    if (decided === "leave") return;
    const { says } = decided;
    const defined: DefinedSchedule | undefined = says && { ...says, ...owner, id, workflow: name, source: "saved" };
    if (schedule === undefined) {
      if (defined === undefined || (await addDefined(schedules, defined, app.clock.now()))) return;
      continue;
    }
    const edit = await toDefinedEdit(schedule, defined, app.clock.now());
    if (edit === undefined || (await schedules.edit(id, edit))) return;
  }
  throw new PawlError("SCHEDULE_CONFLICT", { message: `The schedule of "${name}" is being changed by somebody else.` });
}

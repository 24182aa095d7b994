import { PawlError } from "../../core/errors/pawl-error.ts";
import { awaitedEvents } from "../../core/graph/event-match.ts";
import type { Graph } from "../../core/graph/graph.ts";
import type { DefinitionKey, StartsBy, StoredDefinition } from "../../ports/service/workflow-definitions.ts";
import type { Ports } from "../application/ports.ts";
import { reportOnSaved } from "../definitions/saved-definitions.ts";
import { type DefinedSchedule, followDefinitions, idOfDefined, timetablesOf } from "./defined-schedules.ts";

type SavedApplication = Pick<Ports, "service" | "clock" | "config" | "compiledTexts">;

/** Somebody else may be faster so many times in a row. */
const MAX_TRIES = 5;

/** Lets the schedules of a saved definition be what its newest version says. Throws `SCHEDULE_CONFLICT`. */
export async function armSaved(app: SavedApplication, saved: StoredDefinition, graph: Graph): Promise<void> {
  await settle(app, saved, async (newest) =>
    // A newer version, or the removal, has brought its own schedules up to date.
    newest?.version === saved.version && newest.text === saved.text ? timetablesOf(graph) : "leave",
  );
}

/** The definition has been removed: its schedule is disabled, and says so. Throws `SCHEDULE_CONFLICT`. */
export async function disarmSaved(app: SavedApplication, key: DefinitionKey): Promise<void> {
  await settle(app, key, async (newest) => (newest === undefined ? [] : "leave"));
}

/**
 * For who begins to fire: whoever saved or removed a definition may have died before its schedule followed, and an older
 * version of the program may not have looked at what starts it. What cannot be compiled now is left as it is.
 */
export async function syncSaved(app: SavedApplication): Promise<void> {
  const { definitions, schedules } = await app.service();
  for (const stored of await definitions.listTimed()) {
    const { definition } = await reportOnSaved(app, stored);
    if (definition === undefined) continue;
    await armSaved(app, stored, definition.graph);
    if (stored.startsBy === undefined)
      await definitions.markStart({ ...stored, startsBy: startsByOf(definition.graph) });
  }
  for (const { source, workflow, tenantId } of await schedules.list({})) {
    if (source !== "saved") continue;
    await settle(app, { name: workflow, tenantId }, async (newest) =>
      newest === undefined || !isTimed(newest) ? [] : "leave",
    );
  }
}

/** The triggers of a definition, to be stored beside its text. */
export function startsByOf(graph: Graph): StartsBy {
  const kinds = new Set<Exclude<StartsBy, "several" | "nothing">>(graph.triggers?.map(({ kind }) => kind));
  if (timetablesOf(graph).length > 0) kinds.add("cron");
  if (awaitedEvents(graph.flow).length > 0) kinds.add("event");
  const [kind = "nothing", ...others] = kinds;
  return others.length === 0 ? kind : "several";
}

function isTimed({ startsBy }: StoredDefinition): boolean {
  return startsBy === undefined || startsBy === "cron" || startsBy === "several";
}

async function settle(
  app: SavedApplication,
  { name, tenantId }: DefinitionKey,
  decide: (newest: StoredDefinition | undefined) => Promise<ReturnType<typeof timetablesOf> | "leave">,
): Promise<void> {
  const { definitions, schedules } = await app.service();
  const owner = tenantId === undefined ? {} : { tenantId };
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const all = await schedules.list({ ...owner, workflow: name });
    const stored = all.filter((each) => each.source === "saved" && each.tenantId === tenantId);
    // Read after the schedules, so that an edit which succeeds is of what was newest then.
    const newest = await definitions.find({ ...owner, name });
    const says = await decide(newest);
    if (says === "leave") return;
    const maxCostMicro = newest?.maxCostMicro ?? null;
    const defined = says.map(({ part, ...timetable }): DefinedSchedule => {
      const of = { ...owner, workflow: name, source: "saved" } as const;
      return { ...timetable, ...of, id: idOfDefined(of, part), maxCostMicro, grant: newest?.grant };
    });
    const byId = new Map(defined.map((each) => [each.id, each]));
    if (await followDefinitions(schedules, stored, byId, app.clock.now())) return;
  }
  throw new PawlError("SCHEDULE_CONFLICT", {
    message: `The schedule of "${name}" is being changed by another process.`,
  });
}

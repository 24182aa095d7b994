import type { ServedRoute } from "../operations/application/application.ts";
import type { DefinitionLibrary } from "../operations/definitions/definition-library.ts";
import { timetableOf } from "../operations/schedules/defined-schedules.ts";
import type { TriggerTable } from "../operations/triggers/trigger-table.ts";

/** Paths that definitions answer at. */
export function listRoutes(table: TriggerTable | undefined): readonly ServedRoute[] {
  const routes = table?.routes.list() ?? [];
  return routes.map(({ method, pattern, target }) => ({
    method,
    path: pattern.written,
    workflow: target.definition.graph.name,
    file: target.shownAs,
  }));
}

/** What else starts runs, for people. */
export function listTriggers(library: DefinitionLibrary, table: TriggerTable | undefined): readonly string[] {
  const { queues = new Map<string, unknown>(), events = new Map<string, unknown>() } = table ?? {};
  return [
    ...library.list().flatMap(({ name, report }) => {
      const timetable = timetableOf(report.definition?.graph);
      return timetable === undefined ? [] : [`cron ${timetable.cron} (${timetable.timezone}) -> ${name}`];
    }),
    ...[...queues.keys()].map((name) => `queue ${name}: POST /queues/${encodeURIComponent(name)}/messages`),
    ...[...events.keys()].map((name) => `event ${name}: POST /triggers/${encodeURIComponent(name)}`),
  ];
}

import { basename, relative } from "node:path";
import { missingAgentsFile } from "../../operations/agents/missing-agents-file.ts";
import type { Place, Ports, ServedRoute } from "../../operations/application/ports.ts";
import type { DefinitionLibrary, LibraryChange } from "../../operations/definitions/definition-library.ts";
import { timetablesOf } from "../../operations/schedules/defined-schedules.ts";
import { findUnready } from "../../operations/start/preflight.ts";
import type { TriggerTable } from "../../operations/triggers/trigger-table.ts";
import type { Log } from "../../ports/log.ts";

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

/** Lists the other triggers for people. */
export function listTriggers(library: DefinitionLibrary, table: TriggerTable | undefined): readonly string[] {
  const { queues = new Map<string, unknown>(), events = queues, awaited = queues } = table ?? {};
  return [
    ...library
      .list()
      .flatMap(({ name, report }) =>
        timetablesOf(report.definition?.graph).map(({ cron, timezone }) => `cron ${cron} (${timezone}) -> ${name}`),
      ),
    ...[...queues.keys()].map((name) => `queue ${name}: POST /queues/${encodeURIComponent(name)}/messages`),
    ...[...events.keys()].map((name) => `event ${name}: POST /triggers/${encodeURIComponent(name)}`),
    ...[...awaited.keys()].map((name) => `event that runs wait for: POST /triggers/${encodeURIComponent(name)}`),
  ];
}

/** Logs the problems of definitions that cannot be served, and what is doubtful in the others. */
export function tellProblems(log: Log, appDir: string, { broken, warnings }: LibraryChange): void {
  for (const { rendered } of warnings) log.write("warn", rendered);
  for (const { file, problems, hasGoodVersion } of broken) {
    for (const { rendered } of problems) log.write("warn", rendered);
    const rest = hasGoodVersion ? "its last good version stays in use" : "it is not served";
    log.write("warn", `${relative(appDir, file) || basename(file)} has problems: ${rest}.`);
  }
}

/** Logs what keeps workflows from being answered: their runs are refused. No server is connected for it. */
export async function tellUnready(log: Log, app: Ports, library: DefinitionLibrary): Promise<void> {
  for (const { file, report } of library.list()) {
    const { definition } = report;
    for (const { rendered } of definition === undefined ? [] : await findUnready(app, { definition, file }, 0))
      log.write("warn", rendered);
  }
}

/** The host serves all the same: the file may come later. */
export function tellMissing(log: Log, app: Place): void {
  const missing = missingAgentsFile(app);
  if (missing !== undefined) log.write("warn", `${missing.code} ${missing.message} ${missing.remedy}`);
}

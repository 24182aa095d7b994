import { relative } from "node:path";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { StoredDefinition } from "../../ports/workflow-definitions.ts";
import type { WorkflowsApplication } from "../application/workflows-application.ts";
import { type DefinitionReport, describeProblem } from "../definitions/compile-text.ts";
import { loadOptionsOf } from "../definitions/load-options.ts";
import { listRegistered, type RegisteredDefinition } from "../definitions/registry.ts";
import { reportOnArmed } from "./report-on-armed.ts";
import { listSaved } from "./saved-definitions.ts";

/** A workflow that can be asked for by its name, or could be if it were valid. */
export interface WorkflowSummary {
  readonly name: string;
  readonly source: "file" | "saved";
  /** Relative to the application. */
  readonly file: string | null;
  /** The newest, of one that was saved through the service. */
  readonly version: number | null;
  readonly dialect: string | null;
  readonly description: string | null;
  readonly valid: boolean;
  /** Warnings too. */
  readonly problems: readonly JsonObject[];
  readonly input_schema: JsonObject | null;
}

/** Files of the application and what was saved through the service, by name. */
export async function listWorkflows(app: WorkflowsApplication): Promise<readonly WorkflowSummary[]> {
  const { appDir, library, config } = app;
  const loading = loadOptionsOf(config);
  const [registered, saved] = await Promise.all([listRegistered({ appDir, library, ...loading }), listSaved(app)]);
  const reports = await reportOnArmed(app, saved);
  const stored = saved.map((each, index) => summarizeStored(each, reports[index] ?? { problems: [] }));
  const all = [...registered.map((each) => summarizeRegistered(each, appDir)), ...stored];
  return all.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** A page of them. The cursor is the place of the last one, so that the next page is right whatever comes meanwhile. */
export async function pageWorkflows(
  app: WorkflowsApplication,
  { limit, cursor, offset = 0 }: { readonly limit: number; readonly cursor?: string; readonly offset?: number },
): Promise<{
  readonly items: readonly WorkflowSummary[];
  readonly next_cursor: string | null;
  readonly total: number;
}> {
  const all = await listWorkflows(app);
  const rest = all.filter((each) => cursor === undefined || keyOf(each) > cursor).slice(offset);
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  return { items, next_cursor: rest.length > limit && last !== undefined ? keyOf(last) : null, total: all.length };
}

export function summarizeRegistered({ name, file, report }: RegisteredDefinition, appDir: string): WorkflowSummary {
  return { name, source: "file", file: relative(appDir, file), version: null, ...summarizeReport(report) };
}

export function summarizeStored({ name, version }: StoredDefinition, report: DefinitionReport): WorkflowSummary {
  return { name, source: "saved", file: null, version, ...summarizeReport(report) };
}

function summarizeReport({ definition, problems }: DefinitionReport) {
  const { graph } = definition ?? {};
  const { schema } = graph?.input ?? {};
  return {
    dialect: graph?.dialect ?? null,
    description: graph?.description ?? null,
    valid: graph !== undefined,
    problems: problems.map(describeProblem),
    input_schema: schema !== undefined && isJsonObject(schema) ? schema : null,
  };
}

/** Names may be taken twice, by two files or by a file and somebody who has saved one. */
function keyOf({ name, file }: WorkflowSummary): string {
  return `${name}\n${file ?? ""}`;
}

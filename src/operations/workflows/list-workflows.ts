import { relative } from "node:path";
import { collectInputFields } from "../../core/graph/indexed-graph.ts";
import { isJsonObject } from "../../core/json.ts";
import type { StoredDefinition } from "../../ports/service/workflow-definitions.ts";
import type { SavedWorkflow } from "../../ports/terminals/workflow-library.ts";
import type { DefinitionPorts } from "../application/ports.ts";
import type { DefinitionReport } from "../definitions/compile/report-on-text.ts";
import { describeProblem } from "../definitions/describe-problem.ts";
import { registryOf } from "../definitions/load-options.ts";
import { listRegistered, type RegisteredDefinition } from "../definitions/registry.ts";
import { listSaved } from "../definitions/saved-definitions.ts";
import type { WorkflowSummary } from "../definitions/workflow-schemas.ts";
import { reportOnArmed } from "./report-on-armed.ts";
import { listKept } from "./terminal-library.ts";

/** Files of the application, what terminals have kept and what was saved through the service, by name. */
export async function listWorkflows(app: DefinitionPorts): Promise<readonly WorkflowSummary[]> {
  const { appDir } = app;
  const [registered, saved, kept] = await Promise.all([listRegistered(registryOf(app)), listSaved(app), listKept(app)]);
  const reports = await reportOnArmed(app, saved);
  const stored = saved.map((each, index) => summarizeStored(each, reports[index] ?? { problems: [] }));
  const files = registered.map((each) => {
    const summary = summarizeRegistered(each, appDir);
    const found = kept.get(summary.file ?? "");
    return found === undefined ? summary : summarizeKept(found, summary);
  });
  return [...files, ...stored].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
}

export function summarizeRegistered({ name, file, report }: RegisteredDefinition, appDir: string): WorkflowSummary {
  return { name, source: "file", file: relative(appDir, file), version: null, ...summarizeReport(report) };
}

/** The library's own words go before those of the definition, which may be damaged. */
export function summarizeKept(
  { name, description, created, successCount }: SavedWorkflow,
  rest: Omit<WorkflowSummary, "name" | "source">,
): WorkflowSummary {
  return { ...rest, name, description, source: "terminal library", created, success_count: successCount };
}

export function summarizeStored({ name, version }: StoredDefinition, report: DefinitionReport): WorkflowSummary {
  return { name, source: "saved", file: null, version, ...summarizeReport(report) };
}

/** More than a form can show. */
const MOST_FIELDS = 100;

export function summarizeReport({ definition, problems }: DefinitionReport) {
  const { graph } = definition ?? {};
  const { schema } = graph?.input ?? {};
  return {
    dialect: graph?.dialect ?? null,
    description: graph?.description ?? null,
    valid: graph !== undefined,
    problems: problems.map(describeProblem),
    input_schema: schema !== undefined && isJsonObject(schema) ? schema : null,
    ...(graph === undefined ? {} : { input_fields: [...collectInputFields(graph)].slice(0, MOST_FIELDS) }),
  };
}

/** The place in the list. Names may be taken twice, by two files or by a file and somebody who has saved one. */
export function keyOf({ name, file }: WorkflowSummary): string {
  return `${name}\n${file ?? ""}`;
}

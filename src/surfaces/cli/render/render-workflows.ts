import type { WorkflowSummary } from "../../../operations/workflows/list-workflows.ts";
import type { PageOptions } from "./page-options.ts";
import { sanitize } from "./sanitize.ts";
import type { Segment } from "./segment.ts";
import { renderTable } from "./table.ts";

/** The first table of `pawl workflows ls`: what can be run by its name. */
export function renderWorkflows(workflows: readonly WorkflowSummary[], { paint, width }: PageOptions): string {
  const columns = ["NAME", "FROM", "FORMAT", "DESCRIPTION"].map((title) => ({ title }));
  const rows = workflows.map((workflow): Segment[] => [
    { text: sanitize(workflow.name) },
    { text: sanitize(workflow.file ?? `saved, version ${workflow.version}`) },
    { text: workflow.dialect ?? "not valid" },
    { text: sanitize(workflow.description ?? "") },
  ]);
  return renderTable(columns, rows, { paint, width });
}

import type { SavedWorkflowSummary } from "../../../operations/workflows/list-saved-workflows.ts";
import { formatTime } from "./format-time.ts";
import type { PageOptions } from "./page-options.ts";
import { sanitize } from "./sanitize.ts";
import type { Segment } from "./segment.ts";
import { renderTable } from "./table.ts";

/** The table of `pawl workflows ls`. */
export function renderSavedWorkflows(
  workflows: readonly SavedWorkflowSummary[],
  { paint, now, width }: PageOptions,
): string {
  if (workflows.length === 0) return "No workflow is saved. Those that `run_workflow` has run with success are.";
  const columns = [
    { title: "NAME" },
    { title: "SUCCESSES", align: "right" } as const,
    { title: "SAVED" },
    { title: "DESCRIPTION" },
  ];
  const rows = workflows.map(({ name, description, created, success_count: successes }): Segment[] => {
    const at = Date.parse(created);
    return [
      { text: sanitize(name) },
      { text: String(successes) },
      { text: Number.isNaN(at) ? "" : formatTime(at, now) },
      { text: sanitize(description) },
    ];
  });
  return renderTable(columns, rows, { paint, width });
}

import type { Table } from "../../../../operations/operation.ts";
import type { WorkflowSummary } from "../../../../operations/workflows/workflow-schemas.ts";
import type { PageOptions } from "../text/page-options.ts";
import { renderList } from "./render-list.ts";

const NAMED: Table<WorkflowSummary> = {
  empty: "",
  columns: ({ name, file, version, dialect, description }) => ({
    NAME: name,
    FROM: file ?? `saved, version ${version}`,
    FORMAT: dialect ?? "not valid",
    DESCRIPTION: description,
  }),
};

const KEPT: Table<WorkflowSummary> = {
  empty: "No workflow is saved. Those that `run_workflow` has run with success are.",
  right: ["SUCCESSES"],
  columns: ({ name, success_count: successes = 0, created = "", description }) => ({
    NAME: name,
    SUCCESSES: successes,
    SAVED: { time: Number.isNaN(Date.parse(created)) ? null : created },
    DESCRIPTION: description,
  }),
};

/** The tables of `pawl workflows ls`: what can be run by its name, and the library of terminal workflows. */
export function renderWorkflows(
  { items }: { readonly items: readonly WorkflowSummary[] },
  options: PageOptions,
): string {
  const named = items.filter(({ source }) => source !== "terminal library");
  const kept = items.filter(({ source }) => source === "terminal library");
  const library = renderList(KEPT, kept, options);
  return named.length === 0 ? library : `${renderList(NAMED, named, options)}\n\n${library}`;
}

import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Graph } from "../../core/graph/graph.ts";
import type { StoredDefinition } from "../../ports/workflow-definitions.ts";
import type { Application } from "../application/application.ts";
import type { WorkflowsApplication } from "../application/workflows-application.ts";
import { explainGraph, type GraphExplanation } from "../definitions/explain-graph.ts";
import { findNamed } from "../definitions/find-named.ts";
import { loadOptionsOf } from "../definitions/load-options.ts";
import { readTextFile } from "../definitions/read-text-file.ts";
import { summarizeRegistered, summarizeStored, type WorkflowSummary } from "./list-workflows.ts";
import { reportOnArmed } from "./report-on-armed.ts";
import { findSaved } from "./saved-definitions.ts";

export interface WorkflowDescription extends WorkflowSummary {
  /** The definition as it is written, without secrets. */
  readonly text: string;
  readonly graph: GraphExplanation | null;
}

/** A workflow by its name. Throws `WORKFLOW_NOT_FOUND`, `NAME_TAKEN_TWICE`. */
export async function showWorkflow(
  app: WorkflowsApplication & Pick<Application, "mask">,
  name: string,
  version?: number,
): Promise<WorkflowDescription> {
  const { appDir, library, config } = app;
  const loading = loadOptionsOf(config);
  const places = { appDir, library, ...loading, findSaved: (wanted: string) => findSaved(app, wanted, version) };
  const named = await findNamed(places, name);
  if (named === undefined || (named.in === "file" && version !== undefined)) throw workflowUnknown(name, version);
  if (named.in === "file") {
    const { registered } = named;
    const { definition } = registered.report;
    const text = definition?.text ?? (await readTextFile(registered.file));
    const summary = summarizeRegistered(registered, appDir);
    return { ...summary, text: app.mask(text), graph: explain(definition?.graph) };
  }
  return describeStored(app, named.stored);
}

async function describeStored(
  app: WorkflowsApplication & Pick<Application, "mask">,
  stored: StoredDefinition,
): Promise<WorkflowDescription> {
  const [report = { problems: [] }] = await reportOnArmed(app, [stored]);
  const graph = explain(report.definition?.graph);
  return { ...summarizeStored(stored, report), text: app.mask(stored.text), graph };
}

function explain(graph: Graph | undefined): GraphExplanation | null {
  return graph === undefined ? null : explainGraph(graph);
}

export function workflowUnknown(name: string, version?: number): PawlError {
  return new PawlError("WORKFLOW_NOT_FOUND", {
    message: `There is no workflow "${name}"${version === undefined ? "" : ` with a version ${version}`}.`,
  });
}

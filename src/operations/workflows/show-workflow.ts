import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Graph } from "../../core/graph/graph.ts";
import { EVERYTHING } from "../../core/trust/grant.ts";
import type { SavedWorkflow } from "../../ports/terminals/workflow-library.ts";
import type { DefinitionPorts, Place } from "../application/ports.ts";
import { reportOnSent } from "../definitions/compile/report-on-sent.ts";
import { explainGraph } from "../definitions/explain/explain-graph.ts";
import type { GraphExplanation } from "../definitions/explain/graph-schemas.ts";
import { findNamed } from "../definitions/find-named.ts";
import { loadOptionsOf, registryOf } from "../definitions/load-options.ts";
import { readTextFile } from "../definitions/read-text-file.ts";
import { findSaved } from "../definitions/saved-definitions.ts";
import type { WorkflowDescription } from "../definitions/workflow-schemas.ts";
import { summarizeKept, summarizeRegistered, summarizeReport, summarizeStored } from "./list-workflows.ts";
import { reportOnArmed } from "./report-on-armed.ts";
import { findKept, readKept } from "./terminal-library.ts";

type ShowingApplication = DefinitionPorts & Pick<Place, "mask">;

/** A workflow by its name. Throws `WORKFLOW_NOT_FOUND`, `NAME_TAKEN_TWICE`, `LIBRARY_DAMAGED`. */
export async function showWorkflow(
  app: ShowingApplication,
  name: string,
  version?: number,
): Promise<WorkflowDescription> {
  const kept = version === undefined ? await findKept(app, name) : undefined;
  if (kept !== undefined) return describeKept(app, kept);
  const places = { ...registryOf(app), findSaved: (wanted: string) => findSaved(app, wanted, version) };
  const named = await findNamed(places, name);
  if (named === undefined || (named.in === "file" && version !== undefined)) throw workflowUnknown(name, version);
  if (named.in === "file") {
    const { registered } = named;
    const { definition } = registered.report;
    const text = definition?.text ?? (await readTextFile(registered.file));
    const summary = summarizeRegistered(registered, app.appDir);
    return { ...summary, ...masked(app, text), graph: explain(definition?.graph) };
  }
  const { stored } = named;
  const [report = { problems: [] }] = await reportOnArmed(app, [stored]);
  const graph = explain(report.definition?.graph);
  return { ...summarizeStored(stored, report), ...masked(app, stored.text), graph };
}

async function describeKept(app: ShowingApplication, kept: SavedWorkflow): Promise<WorkflowDescription> {
  const text = await readKept(app, kept.name);
  const report = await reportOnSent(text, { grant: EVERYTHING, folders: [], ...loadOptionsOf(app.config) });
  const summary = summarizeKept(kept, { file: null, version: null, ...summarizeReport(report) });
  return { ...summary, ...masked(app, text), graph: explain(report.definition?.graph) };
}

function masked({ mask }: Pick<Place, "mask">, written: string): Pick<WorkflowDescription, "text" | "masked"> {
  const text = mask(written);
  return text === written ? { text } : { text, masked: true };
}

function explain(graph: Graph | undefined): GraphExplanation | null {
  return graph === undefined ? null : explainGraph(graph);
}

export function workflowUnknown(name: string, version?: number): PawlError {
  return new PawlError("WORKFLOW_NOT_FOUND", {
    message: `There is no workflow "${name}"${version === undefined ? "" : ` with a version ${version}`}.`,
  });
}

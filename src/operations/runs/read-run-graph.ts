import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Graph } from "../../core/graph/graph.ts";
import type { Application } from "../application/application.ts";
import { readPinnedGraph } from "../repeat/read-pinned-graph.ts";
import { findRun } from "./find-run.ts";
import { readRunEvents } from "./read-run-events.ts";

/**
 * The graph that a run goes by, or one that it has called, by its hash. Throws `RUN_NOT_FOUND`, `WORKFLOW_NOT_FOUND` for
 * what the run has not called: whoever sees the run sees no graphs of others.
 */
export async function readRunGraph(app: Application, idOrPrefix: string, called?: string): Promise<Graph> {
  const record = await findRun(app, idOrPrefix);
  if (called === undefined || called === record.graph) return readPinnedGraph(app, record.graph);
  for await (const { event } of readRunEvents(app, record.id))
    if (event.type === "callResolved" && event.graph === called) return readPinnedGraph(app, called);
  throw new PawlError("WORKFLOW_NOT_FOUND", {
    message: `The run ${record.id} has called no graph ${called}.`,
    remedy: "Take the hash from a `callResolved` event of the run.",
  });
}

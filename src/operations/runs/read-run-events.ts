import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Graph } from "../../core/graph/graph.ts";
import type { EventRow } from "../../ports/journal.ts";
import { findRun } from "../application/find-run.ts";
import type { Principal, Stores } from "../application/ports.ts";
import { explainGraph } from "../definitions/explain/explain-graph.ts";
import type { GraphExplanation } from "../definitions/explain/graph-schemas.ts";
import { readPinnedGraph } from "./describe/describe-run-reading.ts";
import { eachEvent } from "./each-event.ts";

export async function pageRunEvents(
  app: Principal & Stores,
  idOrPrefix: string,
  { afterSeq, limit }: { readonly afterSeq: number; readonly limit: number },
): Promise<{ readonly items: readonly EventRow[]; readonly nextCursor: string | null }> {
  const record = await findRun(app, idOrPrefix);
  const { journal } = await app.records();
  const rows = await journal.readEvents(record.no, { afterSeq, limit });
  const last = rows.length < limit ? undefined : rows.at(-1);
  return { items: rows.map((row) => toTold(app, row)), nextCursor: last === undefined ? null : String(last.seq) };
}

/**
 * An event as it is handed out. Sealed secrets say nothing to anybody, and stay here all the same; where files are on this
 * machine is no business of a tenant.
 */
export function toTold({ tenantId }: Pick<Principal, "tenantId">, row: EventRow): EventRow {
  const event = withoutSealed(row.event);
  if (tenantId === undefined || event.type !== "runStarted" || event.options === undefined) return { ...row, event };
  const { app_dir: _dir, source: _source, callback_headers: _headers, ...options } = event.options;
  return { ...row, event: { ...event, options } };
}

function withoutSealed(event: EventRow["event"]): EventRow["event"] {
  if (!("sealed" in event)) return event;
  const { sealed: _, ...rest } = event;
  return rest;
}

/**
 * The graph that a run goes by, or one that it has called, by its hash. Throws `RUN_NOT_FOUND`, `WORKFLOW_NOT_FOUND` for
 * what the run has not called: whoever sees the run sees no graphs of others.
 */
export async function readRunGraph(app: Stores, idOrPrefix: string, called?: string): Promise<Graph> {
  return (await findGraph(app, idOrPrefix, called)).graph;
}

/** The same as people read it, with the names that the input had. */
export async function explainRunGraph(app: Stores, idOrPrefix: string, called?: string): Promise<GraphExplanation> {
  const { graph, inputNames } = await findGraph(app, idOrPrefix, called);
  return explainGraph(graph, inputNames);
}

interface FoundGraph {
  readonly graph: Graph;
  readonly inputNames: readonly string[];
}

async function findGraph(app: Stores, idOrPrefix: string, called: string | undefined): Promise<FoundGraph> {
  const record = await findRun(app, idOrPrefix);
  const { journal } = await app.records();
  const wanted = called ?? record.graph;
  for await (const { event } of eachEvent(journal, record.no)) {
    const hash = event.type === "runStarted" ? record.graph : event.type === "callResolved" ? event.graph : undefined;
    if (hash === wanted && "inputNames" in event)
      return { graph: await readPinnedGraph(app, wanted), inputNames: event.inputNames };
  }
  throw new PawlError("WORKFLOW_NOT_FOUND", {
    message: `The run ${record.id} has called no graph ${wanted}.`,
    remedy: "Take the hash from a `callResolved` event of the run.",
  });
}

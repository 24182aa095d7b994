import { useCallback, useMemo } from "react";
import { useServer } from "../../data/server.tsx";
import { useCall } from "../../data/use-call.ts";
import { type StepStatus, toStepKey } from "../../parts/graph/shown-graph.ts";
import { StepGraph } from "../../parts/graph/step-graph.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import type { Run, Span } from "./use-run.ts";

interface GraphPaneProps {
  readonly run: Run;
  readonly spans: readonly Span[];
  readonly selected: string;
  readonly onSelect: (path: string) => void;
}

/** The graph that the run goes by, with how each step is doing. What a step has called opens in its place. */
export function GraphPane({ run, spans, selected, onSelect }: GraphPaneProps) {
  const { client } = useServer();
  const { data: graph, error } = useCall("GET /runs/{id}/graph/explained", { id: run.run_id });
  const statuses = useMemo(() => toStatuses(spans), [spans]);
  const statusOf = useCallback((key: string) => statuses.get(key)?.status, [statuses]);
  if (error !== null) return <Problem error={error} />;
  if (graph === undefined) return <Loading what="the graph" />;
  return (
    <div className="min-h-0 flex-1 max-lg:h-[28rem] max-lg:flex-none">
      <StepGraph
        graph={graph}
        statusOf={statusOf}
        selected={selected === "" ? undefined : toStepKey(selected)}
        onSelect={(key) => {
          const path = statuses.get(key)?.path;
          if (path !== undefined) onSelect(path);
        }}
        findCalled={async (_step, key) => {
          const called = spans.find((span) => toStepKey(span.path) === key && span.called !== null)?.called;
          if (called == null) return undefined;
          return client.call("GET /runs/{id}/graph/explained", { id: run.run_id, called: called.graph });
        }}
      />
    </div>
  );
}

interface Kept {
  /** The instance that a click opens: the last visit, or the fan-out as one. */
  readonly path: string;
  readonly status: StepStatus;
}

/** All visits of a step together, the last one telling how it is. */
function toStatuses(spans: readonly Span[]): ReadonlyMap<string, Kept> {
  const kept = new Map<string, Kept>();
  for (const { path, status, items, visit } of spans) {
    const key = toStepKey(path);
    const visits = visit === null ? undefined : (kept.get(key)?.status.visits ?? 0) + 1;
    kept.set(key, {
      path,
      status: {
        status,
        ...(items === null ? {} : { items: { total: items.total, byStatus: items.by_status } }),
        ...(visits === undefined ? {} : { visits }),
      },
    });
  }
  return kept;
}

import { useCallback, useState } from "react";
import { useParams } from "wouter";
import { useServer } from "../../data/server.tsx";
import { useCall } from "../../data/use-call.ts";
import { type ShownStep, toShownGraph } from "../../parts/graph/shown-graph.ts";
import { StepGraph } from "../../parts/graph/step-graph.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { ViewBar } from "../../parts/view-bar.tsx";

/** One workflow. */
export function WorkflowView() {
  const { name = "" } = useParams();
  const { client } = useServer();
  const { data, error } = useCall("GET /workflows/{name}", { name });
  const [at, setAt] = useState<string>();
  const findCalled = useCallback(
    async ({ calls = "" }: ShownStep) => {
      const called = await client.call("GET /workflows/{name}", { name: calls.replace(/^"(.*)"$/, "$1") });
      return toShownGraph(called.graph);
    },
    [client],
  );
  if (error) return <Problem error={error} />;
  if (data === undefined) return <Loading what="the workflow" />;
  const graph = toShownGraph(data.graph);
  return (
    <>
      <ViewBar title={name} />
      <div className="min-h-0 flex-1">
        {graph && <StepGraph graph={graph} selected={at} onSelect={setAt} findCalled={findCalled} />}
      </div>
    </>
  );
}

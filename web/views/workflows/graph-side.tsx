import { useCallback, useState } from "react";
import { useServer } from "../../data/server.tsx";
import { type ShownFlow, type ShownGraph, type ShownStep, toShownGraph } from "../../parts/graph/shown-graph.ts";
import { StepGraph } from "../../parts/graph/step-graph.tsx";
import { Empty } from "../../parts/loading.tsx";
import type { Dialect } from "./dialects.ts";
import type { DefinitionSchema } from "./editor/definition-schema.ts";

interface GraphSideProps {
  readonly graph: ShownGraph | undefined;
  /** It is that of the text as it stands. */
  readonly isNow: boolean;
  readonly text: string;
  readonly dialect: Dialect;
  readonly schema: DefinitionSchema | undefined;
  readonly onText: (text: string) => void;
  readonly onPlace: (place: { readonly line: number; readonly column: number }) => void;
}

/** What the text does, beside it. A step that is picked is shown in the text. */
export function GraphSide({ graph, isNow, onPlace }: GraphSideProps) {
  const { client } = useServer();
  const [selected, setSelected] = useState<string>();
  const findCalled = useCallback(
    async ({ calls = "" }: ShownStep) => {
      const called = await client.call("GET /workflows/{name}", { name: calls.replace(/^"(.*)"$/, "$1") });
      return toShownGraph(called.graph);
    },
    [client],
  );
  const select = (key: string) => {
    setSelected(key);
    const place = graph && isNow ? findPlace(graph.flow, key) : undefined;
    if (place !== undefined) onPlace(place);
  };
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {graph === undefined ? (
        <Empty title="There is no graph yet.">It is drawn as soon as the text is valid.</Empty>
      ) : (
        <>
          {!isNow && (
            <p role="status" className="border-b border-line px-3 py-1 text-sm text-soft">
              The graph is that of the last valid text.
            </p>
          )}
          <div className="min-h-0 flex-1">
            <StepGraph graph={graph} selected={selected} onSelect={select} findCalled={findCalled} />
          </div>
        </>
      )}
    </div>
  );
}

/** Of a step by its key, through the flows inside of others. */
function findPlace(flow: ShownFlow, key: string): ShownStep["place"] {
  let at: ShownFlow | undefined = flow;
  let step: ShownStep | undefined;
  for (const part of key.split("/")) {
    const [id = "", side] = part.split("~");
    step = at?.steps.find((each) => each.id === decodeURIComponent(id));
    at = side === "catch" ? step?.catch : side === "finally" ? step?.finally : step?.flow;
  }
  return step?.place;
}

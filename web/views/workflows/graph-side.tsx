import { useCallback, useDeferredValue, useMemo, useState } from "react";
import { useServer } from "../../data/server.tsx";
import { Choice } from "../../parts/fields.tsx";
import { keyOfStep, type ShownFlow, type ShownGraph, type ShownStep } from "../../parts/graph/shown-graph.ts";
import { StepGraph } from "../../parts/graph/step-graph.tsx";
import { Empty } from "../../parts/loading.tsx";
import { AddStep } from "./builder/add-step.tsx";
import { builderOf } from "./builder/builders.ts";
import { StepForm } from "./builder/step-form.tsx";
import { readCalled } from "./called-workflow.ts";
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

/** What the text does, beside it. A step that is picked is shown in the text, and its fields are edited below. */
export function GraphSide({ graph, isNow, text: typed, dialect, schema, onText, onPlace }: GraphSideProps) {
  const { client } = useServer();
  const [selected, setSelected] = useState<string>();
  const builder = builderOf(dialect);
  // Reading hundreds of steps takes longer than a key press: what is typed goes first.
  const text = useDeferredValue(typed);
  const steps = useMemo(() => builder?.readSteps(text) ?? [], [builder, text]);
  // Inside of a block a step has the block's name before its own.
  const id = selected === undefined ? undefined : decodeURIComponent(selected.split("/").at(-1) ?? "");
  const step = steps.find((each) => each.id === id);
  const findCalled = useCallback((called: ShownStep) => readCalled(client, called), [client]);
  const select = (key: string) => {
    setSelected(key);
    const place = graph && isNow ? findPlace(graph.flow, key) : undefined;
    if (place !== undefined) onPlace(place);
  };
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {builder && (
        <div className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-1.5">
          <AddStep
            builder={builder}
            text={text}
            steps={steps}
            behind={step}
            onAdd={(next, added) => {
              onText(next);
              setSelected(added);
            }}
          />
          <Choice
            label="The selected step"
            hidesLabel
            value={step?.id ?? ""}
            choices={[["", "no step selected"], ...steps.map((each) => [each.id, each.id] as const)]}
            onPick={(picked) => setSelected(picked === "" ? undefined : keyOfStep("", picked))}
          />
        </div>
      )}
      {!isNow && graph && (
        <p role="status" className="border-b border-line px-3 py-1 text-sm text-soft">
          The graph is that of the last valid text.
        </p>
      )}
      {graph && (graph.starts_by ?? graph.runs) && (
        <ul
          aria-label="What starts it, and how its runs wait"
          className="max-h-40 overflow-auto border-b border-line px-3 py-1 text-sm text-soft"
        >
          {graph.starts_by?.map((start) => (
            <li key={start}>starts by {start}</li>
          ))}
          {graph.runs?.map((rule) => (
            <li key={rule}>{rule}</li>
          ))}
        </ul>
      )}
      <div className="min-h-44 flex-1 max-lg:h-[26rem] max-lg:flex-none">
        {graph === undefined ? (
          <Empty title="There is no graph yet.">It is drawn as soon as the text is valid.</Empty>
        ) : (
          <StepGraph graph={graph} selected={selected} onSelect={select} findCalled={findCalled} />
        )}
      </div>
      {builder && step && (
        <div
          tabIndex={0}
          role="group"
          aria-label="The selected step"
          className="shrink-0 overflow-auto lg:max-h-[55%] border-t border-line bg-surface"
        >
          <StepForm
            key={step.id}
            text={text}
            builder={builder}
            step={step}
            steps={steps}
            schema={schema}
            onText={onText}
            onSelect={setSelected}
          />
        </div>
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

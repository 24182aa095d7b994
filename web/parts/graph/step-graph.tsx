import { Suspense, useCallback, useMemo, useRef, useState } from "react";
import { Empty, Loading } from "../loading.tsx";
import { lazyView } from "../view-guard.tsx";
import type { DrawnNode } from "./lay-out.ts";
import { countSteps, type ShownFlow, type ShownGraph, type ShownStep, type StepStatus } from "./shown-graph.ts";

const GraphCanvas = lazyView(async () => ({ default: (await import("./graph-canvas.tsx")).GraphCanvas }));

/** So many steps are read at a glance: what is inside of others is open from the start. */
const FEW_STEPS = 25;

interface StepGraphProps {
  readonly graph: ShownGraph;
  /** By the key of a step: `toStepKey` makes it of a path of a run. A new function draws the steps again. */
  readonly statusOf?: (key: string) => StepStatus | undefined;
  readonly selected?: string | undefined;
  /** Absent: a click selects nothing. */
  readonly onSelect?: (key: string) => void;
  /** Reads what a step calls when it is opened; undefined where that is not known, such as before a run. */
  readonly findCalled?: (step: ShownStep, key: string) => Promise<ShownGraph | undefined>;
}

const NO_STATUS = () => undefined;

/** A workflow as a graph, laid out from the top to the bottom. It loads when it is used, fits its frame, and is moved and zoomed. */
export function StepGraph({ graph, statusOf = NO_STATUS, selected, onSelect, findCalled }: StepGraphProps) {
  const flow = useSameFlow(graph.flow);
  const isSmall = useMemo(() => countSteps(flow) <= FEW_STEPS, [flow]);
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [called, setCalled] = useState<ReadonlyMap<string, ShownFlow>>(new Map());
  const [unknown, setUnknown] = useState<string>();
  const isOpen = useCallback(
    (key: string) => (called.has(key) || !isSmall) === toggled.has(key),
    [toggled, called, isSmall],
  );
  const calledBy = useCallback((key: string) => called.get(key), [called]);
  const select = useCallback((key: string) => onSelect?.(key), [onSelect]);
  const onToggle = useCallback(
    (drawn: DrawnNode) => {
      const { key } = drawn;
      const turn = () =>
        setToggled((before) =>
          before.has(key) ? new Set([...before].filter((each) => each !== key)) : new Set([...before, key]),
        );
      if (drawn.is !== "step" || drawn.step.calls === undefined || called.has(key)) return turn();
      const { step } = drawn;
      const missing = () => setUnknown(step.calls);
      setUnknown(undefined);
      if (findCalled === undefined) return missing();
      findCalled(step, key).then((found) => {
        if (found === undefined) return missing();
        setCalled((before) => new Map(before).set(key, found.flow));
        turn();
      }, missing);
    },
    [called, findCalled],
  );
  if (flow.steps.length === 0) return <Empty title="It has no steps." />;
  return (
    <div className="flex h-full min-h-0 flex-col">
      {unknown !== undefined && (
        <p role="status" className="border-b border-line px-3 py-1 text-sm text-warn">
          What {unknown} does is not known here.
        </p>
      )}
      <div className="min-h-0 flex-1">
        <Suspense fallback={<Loading what="the graph" />}>
          <GraphCanvas
            flow={flow}
            isOpen={isOpen}
            calledBy={calledBy}
            statusOf={statusOf}
            selected={selected}
            onSelect={select}
            onToggle={onToggle}
          />
        </Suspense>
      </div>
    </div>
  );
}

/** The flow of before where it is drawn the same: text that is typed moves places, and laying out hundreds of steps takes a while. */
function useSameFlow(flow: ShownFlow): ShownFlow {
  const text = useMemo(() => JSON.stringify(flow, (key, value) => (key === "place" ? undefined : value)), [flow]);
  const kept = useRef({ text, flow });
  if (kept.current.text !== text) kept.current = { text, flow };
  return kept.current.flow;
}

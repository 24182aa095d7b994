import { type NodeTypes, ReactFlow, ReactFlowProvider, useReactFlow, useStore, ViewportPortal } from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef } from "react";
import { Button } from "../button.tsx";
import { Edges } from "./edges.tsx";
import { DrawnNodeView, type GraphNode, GraphViewContext } from "./graph-nodes.tsx";
import { type Drawing, type DrawnNode, layOut } from "./lay-out.ts";
import type { ShownFlow, StepStatus } from "./shown-graph.ts";
import "@xyflow/react/dist/base.css";

const NODE_TYPES: NodeTypes = { drawn: DrawnNodeView };
/** Smaller than this, words are not read any more: the drawing then begins at its top instead of being shown whole. */
const LEAST_READABLE = 0.7;
const MARGIN = 20;

export interface GraphCanvasProps {
  readonly flow: ShownFlow;
  readonly isOpen: (key: string) => boolean;
  readonly calledBy: (key: string) => ShownFlow | undefined;
  readonly statusOf: (key: string) => StepStatus | undefined;
  readonly selected: string | undefined;
  readonly onSelect: (key: string) => void;
  readonly onToggle: (drawn: DrawnNode) => void;
}

export function GraphCanvas(props: GraphCanvasProps) {
  return (
    <ReactFlowProvider>
      <Canvas {...props} />
    </ReactFlowProvider>
  );
}

function Canvas({ flow, isOpen, calledBy, statusOf, selected, onSelect, onToggle }: GraphCanvasProps) {
  const drawing = useMemo(() => layOut(flow, { isOpen, calledBy }), [flow, isOpen, calledBy]);
  const nodes = useMemo(() => drawing.nodes.map(toNode), [drawing]);
  const view = useMemo(() => ({ statusOf, selected, onSelect, onToggle }), [statusOf, selected, onSelect, onToggle]);
  const { begin, showWhole, show, zoom, held } = useCamera(drawing);
  const walk = (event: React.KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const at = drawing.nodes.find(({ key }) => key === selected);
    const next = nextOf(drawing.nodes, at, event.key);
    if (next !== undefined) {
      onSelect(next.key);
      show(next);
    } else if (event.key === "Enter" && at !== undefined && at.is !== "mark" && at.opens !== "no") onToggle(at);
    else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") showWhole();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <GraphViewContext value={view}>
      <div
        role="group"
        tabIndex={0}
        aria-label="Graph of the steps"
        onKeyDown={walk}
        className="relative h-full w-full"
      >
        <ReactFlow
          nodes={nodes}
          nodeTypes={NODE_TYPES}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          elementsSelectable={false}
          zoomOnDoubleClick={false}
          disableKeyboardA11y
          onlyRenderVisibleElements={nodes.length > 80}
          minZoom={0.05}
          maxZoom={1.6}
          proOptions={{ hideAttribution: true }}
          onInit={begin}
          onMoveStart={(event) => {
            // A move by hand has an event: the place that is looked at stays.
            if (event !== null) held.current = true;
          }}
        >
          <ViewportPortal>
            <Edges edges={drawing.edges} />
          </ViewportPortal>
        </ReactFlow>
        <div className="absolute right-2 top-2 z-10 flex gap-1 opacity-90">
          <Button aria-label="Larger" onClick={() => zoom(1.25)}>
            +
          </Button>
          <Button aria-label="Smaller" onClick={() => zoom(0.8)}>
            −
          </Button>
          <Button onClick={showWhole}>fit</Button>
        </div>
      </div>
    </GraphViewContext>
  );
}

/** Where one looks at the drawing from. It is fitted anew when the drawing or its frame changes, until it is moved. */
function useCamera({ width, height, nodes }: Drawing) {
  const flow = useReactFlow();
  const frameWidth = useStore((state) => state.width);
  const frameHeight = useStore((state) => state.height);
  const held = useRef(false);
  const lookAt = useCallback(
    (least: number) => {
      if (frameWidth === 0 || nodes.length === 0) return;
      const whole = Math.min((frameWidth - 2 * MARGIN) / width, (frameHeight - 2 * MARGIN) / height, 1);
      const zoom = Math.max(whole, Math.min(least, 1));
      const first = nodes[0];
      const middle = width * zoom > frameWidth - 2 * MARGIN && first ? first.x + first.width / 2 : width / 2;
      const x = frameWidth / 2 - middle * zoom;
      const y = height * zoom > frameHeight - 2 * MARGIN ? MARGIN : (frameHeight - height * zoom) / 2;
      void flow.setViewport({ x, y, zoom });
    },
    [flow, frameWidth, frameHeight, width, height, nodes],
  );
  const begin = useCallback(() => {
    if (!held.current) lookAt(LEAST_READABLE);
  }, [lookAt]);
  useEffect(begin, [begin]);
  const showWhole = () => {
    held.current = false;
    lookAt(0);
  };
  const zoom = (by: number) => {
    held.current = true;
    void flow.zoomTo(flow.getZoom() * by);
  };
  const show = ({ x, y, width: across, height: down }: DrawnNode) => {
    held.current = true;
    void flow.setCenter(x + across / 2, y + Math.min(down, frameHeight / 2) / 2, {
      zoom: Math.max(flow.getZoom(), 0.6),
    });
  };
  return { begin, showWhole, show, zoom, held };
}

function toNode(drawn: DrawnNode): GraphNode {
  const { key, x, y, width, height, depth } = drawn;
  const isGroup = drawn.is !== "mark" && drawn.opens === "open";
  return {
    id: key,
    type: "drawn",
    position: { x, y },
    width,
    height,
    data: { drawn },
    zIndex: isGroup ? depth - 100 : 0,
    className: "nodrag",
    // Without handlers of its own the package lets clicks fall through a node, and so past its buttons.
    style: { pointerEvents: "all" },
  };
}

/** The nearest step in the direction of an arrow key; the first one where none is selected. */
function nextOf(nodes: readonly DrawnNode[], at: DrawnNode | undefined, key: string): DrawnNode | undefined {
  const way = { ArrowDown: [0, 1], ArrowUp: [0, -1], ArrowRight: [1, 0], ArrowLeft: [-1, 0] }[key];
  if (way === undefined) return undefined;
  const steps = nodes.filter(({ is }) => is !== "mark");
  if (at === undefined) return steps[0];
  const [across = 0, down = 0] = way;
  let best: DrawnNode | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const node of steps) {
    const dx = node.x + node.width / 2 - (at.x + at.width / 2);
    const dy = node.y - at.y;
    const along = dx * across + dy * down;
    if (node === at || along < 8) continue;
    const distance = along + 2 * Math.abs(dx * down + dy * across);
    if (distance < least) [best, least] = [node, distance];
  }
  return best;
}

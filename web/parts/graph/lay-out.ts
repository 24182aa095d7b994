import { Graph, layout } from "@dagrejs/dagre";
import { keyOfStep, type ShownFlow, type ShownStep } from "./shown-graph.ts";

/** A place on the drawing, in pixels at full size. */
interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export type DrawnNode = Box &
  (
    | {
        readonly is: "step";
        readonly key: string;
        readonly step: ShownStep;
        readonly opens: Opens;
        readonly depth: number;
      }
    /** A `catch` or `finally`, which is no step of its own. */
    | {
        readonly is: "side";
        readonly key: string;
        readonly title: string;
        readonly opens: Opens;
        readonly depth: number;
      }
    | { readonly is: "mark"; readonly key: string; readonly mark: Mark; readonly depth: number }
  );

type Mark = "start" | "success" | "failure";
/** Whether there is something inside, and whether it is shown. */
type Opens = "no" | "open" | "closed";

export interface DrawnEdge {
  readonly key: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
  readonly label?: { readonly text: string; readonly x: number; readonly y: number };
  readonly tone: "plain" | "failure" | "side";
}

export interface Drawing {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
}

const STEP_WIDTH = 208;
const HEAD = 46;
const LINE = 17;
const PADDING = 16;
const MARK = 26;
const LABEL_CHARS = 34;

interface LayOutOptions {
  readonly isOpen: (key: string) => boolean;
  /** The flow of a called workflow, once it has been read. */
  readonly calledBy: (key: string) => ShownFlow | undefined;
}

/** Lays a flow out from the top to the bottom. An open step is laid out by itself first, and is then one large step. */
export function layOut(flow: ShownFlow, options: LayOutOptions, scope = "", depth = 0): Drawing {
  const steps = flow.steps.map((step) => prepareStep(step, options, scope, depth));
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 28, ranksep: 34, edgesep: 14 });
  // Insertion decides which edge of a loop goes back: what comes first stands above.
  const first = flow.kind === "machine" && steps.some(({ id }) => id === flow.start) ? flow.start : undefined;
  if (first !== undefined) graph.setNode("~start", { width: MARK, height: MARK });
  for (const { id, width, height, sides } of steps) {
    graph.setNode(`s:${id}`, { width, height });
    for (const side of sides) graph.setNode(side.key, { width: side.width, height: side.height });
  }
  const links = linksOf(flow, steps, first);
  for (const { to } of links) {
    if (to === "~success" || to === "~failure") graph.setNode(to, { width: MARK, height: MARK });
  }
  for (const [index, { from, to, label }] of links.entries()) {
    const width = label === undefined ? 0 : Math.min(label.length, LABEL_CHARS) * 6.2 + 8;
    graph.setEdge(from, to, { labelpos: "c", width, height: label === undefined ? 0 : LINE }, String(index));
  }
  layout(graph);
  return collect({ graph, flow, steps, links, scope, depth });
}

interface Prepared {
  readonly id: string;
  readonly key: string;
  readonly step: ShownStep;
  readonly opens: Opens;
  readonly width: number;
  readonly height: number;
  readonly inner: Drawing | undefined;
  readonly sides: readonly Side[];
}

interface Side {
  readonly key: string;
  readonly title: string;
  readonly how: "on failure" | "finally";
  readonly inner: Drawing | undefined;
  readonly width: number;
  readonly height: number;
}

function prepareStep(step: ShownStep, options: LayOutOptions, scope: string, depth: number): Prepared {
  const key = keyOfStep(scope, step.id);
  const body = step.flow ?? options.calledBy(key);
  const canOpen = body !== undefined || step.calls !== undefined;
  const inner = body !== undefined && options.isOpen(key) ? layOut(body, options, key, depth + 1) : undefined;
  const size = around(inner, headOf(step));
  const side = (flow: ShownFlow | undefined, how: Side["how"], suffix: string, title: string): readonly Side[] => {
    if (flow === undefined) return [];
    const sideKey = `${key}${suffix}`;
    const drawn = options.isOpen(sideKey) ? layOut(flow, options, sideKey, depth + 1) : undefined;
    return [{ key: sideKey, title, how, inner: drawn, ...around(drawn, HEAD - 12) }];
  };
  return {
    id: step.id,
    key,
    step,
    opens: !canOpen ? "no" : inner === undefined ? "closed" : "open",
    inner,
    ...size,
    sides: [
      ...side(step.catch, "on failure", "~catch", `if ${step.id} fails`),
      ...side(step.finally, "finally", "~finally", `after ${step.id}, always`),
    ],
  };
}

function around(inner: Drawing | undefined, head: number): { readonly width: number; readonly height: number } {
  if (inner === undefined) return { width: STEP_WIDTH, height: head };
  return { width: Math.max(STEP_WIDTH, inner.width + 2 * PADDING), height: head + inner.height + 2 * PADDING };
}

/** Lines below the name: the condition, the items. */
function headOf({ when, fan_out, follows }: ShownStep): number {
  return HEAD + (when === undefined ? 0 : LINE) + (fan_out === undefined && follows === undefined ? 0 : LINE + 6);
}

interface Link {
  readonly from: string;
  readonly to: string;
  readonly label?: string;
  readonly tone: DrawnEdge["tone"];
}

function linksOf(flow: ShownFlow, steps: readonly Prepared[], first: string | undefined): readonly Link[] {
  const ids = new Set(steps.map(({ id }) => id));
  const links: Link[] = first === undefined ? [] : [{ from: "~start", to: `s:${first}`, tone: "plain" }];
  for (const { id, step, sides } of steps) {
    if (flow.kind === "dag") {
      for (const need of new Set(step.after)) {
        if (ids.has(need)) links.push({ from: `s:${need}`, to: `s:${id}`, tone: "plain" });
      }
    }
    for (const { on, when, to } of flow.kind === "machine" ? (step.transitions ?? []) : []) {
      const target = to === "end (success)" ? "~success" : to === "end (failure)" ? "~failure" : `s:${to}`;
      if (target.startsWith("s:") && !ids.has(to)) continue;
      const label = [on === "any" ? "" : on, when ?? ""].filter((part) => part !== "").join(": ");
      const tone = on === "failure" ? "failure" : "plain";
      links.push({ from: `s:${id}`, to: target, tone, ...(label === "" ? {} : { label }) });
    }
    for (const side of sides) links.push({ from: `s:${id}`, to: side.key, tone: "side", label: side.how });
  }
  return links;
}

interface LaidOut {
  readonly graph: Graph;
  readonly flow: ShownFlow;
  readonly steps: readonly Prepared[];
  readonly links: readonly Link[];
  readonly scope: string;
  readonly depth: number;
}

/** Everything in one list, with places that count from the flow's own corner. */
function collect({ graph, steps, links, scope, depth }: LaidOut): Drawing {
  const nodes: DrawnNode[] = [];
  const edges: DrawnEdge[] = [];
  const place = (name: string): Box => {
    const { x = 0, y = 0, width, height } = graph.node(name) as Box;
    return { x: x - width / 2, y: y - height / 2, width, height };
  };
  const addInner = (inner: Drawing | undefined, { x, y, width, height }: Box) => {
    if (inner === undefined) return;
    const moved = move(inner, x + (width - inner.width) / 2, y + height - inner.height - PADDING);
    nodes.push(...moved.nodes);
    edges.push(...moved.edges);
  };
  for (const { id, key, step, opens, inner, sides } of steps) {
    const box = place(`s:${id}`);
    nodes.push({ is: "step", key, step, opens, depth, ...box });
    addInner(inner, box);
    for (const { key: sideKey, title, inner: sideInner } of sides) {
      const sideBox = place(sideKey);
      const isOpen = sideInner === undefined ? "closed" : "open";
      nodes.push({ is: "side", key: sideKey, title, opens: isOpen, depth, ...sideBox });
      addInner(sideInner, sideBox);
    }
  }
  for (const mark of ["start", "success", "failure"] as const) {
    if (graph.hasNode(`~${mark}`))
      nodes.push({ is: "mark", key: `${scope}~${mark}`, mark, depth, ...place(`~${mark}`) });
  }
  for (const [index, { from, to, label, tone }] of links.entries()) {
    const {
      points = [],
      x = 0,
      y = 0,
    } = graph.edge(from, to, String(index)) as {
      points?: DrawnEdge["points"];
      x?: number;
      y?: number;
    };
    const key = `${scope}>${index}`;
    edges.push({ key, points, tone, ...(label === undefined ? {} : { label: { text: label, x, y } }) });
  }
  return { ...sizeOf(nodes, edges), nodes, edges };
}

/** Edges of loops may reach further than the steps. */
function sizeOf(nodes: readonly DrawnNode[], edges: readonly DrawnEdge[]): { width: number; height: number } {
  let width = 0;
  let height = 0;
  for (const box of nodes) {
    width = Math.max(width, box.x + box.width);
    height = Math.max(height, box.y + box.height);
  }
  for (const { points } of edges) {
    for (const { x, y } of points) {
      width = Math.max(width, x);
      height = Math.max(height, y);
    }
  }
  return { width, height };
}

function move({ width, height, nodes, edges }: Drawing, dx: number, dy: number): Drawing {
  return {
    width,
    height,
    nodes: nodes.map((node) => ({ ...node, x: node.x + dx, y: node.y + dy })),
    edges: edges.map(({ points, label, ...edge }) => ({
      ...edge,
      points: points.map(({ x, y }) => ({ x: x + dx, y: y + dy })),
      ...(label === undefined ? {} : { label: { ...label, x: label.x + dx, y: label.y + dy } }),
    })),
  };
}

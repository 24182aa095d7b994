import type { Expr, PathExpr } from "../expressions/expr.ts";
import { childrenOf, walkPaths } from "../expressions/walk-paths.ts";
import type { Flow, Graph, Step } from "./graph.ts";
import { homeOf, type Names, namesIn } from "./lift-controls.ts";
import { type Shape, SINGLE, widestShape } from "./shape.ts";
import { flowsInside, orderSteps } from "./steps-within.ts";

/**
 * Conditions, transitions and list lengths that the core could not decide: it would see undefined where a person reads a
 * value. Takes a graph whose steps and names are consistent.
 */
export function checkControls(graph: Graph): readonly GraphProblem[] {
  const problems: GraphProblem[] = [];
  checkFlow(graph.flow, { path: "", outer: undefined, names: undefined }, problems);
  return problems;
}

interface Around {
  readonly path: string;
  readonly outer: View | undefined;
  readonly names: Names | undefined;
}

/** From where a control expression looks: one step of a flow, and the steps around that flow. */
interface View {
  readonly flow: Flow;
  readonly shape: Shape;
  readonly step: number;
  readonly names: Names;
  readonly path: string;
  readonly outer: View | undefined;
}

function checkFlow(flow: Flow, around: Around, problems: GraphProblem[]): void {
  const shape = widestShape(flow);
  const names = namesIn(flow, around.names);
  for (const [index, step] of flow.steps.entries()) {
    const path = around.path === "" ? step.id : `${around.path}/${step.id}`;
    const each = flow.steps[shape[index] ?? SINGLE]?.each;
    const list = each && { expr: each.list, from: names, coerce: each.coerce === true };
    const inner: Names = list === undefined ? names : { ...names, list };
    const view: View = { flow, shape, step: index, names: inner, path, outer: around.outer };
    checkStep(step, { view, names, problems });
    for (const { flow: nested, suffix, tried } of flowsInside(step)) {
      const outer = tried === undefined ? view : viewOfTried(tried, view);
      checkFlow(nested, { path: `${path}${suffix}`, outer, names: outer.names }, problems);
    }
  }
}

function viewOfTried(flow: Flow, outer: View): View {
  return { ...outer, flow, shape: widestShape(flow), step: NO_STEP, names: namesIn(flow, outer.names), outer };
}

/** All of the flow has ended. */
const NO_STEP = -1;

function checkStep(
  step: Step,
  { view, names, problems }: { readonly view: View; readonly names: Names; readonly problems: GraphProblem[] },
): void {
  const { each, when, transitions = [] } = step;
  const check = (expr: Expr | undefined, control: Control) => {
    if (expr === undefined) return;
    for (const message of new Set(obstaclesIn(expr, control)))
      problems.push({ code: "CONTROL_TOO_COMPLEX", message, path: view.path });
  };
  if (each !== undefined && each.count === undefined)
    check(each.list, { view: { ...view, names }, self: undefined, isList: true });
  check(when, { view, self: undefined, isList: false });
  for (const transition of transitions) check(transition.when, { view, self: step, isList: false });
}

interface Control {
  readonly view: View;
  /** In a transition: the step whose output is `output`. */
  readonly self: Step | undefined;
  readonly isList: boolean;
}

function obstaclesIn(expr: Expr, control: Control): string[] {
  const found: string[] = [];
  walkPaths(expr, (path) => {
    const obstacle = obstacleAt(path, expr, control);
    if (obstacle !== undefined) found.push(obstacle);
  });
  if (mixesInside(expr, control)) found.push("It maps or filters a list by values of other steps.");
  return found;
}

function obstacleAt(path: PathExpr, whole: Expr, control: Control): string | undefined {
  switch (path.root) {
    case "steps":
      return obstacleAtStep(path, whole, control);
    case "output":
      if (control.self === undefined) return "Only a transition reads the output of its own step.";
      return control.self.each === undefined ? undefined : "It reads the output of a whole fan-out.";
    case "item":
      return obstacleAtItem(path, control);
    case "failure":
      return "Only an assignment reads how its step has failed.";
    case "storage":
      return "It reads a stored file.";
    case "env":
      return "It reads an environment variable.";
    case "input":
    case "index":
    case "vars":
    case "error":
    case "done":
    case "run":
    case "local":
      return undefined;
  }
}

function obstacleAtStep({ name = "", path }: PathExpr, whole: Expr, { view, isList }: Control): string | undefined {
  const seen = find(view, name);
  if (seen === undefined) return undefined;
  const { view: from, index } = seen;
  if (from.flow.kind === "dag" && from.step !== NO_STEP && !isAncestor(from.flow, index, from.step))
    return `It reads "${name}", which need not have ended by then.`;
  const domain = from.shape[index];
  const isOneItem = domain === SINGLE || typeof path[0] === "number";
  const isOwnItem = !isList && domain === from.shape[from.step];
  // The length of a whole fan-out is known without its outputs.
  const isWholeList = isList && whole.op === "path" && path.length === 0;
  return isOneItem || isOwnItem || isWholeList ? undefined : `It reads the outputs of "${name}", a whole fan-out.`;
}

function obstacleAtItem({ name }: PathExpr, { view }: Control): string | undefined {
  const nearest = nearestFanOut(view);
  if (nearest === undefined) return "It reads an item outside of any fan-out.";
  const { view: from, origin } = nearest;
  if (name !== undefined && name !== origin.id)
    return `It reads the item of "${name}", which is not the nearest fan-out.`;
  const list = origin.each?.list;
  if (list === undefined) return undefined;
  if (homeOf(list, from.names, undefined) === "mixed") return "It reads an item of a list that several steps make.";
  return list.op === "path" &&
    list.root === "steps" &&
    isFanOut(from, list.name ?? "") &&
    typeof list.path[0] !== "number"
    ? "It reads an item of a whole fan-out."
    : undefined;
}

function mixesInside(expr: Expr, control: Control): boolean {
  if (expr.op === "map" || expr.op === "filter" || expr.op === "reduce")
    return homeOf(expr, control.view.names, control.self) === "mixed";
  return childrenOf(expr).some((child) => mixesInside(child, control));
}

function find(view: View, id: string): { readonly view: View; readonly index: number } | undefined {
  for (let at: View | undefined = view; at !== undefined; at = at.outer) {
    const index = at.flow.steps.findIndex((step) => step.id === id);
    if (index >= 0) return { view: at, index };
  }
  return undefined;
}

function nearestFanOut(view: View): { readonly view: View; readonly origin: Step } | undefined {
  for (let at: View | undefined = view; at !== undefined; at = at.outer) {
    const origin = at.flow.steps[at.shape[at.step] ?? SINGLE];
    if (origin !== undefined) return { view: at, origin };
  }
  return undefined;
}

function isFanOut(view: View, id: string): boolean {
  const seen = find(view, id);
  return seen !== undefined && seen.view.shape[seen.index] !== SINGLE;
}

function isAncestor(flow: Extract<Flow, { kind: "dag" }>, wanted: number, of: number): boolean {
  const { after } = orderSteps(flow.steps);
  const seen = new Set<number>();
  const pending = [...(after[of] ?? [])];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next === wanted) return true;
    if (seen.has(next)) continue;
    seen.add(next);
    pending.push(...(after[next] ?? []));
  }
  return false;
}

export interface GraphProblem {
  readonly code: "GRAPH_INVALID" | "CONTROL_TOO_COMPLEX";
  readonly message: string;
  /** Keys of the steps from the outermost flow inwards: `batch/fetch`. */
  readonly path?: string;
}

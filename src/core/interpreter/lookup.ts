import type { PathExpr } from "../expressions/expr.ts";
import { SINGLE } from "../graph/shape.ts";
import { stepPath } from "../graph/step-path.ts";
import { isSeenBeside } from "../graph/steps-within.ts";
import {
  type Handle,
  type Instance,
  type InstanceStatus,
  type RunState,
  type Scope,
  SINGLE_ITEM,
  type StepState,
} from "../history/run-state.ts";
import { toIsoTime } from "../iso-time.ts";
import type { JsonObject } from "../json.ts";

/** From where an expression looks: an instance, or a step before its instances exist. */
export interface Viewpoint {
  readonly scope: Scope;
  readonly step: number;
  readonly item: number;
}

export function viewOf(instance: Instance): Viewpoint {
  return { scope: instance.scope, step: instance.step.index, item: instance.item };
}

/** A step as seen from a viewpoint: one instance of it, or all as a list. */
export type SeenStep =
  | { readonly kind: "one"; readonly state: StepState; readonly item: number }
  | { readonly kind: "all"; readonly state: StepState };

/** Steps are found in the own flow first, then outwards, within one graph. */
export function seeStep(from: Viewpoint, id: string): SeenStep | undefined {
  let view: Viewpoint | undefined = from;
  while (view !== undefined) {
    const index = view.scope.flow.indexOf.get(id);
    if (index !== undefined) return seeInScope(view, index);
    const tried = triedBeside(view.scope);
    const triedIndex = tried?.flow.indexOf.get(id);
    if (tried !== undefined && triedIndex !== undefined)
      return seeInScope({ scope: tried, step: NO_STEP, item: SINGLE_ITEM }, triedIndex);
    view = outward(view);
  }
  return undefined;
}

const NO_STEP = -1;

/** For a `catch` or a `finally`: the try before it, where they see its steps. */
function triedBeside({ role, parent }: Scope): Scope | undefined {
  if (role !== "catch" && role !== "finally") return undefined;
  const tried = parent?.tried;
  if (tried === undefined || tried.frame !== parent?.scope.frame) return undefined;
  return isSeenBeside(tried.flow.flow) ? tried : undefined;
}

/** The viewpoint of the instance around this scope; none across the border of a call. */
function outward(view: Viewpoint): Viewpoint | undefined {
  const { parent } = view.scope;
  return parent === undefined || parent.scope.frame !== view.scope.frame ? undefined : viewOf(parent);
}

/** The nearest fan-out around a viewpoint (or that of the step named): its opening step, and which item. */
export function seeItem(from: Viewpoint, origin?: string): (Viewpoint & { readonly origin: number }) | undefined {
  let view: Viewpoint | undefined = from;
  while (view !== undefined) {
    const domain = domainOf(view);
    const id = domain === SINGLE ? undefined : view.scope.flow.steps[domain]?.step.id;
    if (view.item >= 0 && id !== undefined && (origin === undefined || origin === id))
      return { ...view, origin: domain };
    view = outward(view);
  }
  return undefined;
}

/** The scope whose variable of this name is nearest. */
export function seeVariable(from: Viewpoint, name: string): Scope | undefined {
  let view: Viewpoint | undefined = from;
  while (view !== undefined) {
    if (view.scope.variables.has(name)) return view.scope;
    view = outward(view);
  }
  return undefined;
}

/** The failure that the nearest `catch` around the viewpoint handles. */
export function seeFailure(from: Viewpoint): Instance | undefined {
  let view: Viewpoint | undefined = from;
  while (view !== undefined) {
    if (view.scope.role === "catch" || view.scope.role === "finally") return view.scope.parent;
    view = outward(view);
  }
  return undefined;
}

/**
 * Whether a step has succeeded, each item of it; without a name, the one whose `catch` or `finally` is around the viewpoint, and
 * with `body` that without its `catch`.
 */
export function hasSucceeded(from: Viewpoint, { name, path }: Pick<PathExpr, "name" | "path">): boolean {
  if (name === undefined) {
    const around = seeFailure(from);
    return around?.outcome?.status === "succeeded" && !(path[0] === "body" && around.failure !== undefined);
  }
  const seen = seeStep(from, name);
  if (seen === undefined) return false;
  const { status } = seen.state;
  const wanted = seen.kind === "one" ? [status[Math.max(seen.item, 0)]] : status;
  return seen.state.phase === "settled" && wanted.every((each) => each === "succeeded");
}

/** Undefined while the instance has not ended. */
export function handleOf(state: StepState, item: number): Handle | undefined {
  const index = item < 0 ? 0 : item;
  const status = state.status[index];
  return status === undefined || !hasEnded(status) ? undefined : state.handle[index];
}

export function hasEnded(status: InstanceStatus): boolean {
  return status !== "pending" && status !== "running";
}

function seeInScope(view: Viewpoint, index: number): SeenStep | undefined {
  const current = view.scope.steps[index];
  // In a loop the visit before stands until the new one has ended.
  const state = current?.phase === "settled" || current?.prior === undefined ? current : current.prior;
  if (state === undefined) return undefined;
  if (state.items === SINGLE_ITEM) return { kind: "one", state, item: SINGLE_ITEM };
  const domain = view.scope.shape[index];
  return view.item >= 0 && domain === domainOf(view) && index !== view.step
    ? { kind: "one", state, item: view.item }
    : { kind: "all", state };
}

function domainOf(view: Viewpoint): number {
  // In a machine every fan-out is a step's own.
  if (view.scope.flow.flow.kind === "machine") return view.item >= 0 ? view.step : SINGLE;
  return view.scope.shape[view.step] ?? SINGLE;
}

/** `run` in expressions. `date` is the day on which the run began, so that a run over midnight does not change it. */
export function describeRun(state: RunState, from: Viewpoint): JsonObject {
  const startedAt = toIsoTime(state.startedAt);
  const now = toIsoTime(state.now);
  const place = `${state.runId}/${pathOf(from)}`;
  return { id: state.runId, workflow: state.workflow, startedAt, date: startedAt.slice(0, 10), now, place };
}

function pathOf({ scope, step, item }: Viewpoint): string {
  const indexed = scope.flow.steps[step];
  return indexed === undefined
    ? scope.path
    : stepPath(scope.path, indexed.escapedId, scope.steps[step]?.visit ?? 0, item);
}

import type { IndexedFlow } from "../../graph/indexed-graph.ts";
import { computeShape, type Shape, SINGLE } from "../../graph/shape.ts";
import {
  type Frame,
  type Instance,
  type Scope,
  type StepState,
  UNOPENED,
  type Variable,
} from "../../history/run-state.ts";
import type { Json } from "../../json.ts";
import type { Turn } from "../turn.ts";

export interface NewScope {
  readonly path: string;
  readonly role: Scope["role"];
  readonly frame: Frame;
  readonly flow: IndexedFlow;
  readonly parent: Instance | undefined;
}

/** Begins a pass through a flow: what needs nothing becomes ready. */
export function openScope(turn: Turn, opened: NewScope): Scope {
  const shape = decideShape(turn, opened.flow, opened.frame.inputNames);
  const scope: Scope = {
    ...opened,
    shape: shape ?? opened.flow.plainShape,
    steps: new Array<StepState | undefined>(opened.flow.steps.length).fill(undefined),
    gates: [],
    live: new Set(),
    variables: firstVariables(opened.flow),
    phase: "open",
    unsettled: opened.flow.steps.length,
    visits: 0,
    visited: undefined,
    failure: undefined,
    losses: undefined,
    result: undefined,
  };
  if (shape === undefined) failShape(turn, scope);
  else if (opened.flow.flow.kind === "machine") {
    turn.work.push({ type: "visitStep", scope, step: opened.flow.indexOf.get(opened.flow.flow.start) ?? 0 });
  } else openDag(turn, scope);
  return scope;
}

export function newStepState(visit: number, prior: StepState | undefined): StepState {
  return {
    visit,
    items: UNOPENED,
    phase: "closed",
    status: [],
    handle: [],
    known: undefined,
    need: undefined,
    held: undefined,
    queue: undefined,
    answered: undefined,
    running: 0,
    asking: 0,
    settled: 0,
    failure: undefined,
    lossesBefore: undefined,
    prior,
  };
}

function openDag(turn: Turn, scope: Scope): void {
  for (const { index, after } of scope.flow.steps) {
    const gate = after.reduce((count, need) => count + (isInside(scope.shape, index, need) ? 0 : 1), 0);
    scope.gates.push(gate);
    const follows = scope.shape[index] !== SINGLE && scope.shape[index] !== index;
    if (gate === 0 && !follows) turn.work.push({ type: "openStep", scope, step: index });
  }
  if (scope.unsettled === 0) turn.work.push({ type: "endScope", scope });
}

/** The dependency is met item by item. */
function isInside(shape: Shape, step: number, need: number): boolean {
  return shape[step] !== SINGLE && shape[step] === shape[need];
}

function decideShape(turn: Turn, flow: IndexedFlow, inputNames: ReadonlySet<string>): Shape | undefined {
  if (!flow.hasItemFields) return flow.plainShape;
  const decided = turn.decisions.decide((): readonly number[] | null => {
    const result = computeShape(flow, inputNames);
    return result.ok ? result.shape : null;
  });
  return decided ?? undefined;
}

function failShape(turn: Turn, scope: Scope): void {
  scope.phase = "failing";
  scope.failure = {
    code: "SHAPE_AMBIGUOUS",
    message: "A step names a field of an item, and with this input two fan-outs could give it.",
    seq: 0,
  };
  turn.work.push({ type: "endScope", scope });
}

function firstVariables(flow: IndexedFlow): Map<string, Variable> {
  const variables = flow.flow.kind === "machine" ? (flow.flow.variables ?? {}) : {};
  return new Map(Object.entries(variables).map(([name, value]: [string, Json]) => [name, { seq: 0, value }]));
}

import type { IndexedStep } from "../../../core/graph/indexed-graph.ts";
import { stepPath } from "../../../core/graph/step-path.ts";
import {
  type InstancePhase,
  type InstanceStatus,
  type Scope,
  SINGLE_ITEM,
  type StepState,
} from "../../../core/history/run-state.ts";
import { sizeOf } from "../../../core/interpreter/flow/settle.ts";
import type { StepStatus } from "../run-schemas.ts";
import type { RunHistory, StepHistory } from "./describe-run-history.ts";

/** A step instance, or a step that has none (yet). */
export interface StepEntry {
  readonly path: string;
  readonly step: IndexedStep;
  readonly item: number;
  readonly status: StepStatus;
  /** Absent where nothing has begun. */
  readonly history: StepHistory | undefined;
}

/** All steps as a tree read from the top: those of a dag as written and item by item, visits of a machine as they came. */
export function* stepsInOrder(history: RunHistory): Generator<StepEntry> {
  const { root } = history.state;
  if (root !== undefined) yield* stepsOfScope(new StepTree(history), root);
}

/** The status of a live instance. */
export function statusOfPhase(phase: InstancePhase): StepStatus {
  switch (phase) {
    case "blocked":
    case "parked":
    case "answered":
      return "pending";
    case "dispatched":
    case "binding":
    case "projecting":
    case "body":
    case "catch":
    case "finally":
      return "running";
    case "backoff":
      return "retrying";
    case "waiting":
      return "waiting";
    case "approval":
      return "awaiting_approval";
    case "held":
      return "held";
  }
}

export function statusOfEnd(status: InstanceStatus): StepStatus {
  switch (status) {
    case "pending":
    case "running":
    case "skipped":
    case "cancelled":
      return status;
    case "succeeded":
      return "completed";
    case "failed":
    case "lost":
    case "resumed":
      return "failed";
  }
}

/** What is inside what. */
export class StepTree {
  readonly history: RunHistory;
  readonly #inside = new Map<string, Scope[]>();

  constructor(history: RunHistory) {
    this.history = history;
    for (const scope of history.scopes.keys()) {
      if (scope.parent === undefined) continue;
      const scopes = this.#inside.get(scope.parent.path);
      if (scopes === undefined) this.#inside.set(scope.parent.path, [scope]);
      else scopes.push(scope);
    }
  }

  /** Passes through the step's flow, its `catch` and its `finally`. */
  scopesInside(path: string): readonly Scope[] {
    return this.#inside.get(path) ?? [];
  }
}

function* stepsOfScope(tree: StepTree, scope: Scope): Generator<StepEntry> {
  for (const entry of scope.flow.flow.kind === "machine" ? visitsOf(tree, scope) : instancesOf(tree, scope)) {
    yield entry;
    for (const inner of tree.scopesInside(entry.path)) yield* stepsOfScope(tree, inner);
  }
}

/** A machine's steps exist once they are visited. */
function* visitsOf({ history }: StepTree, scope: Scope): Generator<StepEntry> {
  for (const visit of history.scopes.get(scope) ?? []) yield begunEntry(visit);
}

function* instancesOf({ history }: StepTree, scope: Scope): Generator<StepEntry> {
  for (const step of scope.flow.steps) {
    const state = scope.steps[step.index];
    if (state === undefined || sizeOf(state) <= 0) {
      yield entryWithoutInstances(history, scope, step);
      continue;
    }
    for (const item of itemsOf(state)) yield entryOfItem(history, { scope, step, visit: 0, item, state });
  }
}

interface Item {
  readonly scope: Scope;
  readonly step: IndexedStep;
  /** Visit in a machine, from 1; 0 in a dag. */
  readonly visit: number;
  readonly item: number;
  readonly state: StepState;
}

/** An instance of a step that is open, whether it has begun or not. */
export function entryOfItem(history: RunHistory, { scope, step, visit, item, state }: Item): StepEntry {
  const path = stepPath(scope.path, step.escapedId, visit, item);
  const begun = history.steps.get(path);
  if (begun !== undefined) return begunEntry(begun);
  const idle = idleStatus(scope, state.status[Math.max(0, item)]);
  // A machine leaves a step of which one item has failed, and begins no more of them.
  const status = idle === "pending" && state.phase === "settled" ? "skipped" : idle;
  return { path, step, item, status, history: undefined };
}

/** A step that was not reached, or a fan-out over nothing. */
export function entryWithoutInstances(history: RunHistory, scope: Scope, step: IndexedStep): StepEntry {
  const path = stepPath(scope.path, step.escapedId, 0, SINGLE_ITEM);
  const isEmpty = scope.steps[step.index]?.items === 0;
  const status = history.failures.has(path) ? "failed" : isEmpty ? "completed" : idleStatus(scope, "pending");
  return { path, step, item: SINGLE_ITEM, status, history: undefined };
}

function* itemsOf(state: StepState): Generator<number> {
  if (state.items === SINGLE_ITEM) yield SINGLE_ITEM;
  else for (let item = 0; item < state.items; item += 1) yield item;
}

/** A step that has not begun never will, if its flow takes nothing new. */
function idleStatus({ phase }: Scope, status: InstanceStatus = "pending"): StepStatus {
  return status === "pending" && phase !== "open" ? "skipped" : statusOfEnd(status);
}

export function begunEntry(history: StepHistory): StepEntry {
  const { path, step, item, life } = history;
  const status = life.is === "live" ? statusOfPhase(life.instance.phase) : statusOfEnd(life.status);
  return { path, step, item, status, history };
}

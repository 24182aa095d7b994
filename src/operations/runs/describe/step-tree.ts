import type { IndexedStep } from "../../../core/graph/indexed-graph.ts";
import { SINGLE } from "../../../core/graph/shape.ts";
import { stepPath } from "../../../core/graph/step-path.ts";
import { type Handle, type Scope, SINGLE_ITEM, type StepState } from "../../../core/history/run-state.ts";
import type { StepStatus } from "../run-schemas.ts";
import type { RunHistory } from "./describe-run-history.ts";
import { type StepFailure, type StepHistory, statusOfEnd } from "./step-history.ts";

export type StepNode = StepEntry | FanOut;

/** A step instance, or a step that has none (yet). */
export interface StepEntry {
  readonly is: "instance";
  readonly path: string;
  readonly scope: Scope;
  readonly step: IndexedStep;
  /** Index in the fan-out, -1 without one. */
  readonly item: number;
  readonly status: StepStatus;
  readonly failure: StepFailure | undefined;
  /** Its output; 0: none. */
  readonly output: Handle;
  /** Absent where nothing has begun. */
  readonly history: StepHistory | undefined;
}

export interface FanOut {
  readonly is: "fan-out";
  /** The path of its items, without their numbers. */
  readonly path: string;
  readonly scope: Scope;
  readonly step: IndexedStep;
  /** Visit in a machine, from 1; 0 in a dag. */
  readonly visit: number;
  /** Undefined: nobody knows yet. */
  readonly items: number | undefined;
}

/**
 * The steps of a run, read from its history and its graph: of a dag all as written, whether they have begun or not; of a
 * machine its visits as they came. Each stands before what is inside it.
 */
export class StepTree {
  readonly #history: RunHistory;
  /** Passes through a step's flow, its `catch` and its `finally`. */
  readonly #inside = new Map<string, Scope[]>();

  constructor(history: RunHistory) {
    this.#history = history;
    for (const scope of history.scopes.keys()) {
      if (scope.parent === undefined) continue;
      const scopes = this.#inside.get(scope.parent.path);
      if (scopes === undefined) this.#inside.set(scope.parent.path, [scope]);
      else scopes.push(scope);
    }
  }

  /** All of the run, with each fan-out as one. */
  *nodes(): Generator<StepNode> {
    const { root } = this.#history.state;
    if (root !== undefined) yield* this.#within(root);
  }

  /** All of the run, item by item. A fan-out over nothing, or over what is not yet known, is one entry. */
  *entries(nodes: Iterable<StepNode> = this.nodes()): Generator<StepEntry> {
    for (const node of nodes) {
      if (node.is === "instance") yield node;
      else if (node.items === undefined || node.items === 0) yield this.#withoutItems(node);
      else for (const item of this.itemsOf(node)) yield* this.entries(this.#withInside(item));
    }
  }

  /** The items of the fan-out at this path; else the instance there, and what is inside it. Undefined: there is neither. */
  under(path: string): Iterable<StepNode> | undefined {
    const node = this.find(path);
    if (node === undefined) return undefined;
    return node.is === "fan-out" ? this.itemsOf(node) : this.#withInside(node);
  }

  find(path: string): StepNode | undefined {
    const begun = this.#history.steps.get(path);
    if (begun !== undefined) return entryOf(begun);
    const outer = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    const [fanOut, item] = /^(.*)\[(\d+)\]$/.exec(path)?.slice(1) ?? [];
    for (const scope of this.#scopesAt(outer)) {
      for (const node of this.#nodesOf(scope)) {
        if (node.path === path) return node;
        if (node.path === fanOut && node.is === "fan-out" && Number(item) < (node.items ?? 0))
          return this.#itemOf(node, Number(item));
      }
    }
    return undefined;
  }

  *itemsOf(node: FanOut): Generator<StepEntry> {
    for (let item = 0; item < (node.items ?? 0); item += 1) yield this.#itemOf(node, item);
  }

  /** Why it never came to have items. */
  failureOf({ path, scope }: FanOut): StepFailure | undefined {
    const { failures } = (scope.parent === undefined ? this.#history.state : scope.losses) ?? { failures: [] };
    return failures.find((failure) => failure.path === path);
  }

  /** How many instances have begun in the flows of an instance, without those inside them in turn. */
  countInside(path: string): number {
    return this.#scopesInside(path).reduce((sum, scope) => sum + (this.#history.scopes.get(scope)?.length ?? 0), 0);
  }

  /** The graph that a call has called. */
  calledBy({ path, scope }: StepNode): Scope["frame"] | undefined {
    return this.#scopesInside(path).find(({ frame }) => frame !== scope.frame)?.frame;
  }

  #scopesInside(path: string): readonly Scope[] {
    return this.#inside.get(path) ?? [];
  }

  *#within(scope: Scope): Generator<StepNode> {
    for (const node of this.#nodesOf(scope)) {
      if (node.is === "fan-out") yield node;
      else yield* this.#withInside(node);
    }
  }

  *#withInside(entry: StepEntry): Generator<StepNode> {
    yield entry;
    for (const inner of this.#scopesInside(entry.path)) yield* this.#within(inner);
  }

  #nodesOf(scope: Scope): Generator<StepNode> {
    return scope.flow.flow.kind === "machine" ? this.#visitsOf(scope) : this.#stepsOf(scope);
  }

  /** A machine's steps exist once they are visited. */
  *#visitsOf(scope: Scope): Generator<StepNode> {
    let last: string | undefined;
    for (const begun of this.#history.scopes.get(scope) ?? []) {
      const { step, item, items } = begun;
      if (item === SINGLE_ITEM) {
        yield entryOf(begun);
        continue;
      }
      const path = begun.path.slice(0, begun.path.lastIndexOf("["));
      if (path === last) continue;
      last = path;
      yield { is: "fan-out", path, scope, step, visit: Number(path.slice(path.lastIndexOf("#") + 1)), items };
    }
  }

  *#stepsOf(scope: Scope): Generator<StepNode> {
    for (const step of scope.flow.steps) {
      const { items } = scope.steps[step.index] ?? {};
      const path = stepPath(scope.path, step.escapedId, 0, SINGLE_ITEM);
      const isFanOut = items !== SINGLE_ITEM && scope.shape[step.index] !== SINGLE;
      const known = items === undefined || items < 0 ? undefined : items;
      const fanOut = { is: "fan-out", path, scope, step, visit: 0, items: known } as const;
      yield isFanOut ? fanOut : this.#itemOf(fanOut, SINGLE_ITEM);
    }
  }

  /** An instance of a step, whether it has begun or not. */
  #itemOf({ scope, step, visit }: FanOut, item: number): StepEntry {
    const path = stepPath(scope.path, step.escapedId, visit, item);
    const begun = this.#history.steps.get(path);
    if (begun !== undefined) return entryOf(begun);
    const state = scope.steps[step.index];
    const status =
      state?.visit === visit ? idleStatus(scope, state, item) : visit === 0 ? idleStatus(scope) : "skipped";
    return { is: "instance", path, scope, step, item, status, failure: undefined, output: 0, history: undefined };
  }

  #withoutItems(node: FanOut): StepEntry {
    const { path, scope, step, items } = node;
    const failure = this.failureOf(node);
    const status = failure !== undefined ? "failed" : items === 0 ? "completed" : idleStatus(scope);
    const output = status === "completed" ? EMPTY_LIST : 0;
    return { is: "instance", path, scope, step, item: SINGLE_ITEM, status, failure, output, history: undefined };
  }

  *#scopesAt(path: string): Generator<Scope> {
    const { root } = this.#history.state;
    if (path === "" && root !== undefined) yield root;
    for (const scope of this.#history.scopes.keys()) if (scope !== root && scope.path === path) yield scope;
  }
}

/** The output of a fan-out over nothing. */
const EMPTY_LIST: Handle = { kind: "list", handles: [] };

export function entryOf(history: StepHistory): StepEntry {
  const { path, scope, step, item, status, failure, life } = history;
  const output = status === "completed" && life.is === "ended" ? life.handle : 0;
  return { is: "instance", path, scope, step, item, status, failure, output, history };
}

/** A step that has not begun never will if its flow takes nothing new, or if a machine has left it. */
function idleStatus({ phase }: Scope, state?: StepState, item = SINGLE_ITEM): StepStatus {
  const status = statusOfEnd(state?.status[Math.max(0, item)] ?? "pending");
  return status === "pending" && (phase !== "open" || state?.phase === "settled") ? "skipped" : status;
}

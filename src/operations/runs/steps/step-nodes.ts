import type { IndexedStep } from "../../../core/graph/indexed-graph.ts";
import { SINGLE } from "../../../core/graph/shape.ts";
import { stepPath } from "../../../core/graph/step-path.ts";
import { type Scope, SINGLE_ITEM, type StepState } from "../../../core/history/run-state.ts";
import type { RunHistory } from "../describe/describe-run-history.ts";
import {
  begunEntry,
  entryOfItem,
  entryWithoutInstances,
  type StepEntry,
  StepTree,
} from "../describe/describe-run-steps.ts";

/** What a page of steps lists: an instance, or a fan-out as one. */
export type StepNode = InstanceNode | FanOutNode;

export interface InstanceNode {
  readonly is: "instance";
  readonly path: string;
  readonly scope: Scope;
  readonly entry: StepEntry;
}

export interface FanOutNode {
  readonly is: "fan-out";
  /** The path of its items, without their numbers. */
  readonly path: string;
  readonly scope: Scope;
  readonly step: IndexedStep;
  /** Visit in a machine, from 1; 0 in a dag. */
  readonly visit: number;
}

/** The steps of a run as a tree whose fan-outs are closed. */
export class StepNodes {
  readonly #history: RunHistory;
  readonly #tree: StepTree;

  constructor(history: RunHistory) {
    this.#history = history;
    this.#tree = new StepTree(history);
  }

  /** All of the run. */
  *all(): Generator<StepNode> {
    const { root } = this.#history.state;
    if (root !== undefined) yield* this.#within(root);
  }

  /** The items of the fan-out at this path; else the instance there, and what is inside it. Undefined: there is neither. */
  under(path: string): Iterable<StepNode> | undefined {
    const node = this.find(path);
    if (node === undefined) return undefined;
    return node.is === "fan-out" ? this.itemsOf(node) : this.#withInside(node);
  }

  find(path: string): StepNode | undefined {
    const begun = this.#history.steps.get(path);
    if (begun !== undefined) return { is: "instance", path, scope: begun.scope, entry: begunEntry(begun) };
    const outer = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    const [fanOut, item] = /^(.*)\[(\d+)\]$/.exec(path)?.slice(1) ?? [];
    for (const scope of this.#scopesAt(outer)) {
      for (const node of this.#nodesOf(scope)) {
        if (node.path === path) return node;
        if (node.path !== fanOut || node.is === "instance") continue;
        const state = this.#stateOf(node);
        if (state === undefined || Number(item) >= state.items) continue;
        return this.#toItem(node, entryOfItem(this.#history, { ...node, item: Number(item), state }));
      }
    }
    return undefined;
  }

  *itemsOf(node: FanOutNode): Generator<InstanceNode> {
    const state = this.#stateOf(node);
    // Of earlier visits of a machine's step only what has begun is known.
    if (state === undefined) {
      for (const begun of this.#history.scopes.get(node.scope) ?? [])
        if (begun.path.startsWith(`${node.path}[`)) yield this.#toItem(node, begunEntry(begun));
      return;
    }
    for (let item = 0; item < state.items; item += 1)
      yield this.#toItem(node, entryOfItem(this.#history, { ...node, item, state }));
  }

  /** Undefined: nobody knows yet. */
  countItems(node: FanOutNode): number | undefined {
    const state = this.#stateOf(node);
    if (state !== undefined) return state.items < 0 ? undefined : state.items;
    return node.visit === 0 ? undefined : [...this.itemsOf(node)].length;
  }

  /** How many instances have begun in the flows of an instance, without those inside them in turn. */
  countInside(path: string): number {
    return this.#tree
      .scopesInside(path)
      .reduce((sum, scope) => sum + (this.#history.scopes.get(scope)?.length ?? 0), 0);
  }

  /** The graph that a call has called. */
  calledBy({ path, scope }: StepNode): Scope["frame"] | undefined {
    return this.#tree.scopesInside(path).find(({ frame }) => frame !== scope.frame)?.frame;
  }

  *#within(scope: Scope): Generator<StepNode> {
    for (const node of this.#nodesOf(scope)) {
      if (node.is === "fan-out") yield node;
      else yield* this.#withInside(node);
    }
  }

  *#withInside(node: InstanceNode): Generator<StepNode> {
    yield node;
    for (const inner of this.#tree.scopesInside(node.path)) yield* this.#within(inner);
  }

  #nodesOf(scope: Scope): Generator<StepNode> {
    return scope.flow.flow.kind === "machine" ? this.#visitsOf(scope) : this.#stepsOf(scope);
  }

  /** A machine's steps exist once they are visited. */
  *#visitsOf(scope: Scope): Generator<StepNode> {
    let last: string | undefined;
    for (const begun of this.#history.scopes.get(scope) ?? []) {
      const { step, item } = begun;
      if (item === SINGLE_ITEM) {
        yield { is: "instance", path: begun.path, scope, entry: begunEntry(begun) };
        continue;
      }
      const path = begun.path.slice(0, begun.path.lastIndexOf("["));
      if (path === last) continue;
      last = path;
      yield { is: "fan-out", path, scope, step, visit: Number(path.slice(path.lastIndexOf("#") + 1)) };
    }
  }

  *#stepsOf(scope: Scope): Generator<StepNode> {
    for (const step of scope.flow.steps) {
      const state = scope.steps[step.index];
      const path = stepPath(scope.path, step.escapedId, 0, SINGLE_ITEM);
      if (state?.items !== SINGLE_ITEM && scope.shape[step.index] !== SINGLE) {
        yield { is: "fan-out", path, scope, step, visit: 0 };
        continue;
      }
      const isOpen = state !== undefined && state.items === SINGLE_ITEM;
      const entry = isOpen
        ? entryOfItem(this.#history, { scope, step, item: SINGLE_ITEM, state, visit: 0 })
        : entryWithoutInstances(this.#history, scope, step);
      yield { is: "instance", path, scope, entry };
    }
  }

  #toItem({ scope }: FanOutNode, entry: StepEntry): InstanceNode {
    return { is: "instance", path: entry.path, scope, entry };
  }

  #stateOf({ scope, step, visit }: FanOutNode): StepState | undefined {
    let state = scope.steps[step.index];
    while (state !== undefined && state.visit !== visit) state = state.prior;
    return state;
  }

  *#scopesAt(path: string): Generator<Scope> {
    const { root } = this.#history.state;
    if (path === "" && root !== undefined) yield root;
    for (const scope of this.#history.scopes.keys()) if (scope !== root && scope.path === path) yield scope;
  }
}

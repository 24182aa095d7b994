import { SINGLE } from "../graph/shape.ts";
import type { Instance, Scope } from "../history/run-state.ts";

/**
 * The steps that depend on the target of a rerun or fork. An old outcome may be reused only where this is false (and where
 * the bound input is the same). Decided on live instances, when they are about to be dispatched: their scopes know which
 * items follow which fan-out, and how far a machine has come. The target is a path; a fan-out's step means all its items,
 * and the empty path the whole run.
 */
export class Downstream {
  readonly #target: string;
  /** Per scope that holds the target: what of it depends on the target. Computed once, asked for every step. */
  readonly #reached = new WeakMap<Scope, Reached>();

  constructor(target: string) {
    this.#target = target;
  }

  /** The target itself, what is inside it, what it is inside of, and all that comes after. Throws on what is no path. */
  has(instance: Instance): boolean {
    if (this.#target === "") return true;
    const inside = sideRank(instance.path, this.#target);
    if (inside !== undefined) return inside < CATCH;
    let at = instance;
    for (;;) {
      const segment = segmentIn(at.scope, this.#target);
      if (segment !== undefined) return this.#isReached(at, segment);
      const { parent } = at.scope;
      if (parent === undefined) throw new Error(`"${this.#target}" is no path.`);
      const side = this.#sideOf(parent, at.scope);
      if (side !== undefined) return side;
      at = parent;
    }
  }

  /** The target is in another try, the `catch` or the `finally` of the same instance: later ones come after earlier ones. */
  #sideOf(parent: Instance, scope: Scope): boolean | undefined {
    const target = sideRank(parent.path, this.#target);
    return target === undefined ? undefined : (sideRank(parent.path, `${scope.path}/`) ?? 0) > target;
  }

  #isReached(at: Instance, segment: Segment): boolean {
    const index = at.scope.flow.steps.findIndex(({ escapedId }) => escapedId === segment.id);
    const isSameStep = at.step.index === index && at.visit === segment.visit;
    if (isSameStep) return segment.item === undefined || segment.item === at.item;
    if (at.scope.flow.flow.kind === "machine") return (at.scope.steps[index]?.visit ?? 0) >= segment.visit;
    const reached = this.#reachedIn(at.scope, index, segment.item);
    return reached.whole.has(at.step.index) || (reached.perItem.has(at.step.index) && at.item === segment.item);
  }

  #reachedIn(scope: Scope, step: number, item: number | undefined): Reached {
    const known = this.#reached.get(scope);
    if (known !== undefined) return known;
    const reached = reach(scope, step, item);
    this.#reached.set(scope, reached);
    return reached;
  }
}

/** Steps that depend on the target with all their items, or only with the target's own item. */
interface Reached {
  readonly whole: ReadonlySet<number>;
  readonly perItem: ReadonlySet<number>;
}

function reach(scope: Scope, target: number, item: number | undefined): Reached {
  const whole = new Set<number>();
  const perItem = new Set<number>();
  const pending = [{ step: target, isWhole: item === undefined }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const dependent of scope.flow.steps[next.step]?.dependents ?? []) {
      const isWhole = next.isWhole || !isSameDomain(scope, next.step, dependent);
      const seen = isWhole ? whole : perItem;
      if (seen.has(dependent)) continue;
      seen.add(dependent);
      pending.push({ step: dependent, isWhole });
    }
  }
  return { whole, perItem };
}

function isSameDomain({ shape }: Scope, a: number, b: number): boolean {
  return shape[a] !== SINGLE && shape[a] === shape[b];
}

interface Segment {
  readonly id: string;
  readonly visit: number;
  readonly item: number | undefined;
}

/** The step of this scope in which the target lies; undefined if it lies elsewhere. */
function segmentIn(scope: Scope, target: string): Segment | undefined {
  const prefix = scope.path === "" ? "" : `${scope.path}/`;
  if (!target.startsWith(prefix)) return undefined;
  const match = /^([^/#[~]+)(?:#(\d+))?(?:\[(\d+)\])?/.exec(target.slice(prefix.length));
  if (match === null) return undefined;
  const [, id = "", visit, item] = match;
  return { id, visit: Number(visit ?? 0), item: item === undefined ? undefined : Number(item) };
}

const CATCH = Number.MAX_SAFE_INTEGER - 1;
const FINALLY = Number.MAX_SAFE_INTEGER;

/** The order of a path inside an instance: its tries, then `catch`, then `finally`. */
function sideRank(instance: string, path: string): number | undefined {
  if (!path.startsWith(instance)) return undefined;
  const match = /^(?:~(retry(\d+)|catch|finally))?\//.exec(path.slice(instance.length));
  if (match === null) return undefined;
  const [, side, tries] = match;
  if (side === "catch") return CATCH;
  return side === "finally" ? FINALLY : Number(tries ?? 0);
}

import { writeExact } from "../exact-json.ts";
import { evaluate } from "../expressions/evaluate.ts";
import type { Expr, KnownExpr, PathExpr } from "../expressions/expr.ts";
import { readPath } from "../expressions/read-path.ts";
import { mapChildren, walkPaths } from "../expressions/walk-paths.ts";
import type { Json } from "../json.ts";
import type { Each, Flow, Graph, Step, Transition } from "./graph.ts";
import { widestShape } from "./shape.ts";
import { triedOf } from "./steps-within.ts";

/**
 * Makes control decidable without values: whatever a condition, a list length or a transition reads of an output is
 * moved to the step that produces the output (`project`), evaluated there once when the output arrives and recorded in
 * its event. What stays behind reads the recorded result (`known`). The result is what is pinned and run.
 */
export function liftControls(graph: Graph): Graph {
  const lifter = new Lifter();
  const flow = lifter.liftFlow(graph.flow, undefined);
  const project = lifter.projectionsOf(INPUT);
  return {
    ...graph,
    input: { ...graph.input, project },
    flow: lifter.attach(flow),
  };
}

const INPUT = "input";

/** Steps as seen from one flow, inner ones first. */
export interface Names {
  readonly steps: ReadonlyMap<string, Step>;
  readonly outer: Names | undefined;
  /** The list that `item` runs over here. */
  readonly list?: { readonly expr: Expr; readonly from: Names; readonly coerce: boolean };
}

export function namesIn(flow: Flow, outer: Names | undefined): Names {
  return { steps: new Map(flow.steps.map((step) => [step.id, step])), outer };
}

type Source = Step | typeof INPUT;

class Lifter {
  readonly #projections = new Map<Source, Map<string, Expr>>();
  /** From a lifted step to the original that projections were booked on. */
  readonly #originals = new Map<Step, Step>();

  projectionsOf(source: Source): { [key: string]: Expr } | undefined {
    const projections = this.#projections.get(source);
    return projections === undefined ? undefined : Object.fromEntries(projections);
  }

  liftFlow(flow: Flow, outer: Names | undefined): Flow {
    const names = namesIn(flow, outer);
    const shape = widestShape(flow);
    const lists = shape.map((origin) => flow.steps[origin]?.each);
    return { ...flow, steps: flow.steps.map((step, index) => this.#liftStep(step, names, lists[index])) } as Flow;
  }

  /** Second pass, when all projections are known. */
  attach(flow: Flow): Flow {
    return { ...flow, steps: flow.steps.map((step) => this.#attachStep(step)) } as Flow;
  }

  #attachStep(step: Step): Step {
    const project = this.projectionsOf(this.#originals.get(step) ?? step);
    return {
      ...step,
      ...(step.kind === "flow" ? { flow: this.attach(step.flow) } : {}),
      ...(step.catch === undefined ? {} : { catch: this.attach(step.catch) }),
      ...(step.finally === undefined ? {} : { finally: this.attach(step.finally) }),
      project,
    } as Step;
  }

  /** `domain`: the fan-out that the step opens or follows. */
  #liftStep(step: Step, names: Names, domain: Each | undefined): Step {
    const { each } = step;
    const inner: Names =
      domain === undefined
        ? names
        : { ...names, list: { expr: domain.list, from: names, coerce: domain.coerce === true } };
    const tried = triedOf(step);
    const beside = tried === undefined ? inner : namesIn(tried, inner);
    const lifted = {
      ...step,
      ...(each === undefined ? {} : { each: this.#liftEach(each, names) }),
      ...(step.when === undefined ? {} : { when: this.#lift(step.when, inner, step) }),
      ...(step.transitions === undefined
        ? {}
        : { transitions: step.transitions.map((transition) => this.#liftTransition(transition, inner, step)) }),
      ...(step.kind === "flow" ? { flow: this.liftFlow(step.flow, inner) } : {}),
      ...(step.catch === undefined ? {} : { catch: this.liftFlow(step.catch, beside) }),
      ...(step.finally === undefined ? {} : { finally: this.liftFlow(step.finally, beside) }),
    } as Step;
    this.#originals.set(lifted, step);
    return lifted;
  }

  #liftEach(each: Each, names: Names): Each {
    return { ...each, count: this.#lift({ op: "call", fn: "itemCount", args: [each.list] }, names, undefined) };
  }

  #liftTransition(transition: Transition, names: Names, step: Step): Transition {
    return transition.when === undefined
      ? transition
      : { ...transition, when: this.#lift(transition.when, names, step) };
  }

  /** Whole where all paths lead to one source, else piece by piece. */
  #lift(expr: Expr, names: Names, self: Step | undefined): Expr {
    const home = homeOf(expr, names, self);
    if (home === "nowhere") return expr;
    if (home !== "mixed") return this.#book(home, expr);
    if (expr.op === "map" || expr.op === "filter" || expr.op === "reduce") return { op: "literal", value: null };
    return mapChildren(expr, (child) => this.#lift(child, names, self));
  }

  #book(home: Home, expr: Expr): KnownExpr {
    const local = localize(expr, home);
    const key = this.#keyOf(home.source, local);
    const step = home.source === INPUT ? "" : home.source.id;
    return {
      op: "known",
      step,
      key,
      ...(home.list === undefined ? {} : { column: true }),
      at: home.at,
      ...withoutOutput(local),
    };
  }

  #keyOf(source: Source, expr: Expr): string {
    const projections = this.#projections.get(source) ?? new Map<string, Expr>();
    this.#projections.set(source, projections);
    const text = writeExact(expr);
    for (const [key, known] of projections) if (writeExact(known) === text) return key;
    const key = `k${projections.size}`;
    projections.set(key, expr);
    return key;
  }
}

/** The origin of a control value. */
interface Home {
  readonly source: Source;
  /** Set where it is a column over the items of this list. */
  readonly list?: { readonly expr: Expr; readonly coerce: boolean };
  /** The instance of a fan-out that the path names. */
  readonly at?: number;
}

/** The one output (or the input) that the expression reads. `nowhere`: none; `mixed`: more than one, or state beside it. */
export function homeOf(expr: Expr, names: Names, self: Step | undefined): Home | "nowhere" | "mixed" {
  let home: Home | "nowhere" | "mixed" = "nowhere";
  walkPaths(expr, (path) => {
    const next = homeOfPath(path, names, self);
    if (next === undefined || home === "mixed") return;
    if (home === "nowhere") home = next;
    else if (!isSameHome(home, next)) home = "mixed";
  });
  // A value of the state (a variable, the index) beside an output cannot travel to the output.
  if (home !== "nowhere" && home !== "mixed" && readsState(expr)) return expr.op === "path" ? home : "mixed";
  return home;
}

function homeOfPath(path: PathExpr, names: Names, self: Step | undefined): Home | undefined {
  if (path.root === "input") return { source: INPUT };
  if (path.root === "output") return self === undefined ? undefined : { source: self };
  if (path.root === "steps") {
    const source = findStep(names, path.name ?? "");
    if (source === undefined) return undefined;
    const [first] = path.path;
    return source.each !== undefined && typeof first === "number" ? { source, at: first } : { source };
  }
  if (path.root !== "item") return undefined;
  const list = findList(names);
  if (list === undefined) return undefined;
  const home = homeOfList(list.expr, list.from);
  return home === undefined ? undefined : { source: home, list };
}

function homeOfList(list: Expr, names: Names): Source | undefined {
  const sources = new Set<Source | undefined>();
  walkPaths(list, (path) => sources.add(homeOfPath(path, names, undefined)?.source));
  const [source] = sources;
  return sources.size === 1 ? source : undefined;
}

function findStep(names: Names, id: string): Step | undefined {
  return names.steps.get(id) ?? (names.outer === undefined ? undefined : findStep(names.outer, id));
}

function findList(names: Names): Names["list"] {
  return names.list ?? (names.outer === undefined ? undefined : findList(names.outer));
}

function isSameHome(a: Home, b: Home): boolean {
  return a.source === b.source && a.list?.expr === b.list?.expr && a.at === b.at;
}

/** What the state of a run says by itself. */
const OF_STATE: ReadonlySet<PathExpr["root"]> = new Set(["vars", "index", "error", "done", "run"]);

function readsState(expr: Expr): boolean {
  let found = false;
  walkPaths(expr, (path) => {
    if (OF_STATE.has(path.root)) found = true;
  });
  return found;
}

/** The same expression as it reads at the source, where the value is `output` (or still `input`). */
function localize(expr: Expr, home: Home): Expr {
  if (home.list !== undefined) {
    const list: Expr = home.list.coerce ? { op: "call", fn: "asList", args: [home.list.expr] } : home.list.expr;
    return { op: "map", list: localize(list, { source: home.source }), as: "item", body: itemToLocal(expr) };
  }
  if (expr.op !== "path") return mapChildren(expr, (child) => localize(child, home));
  if (expr.root !== "steps") return expr;
  const { name: _, ...rest } = expr;
  return { ...rest, root: "output", path: home.at === undefined ? expr.path : expr.path.slice(1) };
}

/** Nothing but the output is read: without one the value is settled here. */
function withoutOutput(local: Expr): Pick<KnownExpr, "ifNull" | "ifMissing"> {
  const valueOn = (output: Json | undefined) =>
    evaluate(local, { path: ({ root, path }) => (root === "output" ? readPath(output, path) : undefined) });
  const ifNull = valueOn(null);
  const ifMissing = valueOn(undefined);
  return { ifNull, ifMissing };
}

function itemToLocal(expr: Expr): Expr {
  if (expr.op === "path") return expr.root === "item" ? { ...expr, root: "local", name: "item" } : expr;
  return mapChildren(expr, itemToLocal);
}

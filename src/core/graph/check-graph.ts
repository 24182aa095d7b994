import type { Expr, PathExpr } from "../expressions/expr.ts";
import { childrenOf } from "../expressions/walk-paths.ts";
import { checkControls, type GraphProblem } from "./check-controls.ts";
import { exprsOfWait } from "./event-match.ts";
import type { Flow, Graph, Step } from "./graph.ts";
import { flowsInside, orderSteps } from "./steps-within.ts";

const MAX_EXPRESSION_DEPTH = 200;
const MAX_FLOW_DEPTH = 50;

/**
 * Finds inconsistencies in a graph of any dialect: the interpreter relies on all of this and checks none of
 * it again. Everything is reported at once. Takes graphs before and after `liftControls`; what control cannot decide is
 * only seen before.
 */
export function checkGraph(graph: Graph): readonly GraphProblem[] {
  const checker = new Checker();
  checker.checkFlow(graph.flow, { path: "", depth: 1, outer: [] });
  checker.checkExpr(graph.ending.storagePath, "the storage path", undefined);
  checker.checkExpr(graph.concurrency?.key, "the key of `concurrency`", undefined);
  checker.checkExpr(graph.rate?.key, "the key of `rate`", undefined);
  checker.checkLimits(graph);
  // The rest only means something in a graph whose steps are where they should be.
  return checker.problems.length > 0 ? checker.problems : checkControls(graph);
}

interface Place {
  readonly path: string;
  readonly depth: number;
  /** Ids that are visible from the flows around, innermost last. */
  readonly outer: readonly ReadonlySet<string>[];
}

class Checker {
  readonly problems: GraphProblem[] = [];

  checkFlow(flow: Flow, place: Place): void {
    if (place.depth > MAX_FLOW_DEPTH) {
      this.#add(`Flows are nested more than ${MAX_FLOW_DEPTH} deep.`, place.path);
      return;
    }
    const ids = new Set(flow.steps.map(({ id }) => id));
    if (ids.size < flow.steps.length) {
      for (const id of duplicates(flow.steps)) this.#add(`Two steps have the id "${id}".`, place.path);
    }
    if (flow.kind === "dag") this.#checkDag(flow, ids, place);
    else this.#checkMachine(flow, ids, place);
    for (const step of flow.steps) this.#checkStep(step, { ...place, outer: [...place.outer, ids] });
  }

  checkExpr(
    expr: Expr | undefined,
    what: string,
    path: string | undefined,
    visible: readonly ReadonlySet<string>[] = [],
  ): void {
    if (expr === undefined) return;
    if (isDeeperThan(expr, MAX_EXPRESSION_DEPTH)) {
      this.#add(`${capitalized(what)} is nested more than ${MAX_EXPRESSION_DEPTH} deep.`, path);
      return;
    }
    this.#checkNames(expr, { what, path, visible, locals: new Set() });
  }

  checkLimits({ limits: { uses = {}, onExceeded = "stop", ...limits } }: Graph): void {
    if (onExceeded !== "stop" && onExceeded !== "ask")
      this.#add(`What happens where a limit is used up is ${String(onExceeded)}.`, undefined);
    for (const [name, value] of Object.entries({ ...limits, ...uses })) {
      // With no place for a step no run would ever end.
      const least = name === "maxInFlight" ? 1 : 0;
      if (value !== undefined && !(isCount(value) && value >= least))
        this.#add(`The limit ${name} is ${String(value)}, and should be a whole number from ${least}.`, undefined);
    }
  }

  #checkDag(flow: Extract<Flow, { kind: "dag" }>, ids: ReadonlySet<string>, { path }: Place): void {
    for (const step of flow.steps) {
      for (const need of step.after ?? []) {
        if (!ids.has(need)) this.#add(`It runs after "${need}", which does not exist.`, keyOf(path, step));
      }
    }
    if (orderSteps(flow.steps).order.length < flow.steps.length)
      this.#add("Steps depend on each other in a circle.", path);
    if (flow.result !== undefined && !ids.has(flow.result)) this.#add(`The result "${flow.result}" is no step.`, path);
  }

  #checkMachine(flow: Extract<Flow, { kind: "machine" }>, ids: ReadonlySet<string>, { path }: Place): void {
    if (!ids.has(flow.start)) this.#add(`The start "${flow.start}" is no step.`, path);
    if (flow.maxVisits !== undefined && !isCount(flow.maxVisits))
      this.#add("The limit of visits is no whole number.", path);
    for (const step of flow.steps) {
      for (const { to } of step.transitions ?? []) {
        if (typeof to === "string" && !ids.has(to))
          this.#add(`A transition leads to "${to}", which does not exist.`, keyOf(path, step));
      }
    }
  }

  #checkStep(step: Step, place: Place): void {
    const path = keyOf(place.path, step);
    const { each, retry } = step;
    if (step.id === "") this.#add("A step has no id.", place.path);
    if (step.maxCostMicro !== undefined && !isCount(step.maxCostMicro))
      this.#add("What a step may cost is an amount from 0.", path);
    if (each !== undefined && !(isCount(each.maxConcurrent) && each.maxConcurrent > 0))
      this.#add("The window of a fan-out is a whole number from 1.", path);
    if (retry !== undefined) this.#checkRetry(retry, path);
    for (const [what, expr] of exprsOf(step)) this.checkExpr(expr, what, path, place.outer);
    for (const { flow, suffix, tried } of flowsInside(step)) {
      const outer = tried === undefined ? place.outer : [...place.outer, new Set(tried.steps.map(({ id }) => id))];
      this.checkFlow(flow, { path: `${path}${suffix}`, depth: place.depth + 1, outer });
    }
  }

  #checkRetry({ maxAttempts, initialMs, maxMs, jitter }: NonNullable<Step["retry"]>, path: string): void {
    if (!(isCount(maxAttempts) && maxAttempts > 0)) this.#add("A step is tried a whole number of times, from 1.", path);
    if (!(initialMs >= 0 && maxMs >= 0 && Number.isFinite(initialMs) && Number.isFinite(maxMs)))
      this.#add("The delays of a retry are finite and not negative.", path);
    if (!(jitter >= 0 && jitter <= 1)) this.#add("The jitter of a retry is a share from 0 to 1.", path);
  }

  #checkNames(expr: Expr, seen: Seen): void {
    if (expr.op === "path") this.#checkPath(expr, seen);
    if (expr.op === "known" && expr.step !== "" && !isVisible(seen.visible, expr.step))
      this.#addUnknown(expr.step, seen);
    if (expr.op === "map" || expr.op === "filter") {
      this.#checkNames(expr.list, seen);
      this.#checkNames(expr.body, { ...seen, locals: new Set([...seen.locals, expr.as]) });
    } else if (expr.op === "reduce") {
      for (const outside of [expr.list, expr.first]) this.#checkNames(outside, seen);
      this.#checkNames(expr.body, { ...seen, locals: new Set([...seen.locals, expr.as, expr.into]) });
    } else for (const child of childrenOf(expr)) this.#checkNames(child, seen);
  }

  #checkPath({ root, name }: PathExpr, seen: Seen): void {
    const isNamed = root === "steps" || root === "vars" || root === "local" || root === "env" || root === "storage";
    if (isNamed && name === undefined) this.#add(`In ${seen.what}, "${root}" needs a name.`, seen.path);
    else if (root === "steps" && name !== undefined && !isVisible(seen.visible, name)) this.#addUnknown(name, seen);
    else if (root === "local" && name !== undefined && !seen.locals.has(name))
      this.#add(`In ${seen.what}, the local "${name}" is not bound.`, seen.path);
  }

  #addUnknown(step: string, { what, path }: Seen): void {
    this.#add(`In ${what}, the step "${step}" is not visible.`, path);
  }

  #add(message: string, path: string | undefined): void {
    this.problems.push({ code: "GRAPH_INVALID", message, ...(path === undefined || path === "" ? {} : { path }) });
  }
}

interface Seen {
  readonly what: string;
  readonly path: string | undefined;
  readonly visible: readonly ReadonlySet<string>[];
  readonly locals: ReadonlySet<string>;
}

function exprsOf(step: Step): [string, Expr | undefined][] {
  const named = (what: string, exprs: { readonly [name: string]: Expr } = {}) =>
    Object.entries(exprs).map(([name, expr]): [string, Expr] => [`${what} ${name}`, expr]);
  return [
    ["the list", step.each?.list],
    ["the count", step.each?.count],
    ["the condition", step.when],
    ["the condition of the retry", step.retry?.when],
    ...(step.transitions ?? []).map(({ when }): [string, Expr | undefined] => ["a transition", when]),
    ...named("the variable", step.assign),
    ...named("the projection", step.project),
    ...ownExprsOf(step),
  ];
}

function ownExprsOf(step: Step): [string, Expr | undefined][] {
  switch (step.kind) {
    case "task":
      return [["the input", step.input]];
    case "call":
      return [
        ["the terms of the call", step.terms],
        ["the workflow", step.workflow],
        ["the input", step.input],
      ];
    case "wait":
      return exprsOfWait(step.wait).map((expr) => ["the wait", expr]);
    case "approve":
      return [
        ["the message", step.message],
        ["what is shown", step.show],
      ];
    case "set":
    case "respond":
      return [["the value", step.value]];
    case "flow":
      return [];
  }
}

/** By level rather than by recursion: what is checked may be too deep to recurse into. */
function isDeeperThan(expr: Expr, limit: number): boolean {
  let level: readonly Expr[] = [expr];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth >= limit) return true;
    level = level.flatMap((inner) => childrenOf(inner));
  }
  return false;
}

function duplicates(steps: readonly Step[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const { id } of steps) (seen.has(id) ? twice : seen).add(id);
  return twice;
}

function isVisible(visible: readonly ReadonlySet<string>[], id: string): boolean {
  return visible.some((ids) => ids.has(id));
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function keyOf(path: string, step: Step): string {
  return path === "" ? step.id : `${path}/${step.id}`;
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

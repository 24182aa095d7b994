import { evaluate } from "../expressions/evaluate.ts";
import type { Expr, Scope as ExpressionScope, KnownExpr, PathExpr } from "../expressions/expr.ts";
import { readKey, readPath } from "../expressions/read-path.ts";
import { type RunState, SINGLE_ITEM } from "../history/run-state.ts";
import type { Json } from "../json.ts";
import {
  describeRun,
  hasEnded,
  hasSucceeded,
  seeFailure,
  seeItem,
  seeStep,
  seeVariable,
  type Viewpoint,
} from "./lookup.ts";

/** Evaluates a lifted control expression on what state knows. */
export function evaluateControl(state: RunState, from: Viewpoint, expr: Expr): Json | undefined {
  return evaluate(expr, new ControlScope(state, from));
}

class ControlScope implements ExpressionScope {
  readonly #state: RunState;
  readonly #from: Viewpoint;

  constructor(state: RunState, from: Viewpoint) {
    this.#state = state;
    this.#from = from;
  }

  path(expr: PathExpr): Json | undefined {
    switch (expr.root) {
      case "vars":
        return readPath(this.#variable(expr.name ?? ""), expr.path, expr.readsJson);
      case "index":
        return seeItem(this.#from, expr.name)?.item;
      case "error":
        return readPath(this.#error(), expr.path);
      case "done":
        return hasSucceeded(this.#from, expr);
      case "run":
        return readPath(describeRun(this.#state, this.#from), expr.path);
      case "item":
        return readPath(this.#item(expr.name), expr.path, expr.readsJson);
      case "input":
      case "steps":
      case "output":
      case "failure":
      case "storage":
      case "env":
      case "local":
        // Lifted away where it can be; what could not be lifted is undefined.
        return undefined;
    }
  }

  known(expr: KnownExpr): Json | undefined {
    const value = expr.step === "" ? readKey(this.#from.scope.frame.known, expr.key) : this.#knownOfStep(expr);
    if (expr.column !== true) return value;
    const item = seeItem(this.#from)?.item;
    return Array.isArray(value) && item !== undefined ? value[item] : undefined;
  }

  #knownOfStep(expr: KnownExpr): Json | undefined {
    const seen = seeStep(this.#from, expr.step);
    const item = seen?.kind === "one" ? Math.max(seen.item, 0) : expr.at;
    if (seen === undefined || item === undefined) return expr.ifMissing;
    const known = seen.state.known?.[item];
    if (known !== undefined) return readKey(known, expr.key);
    const status = seen.state.status[item];
    return status !== undefined && hasEnded(status) ? expr.ifNull : expr.ifMissing;
  }

  /** Items of a list that is written in the graph or kept in a variable; others were lifted. */
  #item(origin: string | undefined): Json | undefined {
    const seen = seeItem(this.#from, origin);
    const each = seen?.scope.flow.steps[seen.origin]?.step.each;
    if (seen === undefined || each === undefined) return undefined;
    const from = { scope: seen.scope, step: seen.origin, item: SINGLE_ITEM };
    const list = evaluateControl(this.#state, from, each.list);
    if (Array.isArray(list)) return list[seen.item];
    return each.coerce === true && seen.item === 0 ? list : undefined;
  }

  #variable(name: string): Json | undefined {
    return seeVariable(this.#from, name)?.variables.get(name)?.value;
  }

  #error(): Json | undefined {
    const failure = seeFailure(this.#from)?.failure;
    return failure === undefined ? undefined : { code: failure.code, message: failure.message };
  }
}

import { evaluate } from "../expressions/evaluate.ts";
import type { Expr, Scope as ExpressionScope, Matches, PathExpr } from "../expressions/expr.ts";
import { readKey, readPath } from "../expressions/read-path.ts";
import type { CallReport, Failure, Handle, RunState } from "../history/run-state.ts";
import { describeRun, hasSucceeded, seeFailure, seeItem, seeVariable, type Viewpoint } from "../interpreter/lookup.ts";
import type { Json } from "../json.ts";
import { parseJson } from "../parse-json.ts";
import { locateItem, locateStep } from "./locate.ts";

/** Full values, as the host has loaded them. */
export interface Values {
  /** The value of an event that `collectSeqs` named. Of an event that assigned variables: the object of them. */
  value(seq: number): Json | undefined;
  /** Variables that the event assigned. */
  assigned(seq: number): { readonly [name: string]: Json } | undefined;
  file(path: string): string | undefined;
  env(name: string): string | undefined;
  readonly matches?: Matches;
  /** Like `parseJson`, with a cache. */
  parse?(text: string): Json | undefined;
}

export interface Binding {
  readonly state: RunState;
  readonly from: Viewpoint;
  readonly values: Values;
  /** The output that has just arrived, for projections, assignments and transitions. */
  readonly output?: Json;
  /** The output is that of a step that has failed: `{error}`. */
  readonly hasFailed?: boolean;
  /** As of a scope. */
  noteMissing?(written: string): void;
}

/** Evaluates an expression on full values: prompts, inputs, projections. One pass; what is put in is never expanded. */
export function bind(binding: Binding, expr: Expr): Json | undefined {
  return evaluate(expr, new BindingScope(binding));
}

/** A handle's value: null for none, `{error}` for a failure, an object for a report, lists and objects of what they hold. */
export function loadHandle(handle: Handle, values: Values): Json {
  if (typeof handle === "number") return handle === 0 ? null : (values.value(handle) ?? null);
  if (handle.kind === "failure") return { error: failureJson(handle.failure, values) };
  if (handle.kind === "report") return reportJson(handle.report, values);
  if (handle.kind === "list") return handle.handles.map((inner) => loadHandle(inner, values));
  return Object.fromEntries(handle.steps.map(([id, inner]) => [id, loadHandle(inner, values)]));
}

function reportJson(report: CallReport, values: Values): Json {
  const { failure, step } = report;
  return {
    success: failure === undefined,
    timed_out: report.hasTimedOut,
    output: loadHandle(report.output, values),
    ...(failure === undefined ? {} : { error: { code: failure.code, message: failure.message } }),
    ...(step === undefined ? {} : { step }),
    visits: report.visits,
    depth: report.depth,
    elapsed_seconds: report.elapsedMs / 1_000,
    ...(report.timeoutMs === undefined ? {} : { timeout_seconds: report.timeoutMs / 1_000 }),
    variables: report.variables,
  };
}

function failureJson(failure: Failure, values: Values): Json {
  const details = failure.seq > 0 ? values.value(failure.seq) : undefined;
  return { code: failure.code, message: failure.message, ...(details === undefined ? {} : { details }) };
}

class BindingScope implements ExpressionScope {
  readonly #binding: Binding;

  constructor(binding: Binding) {
    this.#binding = binding;
  }

  path(expr: PathExpr): Json | undefined {
    const value = this.#root(expr);
    return readPath(value, expr.path, expr.readsJson, this);
  }

  parse(text: string): Json | undefined {
    const { values } = this.#binding;
    return values.parse === undefined ? parseJson(text) : values.parse(text);
  }

  matches(...asked: Parameters<Matches>): boolean {
    return this.#binding.values.matches?.(...asked) ?? false;
  }

  noteMissing(written: string): void {
    this.#binding.noteMissing?.(written);
  }

  #root(expr: PathExpr): Json | undefined {
    const { from, values, output, hasFailed } = this.#binding;
    switch (expr.root) {
      case "input":
        return values.value(from.scope.frame.inputHandle);
      case "steps": {
        const handle = locateStep(from, expr);
        return handle === undefined ? undefined : loadHandle(handle, values);
      }
      case "output":
        return output;
      case "failure":
        return hasFailed === true ? readKey(output, "error") : undefined;
      case "done":
        return hasSucceeded(from, expr);
      case "item":
        return this.#item(expr.name);
      case "index":
        return seeItem(from, expr.name)?.item;
      case "vars":
        return this.#variable(expr.name ?? "");
      case "error": {
        const failure = seeFailure(from)?.failure;
        return failure === undefined ? undefined : failureJson(failure, values);
      }
      case "run":
        return describeRun(this.#binding.state, this.#binding.from);
      case "storage":
        return values.file(expr.name ?? "");
      case "env":
        return values.env(expr.name ?? "");
      case "local":
        return undefined;
    }
  }

  #item(origin: string | undefined): Json | undefined {
    const seen = seeItem(this.#binding.from, origin);
    if (seen === undefined) return undefined;
    const item = locateItem(seen);
    if (item.kind === "none") return undefined;
    if (item.kind === "handle") return loadHandle(item.handle, this.#binding.values);
    const list = bind({ ...this.#binding, from: item.from }, item.list);
    if (Array.isArray(list)) return list[item.index];
    return item.coerce && item.index === 0 ? list : undefined;
  }

  #variable(name: string): Json | undefined {
    const variable = seeVariable(this.#binding.from, name)?.variables.get(name);
    if (variable === undefined) return undefined;
    if (variable.seq === 0) return variable.value;
    return this.#binding.values.assigned(variable.seq)?.[name];
  }
}

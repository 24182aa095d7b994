import type { Expr } from "../../core/expressions/expr.ts";
import type { DagFlow } from "../../core/graph/graph.ts";
import { call, literal, output, outputOf, variable } from "../build-expr.ts";
import type { Scope } from "./open-definition.ts";
import { ANYTHING, COUNT, checkOptions, needed, oneOf, REFERENCES, TEXT } from "./options.ts";
import { fieldOf, makeReference, type Referred } from "./reference.ts";
import { addStep, bindControl, bindGiven, callBack, currentScope, freeName, inFlow, wantFunction } from "./scope.ts";
import { addWork } from "./steps.ts";
import type { Given, Plain, Ref, StepOptions, Synchronous, Value } from "./types.ts";

export interface EachOptions extends StepOptions {
  /** Default: `each`, `each-2`, ... A name outlives an edit: forks and reruns find items by it. */
  readonly name?: string;
  /** Items under way at once. Default: 5. */
  readonly window?: number;
  /** What the failure of an item does. `skip`: it is null in the result. Default: the run fails. */
  readonly onFailure?: "skip";
}

/** Does the same for each item of a list that the run will have, several at once. Gives the list of what the callback gives. */
export function each<Item, R>(
  list: Ref<readonly Item[]>,
  body: ((item: Value<Item>, index: Value<number>) => R) & Synchronous<R>,
  options: EachOptions & { readonly onFailure: "skip" },
): Value<(Plain<R> | null)[]>;
export function each<Item, R>(
  list: Ref<readonly Item[]>,
  body: ((item: Value<Item>, index: Value<number>) => R) & Synchronous<R>,
  options?: EachOptions,
): Value<Plain<R>[]>;
export function each<Item, R>(
  list: Ref<readonly Item[]>,
  body: (item: Value<Item>, index: Value<number>) => R,
  options: EachOptions = {},
): Value<(Plain<R> | null)[]> {
  const scope = currentScope("each");
  checkOptions("`each`", options, { after: REFERENCES, name: TEXT, window: COUNT, onFailure: oneOf("skip") });
  const { name = freeName(scope, "each"), window = 5, onFailure } = options;
  wantFunction(body, `\`${name}\``);
  // In a flow of its own: seen from outside, its output is an ordinary list, which conditions can read.
  const { flow } = inFlow(scope, name, (around) => {
    const { expr, after } = bindControl(around, list, { what: "the list", name: "list", isDecided: isPlainList });
    const id = freeName(around, "item");
    const { flow: item } = inFlow(
      around,
      id,
      (inner) => {
        const here = (root: "item" | "index"): Referred => ({
          expr: { op: "path", root, name: id, path: [] },
          needs: [{ scope: inner }],
        });
        return callBack(inner, body, makeReference(here("item")), makeReference(here("index")));
      },
      "item",
    );
    const failing = onFailure === undefined ? {} : { onFailure };
    const each = { list: expr, maxConcurrent: window };
    return addStep(around, { id, kind: "flow", flow: item, each, after, ...failing });
  });
  return addWork(scope, { name, options, after: [] }, { kind: "flow", flow });
}

/** Conditions on its items can be decided where it comes as it is from one place. */
const isPlainList = (list: Expr): boolean =>
  list.op === "literal" || (list.op === "path" && (list.root === "steps" || list.root === "input"));

/** Does one of two things. What the other one would have given is not there: the result is that of the one that is done. */
export function when<A, B = null>(
  condition: Ref<boolean>,
  then: (() => A) & Synchronous<A>,
  otherwise?: (() => B) & Synchronous<B>,
  options: StepOptions & { readonly name?: string } = {},
): Value<Plain<A> | Plain<B>> {
  const scope = currentScope("when");
  checkOptions("`when`", options, { after: REFERENCES, name: TEXT });
  const name = options.name ?? freeName(scope, "when");
  const { expr, after } = bindControl(scope, condition, { what: "the condition", name: `${name}-if` });
  const arm = (id: string, holds: Expr, does: () => unknown): Expr => {
    addWork(
      scope,
      { name: id, options, after },
      { kind: "flow", flow: inFlow(scope, id, (inner) => callBack(inner, does)).flow, when: holds },
    );
    return outputOf(id);
  };
  const arms = [arm(name, expr, then)];
  if (otherwise !== undefined) arms.push(arm(`${name}-else`, { op: "not", of: expr }, otherwise));
  const needs = [name, ...(otherwise === undefined ? [] : [`${name}-else`])].map((step) => ({ scope, step }));
  return makeReference({ expr: arms.length === 1 ? outputOf(name) : call("coalesce", ...arms), needs });
}

/** Does one of several things, by a field of the value that tells them apart. */
export function match<
  T extends object,
  Key extends keyof T & string,
  Cases extends {
    readonly [Kind in T[Key] & string]: (value: Value<Extract<T, { readonly [_ in Key]: Kind }>>) => unknown;
  },
>(
  value: Ref<T>,
  by: Key,
  cases: Cases,
  options: StepOptions & { readonly name?: string } = {},
): Value<Plain<ReturnType<Cases[keyof Cases & (T[Key] & string)]>>> {
  const scope = currentScope("match");
  checkOptions("`match`", options, { after: REFERENCES, name: TEXT });
  const name = options.name ?? freeName(scope, "match");
  const whole = bindGiven(scope, value, "the value");
  const referred: Referred = { expr: whole.expr, needs: whole.after.map((step) => ({ scope, step })) };
  const field = makeReference(fieldOf(referred, by));
  const { expr: kind, after } = bindControl(scope, field, { what: "the kind", name: `${name}-by` });
  const arms = Object.entries(cases).map(([of, does]) => {
    const id = `${name}-${of}`;
    const { flow } = inFlow(scope, id, (inner) =>
      callBack(inner, does as (value: Value<unknown>) => unknown, makeReference(referred)),
    );
    addWork(
      scope,
      { name: id, options, after },
      { kind: "flow", flow, when: { op: "compare", by: "==", left: kind, right: literal(of) } },
    );
    return id;
  });
  return makeReference({
    expr: call("coalesce", ...arms.map((id) => outputOf(id))),
    needs: arms.map((step) => ({ scope, step })),
  });
}

export interface LoopOptions<S> extends StepOptions {
  /** Rounds at most: then the value of the last one is the result, done or not. */
  readonly max: number;
  /** The value that the first round is given. */
  readonly first: S | Given<Plain<S>>;
}

/** Rounds one after the other, each of which is given what the one before has made, until one is done. Gives the last value. */
export function loop<S>(
  name: string,
  options: LoopOptions<S>,
  body: (was: Value<Plain<S>>) => { readonly next: Given<NoInfer<Plain<S>>>; readonly done: Ref<boolean> | boolean },
): Value<Plain<S>> {
  const scope = currentScope("loop");
  checkOptions(`\`${name}\``, options, { after: REFERENCES, max: needed(COUNT), first: needed(ANYTHING) });
  const { max, first } = options;
  wantFunction(body, `\`${name}\``);
  // Named as the loop is, so that a loop within it sees both.
  const value = variable(name);
  const start = bindGiven(scope, first, "the first value");
  const { flow } = inFlow(scope, name, (machine) => {
    const { flow: round } = inFlow(
      machine,
      freeName(machine, "round"),
      (inner) => callBack(inner, body, makeReference({ expr: value, needs: [{ scope: inner }] })),
      "round",
    );
    return stepsOfLoop(machine, { name, round, first: start.expr, max });
  });
  const done = addWork<{ readonly next: unknown }>(
    scope,
    { name, options, after: start.after },
    {
      kind: "flow",
      flow: {
        kind: "machine",
        start: flow.steps[0]?.id ?? "",
        steps: flow.steps,
        variables: { [name]: null, [roundsOf(name)]: 0 },
      },
    },
  );
  return done.next as unknown as Value<Plain<S>>;
}

const roundsOf = (loop: string) => `rounds of ${loop}`;

function stepsOfLoop(
  machine: Scope,
  {
    name,
    round,
    first,
    max,
  }: { readonly name: string; readonly round: DagFlow; readonly first: Expr; readonly max: number },
): void {
  const done = variable(roundsOf(name));
  const isLast: Expr = { op: "compare", by: ">=", left: done, right: literal(max) };
  const id = freeName(machine, "round");
  addStep(machine, {
    id: freeName(machine, "first"),
    kind: "set",
    assign: { [name]: first },
    transitions: [{ on: "success", to: id }],
  });
  addStep(machine, {
    id,
    kind: "flow",
    flow: round,
    assign: { [name]: output("next"), [roundsOf(name)]: call("add", done, literal(1)) },
    transitions: [
      { on: "success", when: { op: "or", of: [output("done"), isLast] }, to: { end: "success" } },
      { on: "success", to: id },
    ],
  });
}

import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Expr } from "../../core/expressions/expr.ts";
import { walkPaths } from "../../core/expressions/walk-paths.ts";
import type { DagFlow, SetStep, Step } from "../../core/graph/graph.ts";
import type { Json } from "../../core/json.ts";
import { outputOf } from "../build-expr.ts";
import type { OpenDefinition, OurStep, Scope } from "./open-definition.ts";
import { placeOfCaller } from "./place.ts";
import { makeReference, type Referred, referredBy } from "./reference.ts";
import { RunningCallback } from "./running-callback.ts";
import type { Value } from "./types.ts";

// One slot in a process, also where two copies of this module are loaded.
const SLOT = Symbol.for("pawl.definition/1");
const slots = globalThis as { [SLOT]?: OpenDefinition | undefined };

function openScope(definition: OpenDefinition, path: string, around: Scope["around"]): Scope {
  return { definition, path, around, steps: new Map(), undos: [], gates: [], needs: new Map() };
}

/** Runs the callback of a definition: what it declares is the definition's. Throws what it throws, and what it should not have done. */
export function define<T>(
  workflow: string,
  callback: (root: Scope) => T,
): { readonly definition: OpenDefinition; readonly result: T } {
  if (slots[SLOT] !== undefined)
    throw invalid(
      `The workflow \`${workflow}\` is defined within \`${slots[SLOT].workflow}\``,
      "Define it outside, and `call` it.",
    );
  const definition: Omit<OpenDefinition, "current"> = {
    workflow,
    functions: new Map(),
    isSealed: false,
    fault: undefined,
    running: undefined,
  };
  const open = definition as OpenDefinition;
  open.current = openScope(open, "", undefined);
  slots[SLOT] = open;
  try {
    const result = callback(open.current);
    if (open.fault !== undefined) throw open.fault;
    return { definition: open, result };
  } finally {
    slots[SLOT] = undefined;
    open.isSealed = true;
  }
}

export function currentScope(what: string): Scope {
  const scope = slots[SLOT]?.current;
  if (scope !== undefined) return scope;
  throw invalid(
    `\`${what}\` stands outside of a definition`,
    "Write it in the callback of `workflow`, and not behind an `await`.",
  );
}

/**
 * Runs a callback whose steps stand within the step `id` of this scope, and gives them as a flow with the callback's result.
 * `ours`: the author has not named that step, and may give its name to another one.
 */
export function inFlow<T>(
  scope: Scope,
  id: string,
  callback: (inner: Scope) => T,
  ours?: OurStep,
): { readonly flow: DagFlow; readonly result: T } {
  const { definition } = scope;
  const inner = openScope(definition, keyOf(scope, id), { scope, step: id, ours });
  definition.current = inner;
  try {
    const result = callback(inner);
    return { flow: closeFlow(inner, result), result };
  } finally {
    definition.current = scope;
  }
}

/** Calls what the author has written, which must not test the references that it is given and makes. */
export function callBack<Given extends readonly unknown[], R>(
  { definition, path }: Scope,
  callback: (...given: Given) => R,
  ...given: Given
): R {
  wantFunction(callback, `\`${path}\``);
  const { running } = definition;
  definition.running = new RunningCallback(callback, (index, field) => {
    const argument: unknown = given[index];
    if (field === undefined || referredBy(argument) !== undefined) return referredBy(argument) !== undefined;
    return isPlainObject(argument) && referredBy(argument[field]) !== undefined;
  });
  try {
    const result = callback(...given);
    definition.running.end();
    return result;
  } finally {
    definition.running = running;
  }
}

/** The steps of a scope, and the one that makes its result. */
export function closeFlow(scope: Scope, result: unknown): DagFlow {
  const id = result === undefined ? undefined : resultStep(scope, result);
  const flow: DagFlow = {
    kind: "dag",
    steps: [...scope.steps.values()].map((step) => withNeeds(scope, step)),
    ...(id === undefined ? {} : { result: id }),
  };
  return scope.undos.length === 0 ? flow : withUndos(scope, flow);
}

const done = (name?: string): Expr => ({ op: "path", root: "done", ...(name === undefined ? {} : { name }), path: [] });

/** The flow, and after it, unless it has succeeded, what takes back its steps that have, the last one first. */
function withUndos(scope: Scope, flow: DagFlow): DagFlow {
  const steps = scope.undos.toReversed().map(
    ({ step, flow: undo }, index, all): Step => ({
      id: `undo-${step}`,
      kind: "flow",
      flow: undo,
      when: done(step),
      after: all.slice(0, index).map((before) => `undo-${before.step}`),
      onFailure: "continue",
    }),
  );
  const undone: Step = {
    id: "undo",
    kind: "flow",
    flow: { kind: "dag", steps },
    when: { op: "not", of: done() },
  };
  const id = freeName(scope, "do");
  const tried: Step = {
    id,
    kind: "flow",
    flow: { ...flow, isSeenBeside: true },
    finally: { kind: "dag", steps: [undone] },
  };
  return { kind: "dag", steps: [tried], result: id };
}

function resultStep(scope: Scope, result: unknown): string {
  const referred = referredBy(result);
  const [need] = referred?.needs ?? [];
  const { expr } = referred ?? {};
  const isWhole = expr?.op === "path" && expr.root === "steps" && expr.path.length === 0;
  if (isWhole && need?.scope === scope && need.step !== undefined) return need.step;
  const id = freeName(scope, "result");
  const { expr: value, after } = bindGiven(scope, result, "the result");
  addStep(scope, { id, kind: "set", value, after } satisfies SetStep);
  return id;
}

function withNeeds(scope: Scope, step: Step): Step {
  const after = [...new Set([...(step.after ?? []), ...(scope.needs.get(step.id) ?? [])])];
  return after.length === 0 ? step : { ...step, after };
}

/** Declares a step: it waits for what it is given, for the gates before it, and for what it names. */
export function addStep<T>(scope: Scope, step: Step): Value<T> {
  refuseTaken(scope, step.id);
  const after = [...new Set([...(step.after ?? []), ...scope.gates])];
  const { place } = placeOfCaller();
  scope.steps.set(step.id, {
    ...step,
    ...(after.length === 0 ? {} : { after }),
    ...(place === undefined ? {} : { place }),
  });
  return makeReference({ expr: outputOf(step.id), needs: [{ scope, step: step.id }] });
}

/** A name that the scope and those around it can tell from all others. */
export function freeName(scope: Scope, wanted: string): string {
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? wanted : `${wanted}-${count}`;
    if (!isTaken(scope, name)) return name;
  }
}

/** `byAuthor`: names that the author has not given do not count, since nothing that is written refers to them. */
function isTaken(scope: Scope | undefined, name: string, byAuthor = false): boolean {
  if (scope === undefined) return false;
  const { around, steps } = scope;
  const isAround = around?.step === name && !(byAuthor && around.ours !== undefined);
  return steps.has(name) || isAround || isTaken(around?.scope, name, byAuthor);
}

export function refuseTaken(scope: Scope, id: string): void {
  if (typeof id !== "string" || id.trim() === "") throw invalid("A step has no name", "Give it one.");
  if (!isTaken(scope, id, true)) return;
  throw new PawlError("STEP_DUPLICATE", {
    message: `Two steps have the name \`${id}\`${placeOfCaller().words}.`,
    remedy: "Give each a name of its own: it is how its record is found again.",
  });
}

export function keyOf(scope: Scope, id: string): string {
  return scope.path === "" ? id : `${scope.path}/${id}`;
}

export interface Bound {
  readonly expr: Expr;
  /** Steps of the scope that must have ended before. */
  readonly after: readonly string[];
}

/** A value with references in it, as an expression that a step of the scope can read. */
export function bindGiven(scope: Scope, given: unknown, what: string): Bound {
  const after = new Set<string>();
  const expr = toExpr(given, { what, depth: 0, need: (referred) => noteNeeds(scope, referred, after) });
  return { expr, after: [...after] };
}

/**
 * The same for what decides whether and how often steps run. The core sees no outputs: what it cannot decide by what it keeps of
 * them is computed by a step of its own, `name`.
 */
export function bindControl(
  scope: Scope,
  given: unknown,
  {
    what,
    name,
    isDecided = isDecidable,
  }: { readonly what: string; readonly name: string; isDecided?(expr: Expr, scope: Scope): boolean },
): Bound {
  const { expr, after } = bindGiven(scope, given, what);
  if (isDecided(expr, scope)) return { expr, after };
  const id = freeName(scope, name);
  addStep(scope, { id, kind: "set", value: expr, after });
  return { expr: outputOf(id), after: [id] };
}

/** Of the items, the core sees those of the nearest fan-out. */
function isDecidable(expr: Expr, scope: Scope): boolean {
  let nearest = scope.around;
  while (nearest !== undefined && nearest.ours !== "item") nearest = nearest.scope.around;
  let decides = true;
  walkPaths(expr, ({ root, name }) => {
    if (root === "item" && name !== nearest?.step) decides = false;
  });
  return decides;
}

interface Binding {
  readonly what: string;
  readonly depth: number;
  need(referred: Referred): void;
}

const MAX_DEPTH = 100;

function toExpr(given: unknown, binding: Binding): Expr {
  const referred = referredBy(given);
  if (referred !== undefined) {
    binding.need(referred);
    return referred.expr;
  }
  if (binding.depth > MAX_DEPTH) throw notJson(binding.what, "nested too deeply, or in itself");
  const inner = { ...binding, depth: binding.depth + 1 };
  if (Array.isArray(given))
    return folded({ op: "list", items: given.map((item: unknown) => toExpr(item ?? null, inner)) });
  if (isPlainObject(given)) {
    const entries = Object.entries(given).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, toExpr(value, inner)] as const],
    );
    return folded({ op: "object", entries: Object.fromEntries(entries) });
  }
  return { op: "literal", value: toScalar(given, binding.what) };
}

function toScalar(given: unknown, what: string): Json {
  if (given === null || typeof given === "string" || typeof given === "boolean") return given;
  if (typeof given === "number" && Number.isFinite(given)) return given;
  throw notJson(
    what,
    typeof given === "object"
      ? `a ${given?.constructor?.name ?? "object"}`
      : `${typeof given === "number" ? given : typeof given}`,
  );
}

function notJson(what: string, is: string): PawlError {
  return invalid(
    `A value in ${what} is not JSON: ${is}`,
    "Give text, numbers, truth values, null, lists and plain objects.",
  );
}

/** What holds no reference is one value. */
function folded(expr: Extract<Expr, { op: "list" | "object" }>): Expr {
  if (expr.op === "list") {
    const values = expr.items.flatMap((item) => (item.op === "literal" ? [item.value] : []));
    return values.length === expr.items.length ? { op: "literal", value: values } : expr;
  }
  const entries = Object.entries(expr.entries);
  const values = entries.flatMap(([name, item]) => (item.op === "literal" ? [[name, item.value] as const] : []));
  return values.length === entries.length ? { op: "literal", value: Object.fromEntries(values) } : expr;
}

function isPlainObject(given: unknown): given is { readonly [name: string]: unknown } {
  if (typeof given !== "object" || given === null) return false;
  const prototype: unknown = Object.getPrototypeOf(given);
  return prototype === null || prototype === Object.prototype;
}

/** Each need is met by a step of this scope, or by one that the step around this scope waits for. */
function noteNeeds(scope: Scope, { needs }: Referred, after: Set<string>): void {
  for (const { scope: home, step } of needs) {
    if (step !== undefined && home === scope) after.add(step);
    else noteOutside(scope, home, step);
  }
}

function noteOutside(scope: Scope, home: Scope, step: string | undefined): void {
  for (let inner = scope; ; inner = inner.around.scope) {
    if (inner === home) return;
    if (inner.around === undefined) throw leaked(home, scope);
    if (inner.around.scope !== home || step === undefined) continue;
    const needed = home.needs.get(inner.around.step) ?? new Set();
    needed.add(step);
    home.needs.set(inner.around.step, needed);
  }
}

function leaked(home: Scope, scope: Scope): PawlError {
  const from =
    home.definition === scope.definition ? `inside \`${home.path}\`` : `the workflow \`${home.definition.workflow}\``;
  return new PawlError("REFERENCE_MISUSED", {
    message: `A value from ${from} is used where it is not known${placeOfCaller().words}.`,
    remedy: "Return it from there: the result of `each`, `when` and `loop` is what their callback returns.",
  });
}

/** Programs in JavaScript have no compiler that says so. */
export function wantFunction(given: unknown, what: string): void {
  if (typeof given === "function" && referredBy(given) === undefined) return;
  throw invalid(`${what} has no function`, "Give it one: `() => ...`.");
}

/** A fault in what a definition says, at the line that says it. */
export function invalid(message: string, remedy: string): PawlError {
  return new PawlError("DEFINITION_INVALID", { message: `${message}${placeOfCaller().words}.`, remedy });
}

import { bind, type Values } from "../../../core/binding/bind.ts";
import type { Expr } from "../../../core/expressions/expr.ts";
import type { Instance, RunState } from "../../../core/history/run-state.ts";
import { viewOf } from "../../../core/interpreter/lookup.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { maskJson } from "./mask-json.ts";

/** The small values that control and scope variables read of an output. They are recorded with it. */
export interface Projection {
  readonly projected?: JsonObject;
  readonly assigned?: JsonObject;
}

/** A condition reads small values. Larger ones are not put into events. */
const MAX_CONTROL_CHARS = 64 * 1024;

const NO_EXPRS: readonly Expr[] = [];
const NO_PROJECTION: Projection = {};

export function projectionExprs(instance: Instance): readonly Expr[] {
  if (!instance.step.needsProjection) return NO_EXPRS;
  const { project = {}, assign = {} } = instance.step.step;
  return [...Object.values(project), ...Object.values(assign)];
}

/** The output of an instance; `{error}` for a failure. */
export interface Arrival {
  readonly output: Json;
  readonly hasFailed: boolean;
}

export function projectOutput(
  state: RunState,
  instance: Instance,
  values: Values,
  { output, hasFailed }: Arrival,
): Projection {
  if (!instance.step.needsProjection) return NO_PROJECTION;
  const { project, assign } = instance.step.step;
  const evaluateAll = (exprs: { readonly [name: string]: Expr }) => {
    const entries: [string, Json][] = [];
    for (const [name, expr] of Object.entries(exprs)) {
      const value = bind({ state, from: viewOf(instance), values, output, hasFailed }, expr);
      if (value !== undefined) entries.push([name, value]);
    }
    return Object.fromEntries(entries);
  };
  return {
    ...(project === undefined ? {} : { projected: dropLarge(evaluateAll(project)) }),
    ...(assign === undefined ? {} : { assigned: evaluateAll(assign) }),
  };
}

/** Outputs are masked already, but other values are not, e.g. a variable of the environment. */
export function maskProjection(projection: Projection, mask: (text: string) => string): Projection {
  return maskJson(projection as JsonObject, mask).value as Projection;
}

/** A condition that reads something this large sees it as missing. */
function dropLarge(values: JsonObject): JsonObject {
  const kept = Object.entries(values).filter(([, value]) => !isLarge(value));
  return Object.fromEntries(kept);
}

function isLarge(value: Json | undefined): boolean {
  if (typeof value === "string") return value.length > MAX_CONTROL_CHARS;
  return typeof value === "object" && value !== null && JSON.stringify(value).length > MAX_CONTROL_CHARS;
}

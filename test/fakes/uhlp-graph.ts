import type { Expr } from "../../src/core/expressions/expr.ts";
import type { Graph, MachineFlow, RouteAuth, Step, Transition, Trigger } from "../../src/core/graph/graph.ts";
import { liftControls } from "../../src/core/graph/lift-controls.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";

export interface UhlpGraph {
  readonly name?: string;
  readonly trigger?: Trigger;
  readonly schema?: JsonObject;
  readonly steps: readonly Step[];
}

/** A UHLP workflow as its dialect would hand it over; it starts at its first step. */
export function uhlpGraph({ name = "flow", trigger, schema, steps }: UhlpGraph): Graph {
  const flow: MachineFlow = { kind: "machine", start: steps[0]?.id ?? "", steps };
  return liftControls({
    format: 1,
    dialect: "uhlp",
    name,
    input: { declared: [], defaults: {}, ...(schema === undefined ? {} : { schema }) },
    flow,
    limits: {},
    ending: { deadLetter: false },
    envAllowed: [],
    settings: {},
    ...(trigger === undefined ? {} : { triggers: [trigger] }),
  });
}

export function http(method: string, pathPattern: string, auth?: RouteAuth): Trigger {
  return { kind: "http", method, pathPattern, ...(auth === undefined ? {} : { auth }) };
}

/** A `formatResponse`. */
export function respond(value: Expr): Step {
  return { id: "respond", kind: "respond", value };
}

/** A value of the run's input. */
export function input(...path: readonly (string | number)[]): Expr {
  return { op: "path", root: "input", path, readsJson: true };
}

export function literal(value: Json): Expr {
  return { op: "literal", value };
}

export function object(entries: { readonly [name: string]: Expr }): Expr {
  return { op: "object", entries };
}

/** What `formatResponse` makes of a result type and data. */
export function shaped(resultType: string, data: Expr): Expr {
  return object({ resultType: literal(resultType), data });
}

/** Work for an executor, which a test plays. */
export function task(id: string, transitions: readonly Transition[] = [], given: Expr = object({})): Step {
  return { id, kind: "task", executor: "code", input: given, ...(transitions.length === 0 ? {} : { transitions }) };
}

export function to(step: string, more: Partial<Transition> = {}): Transition {
  return { on: "success", to: step, ...more };
}

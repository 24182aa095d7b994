import type { Expr } from "../expressions/expr.ts";
import { readPath } from "../expressions/read-path.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import type { Flow, Graph, Step } from "./graph.ts";
import { flowsInside } from "./steps-within.ts";

/** A fan-out over what is certainly no list. */
export interface WrongList {
  readonly step: Step;
  readonly message: string;
}

type Path = readonly (string | number)[];

interface Known {
  readonly graph: Graph;
  readonly input: JsonObject;
}

/**
 * The fan-outs of a graph whose list is known to be none before the run: it is written in the definition, a schema says what it is,
 * or it is in the input and no condition stands before the step. Others fail when they begin.
 */
export function findWrongLists(graph: Graph, input: JsonObject): readonly WrongList[] {
  return look(graph.flow, { graph, input: { ...graph.input.defaults, ...input } }, true);
}

function look(flow: Flow, known: Known, isReached: boolean): readonly WrongList[] {
  return flow.steps.flatMap((step) => {
    const isCertain = isReached && flow.kind === "dag" && step.when === undefined;
    const is =
      step.each === undefined || step.each.coerce === true
        ? undefined
        : kindOf(step.each.list, flow, { ...known, isCertain });
    const message = `It fans out over ${is ?? ""}, not over a list.`;
    const inner = flowsInside(step).flatMap((inside) => look(inside.flow, known, isCertain && inside.suffix === ""));
    return [...(is === undefined ? [] : [{ step, message }]), ...inner];
  });
}

/** What a value is that is no list, in words. Undefined: it is one, or that is not known. */
function kindOf(expr: Expr, flow: Flow, known: Known & { readonly isCertain: boolean }): string | undefined {
  if (expr.op === "literal") return kindOfValue(expr.value);
  if (expr.op === "object" || expr.op === "text") return expr.op === "text" ? "a text" : "an object";
  const [only] = expr.op === "call" && expr.fn === "coalesce" ? expr.args : [];
  if (only !== undefined) return kindOf(only, flow, known);
  if (expr.op !== "path") return undefined;
  if (expr.root === "input") {
    const value = known.isCertain ? readPath(known.input, expr.path, expr.readsJson) : undefined;
    return value === undefined ? kindOfSchema(known.graph.input.schema, expr.path) : kindOfValue(value);
  }
  const source = expr.root === "steps" ? flow.steps.find(({ id }) => id === expr.name) : undefined;
  if (source === undefined || source.each !== undefined || source.catch !== undefined) return undefined;
  if (source.kind === "set") return kindOfPart(source.value, expr.path, flow, known);
  if (source.kind !== "task" || source.input.op !== "object") return undefined;
  const schema = source.input.entries["output_schema"];
  return schema?.op === "literal" ? kindOfSchema(schema.value, expr.path) : undefined;
}

function kindOfPart(value: Expr | undefined, [name]: Path, flow: Flow, known: Known & { readonly isCertain: boolean }) {
  const part = value?.op === "object" ? value.entries[String(name)] : undefined;
  return part === undefined ? undefined : kindOf(part, flow, known);
}

function kindOfValue(value: Json): string | undefined {
  if (Array.isArray(value)) return undefined;
  if (value === null) return "null";
  return isJsonObject(value) ? "an object" : `a ${typeof value === "string" ? "text" : typeof value}`;
}

function kindOfSchema(schema: Json | undefined, path: Path): string | undefined {
  const part = path.reduce<Json | undefined>((at, key) => readPath(at, ["properties", key]), schema);
  const type = readPath(part, ["type"]);
  const types = Array.isArray(type) ? type : [type ?? "array"];
  return types.some((each) => each === "array" || each === "null")
    ? undefined
    : `a value of type ${types.join(" or ")}`;
}

import type { CallStep, Graph } from "../../core/graph/graph.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { isKnown, type KnownValues, knownValueOf, valuesOf } from "./plan-values.ts";

/** What is known before a run of the input that a step gives to the workflow which it calls. */
export function readCallInput(
  step: CallStep,
  graph: Graph,
  known: KnownValues,
): Pick<KnownValues, "input" | "unknownInputs"> {
  if (step.input.op !== "object") {
    const value = knownValueOf(step.input, known);
    return isJsonObject(value)
      ? { input: toInput(value, graph), unknownInputs: new Set() }
      : { input: {}, unknownInputs: "all" };
  }
  const values: { [name: string]: Json } = {};
  const unknownInputs = new Set<string>();
  for (const [name, expr] of Object.entries(step.input.entries)) {
    const value = knownValueOf(expr, known);
    if (value !== undefined) values[name] = value;
    else if (!isKnown(expr, known) || valuesOf(expr, known).length > 1) unknownInputs.add(name);
  }
  // A UHLP workflow reads the payload of a request.
  if (graph.dialect === "uhlp" && unknownInputs.size > 0) return { input: {}, unknownInputs: "all" };
  return { input: toInput(values, graph), unknownInputs };
}

function toInput(values: JsonObject, { dialect, input: { defaults } }: Graph): JsonObject {
  const input = { ...defaults, ...values };
  return dialect === "uhlp" ? { requestData: { source: "internal", payload: input }, context: {} } : input;
}

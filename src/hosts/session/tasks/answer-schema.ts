import type { Instance } from "../../../core/history/run-state.ts";
import { isJsonObject, type JsonObject } from "../../../core/json.ts";

/** What a made-up output of a step should look like: what others read of it in its own workflow, and in the one that has called that. */
export function answerSchemaFor(instance: Instance): JsonObject | undefined {
  const { scope, step } = instance;
  const own = scope.frame.graph.answerSchemaOf(step.step);
  const called = schemaOfCaller(instance);
  return own === undefined || called === undefined ? (own ?? called) : merge(own, called);
}

/** A workflow's output is that of its result, else those of all its steps by their ids. */
function schemaOfCaller({ scope, step: { step } }: Instance): JsonObject | undefined {
  const { parent } = scope;
  if (parent?.step.step.kind !== "call" || scope.flow.flow.kind !== "dag") return undefined;
  const whole = answerSchemaFor(parent);
  const { result } = scope.flow.flow;
  if (result !== undefined) return result === step.id ? whole : undefined;
  const mine = propertiesOf(whole)[step.id];
  const one = step.each !== undefined && isJsonObject(mine) ? mine["items"] : mine;
  return isJsonObject(one) ? one : undefined;
}

function merge(own: JsonObject, called: JsonObject): JsonObject {
  if (own["type"] !== "object" || called["type"] !== "object") return own;
  const properties = { ...propertiesOf(called), ...propertiesOf(own) };
  return { ...own, properties, required: Object.keys(properties) };
}

function propertiesOf(schema: JsonObject | undefined): JsonObject {
  const properties = schema?.["properties"];
  return isJsonObject(properties) ? properties : {};
}

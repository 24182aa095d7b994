import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { Workflow } from "./parse.ts";
import type { StepDefinition } from "./parse-step.ts";
import type { Path, Reference } from "./references/reference.ts";

/** Of the files in a folder that an input takes. */
const FILE: JsonObject = { properties: { path: {}, name: {}, bytes: {}, text: {} } };

/** Keywords that may bring fields which `properties` does not list. */
const MORE = ["$ref", "allOf", "anyOf", "oneOf", "patternProperties", "if", "then", "else", "$dynamicRef"];

/** What schemas declare for items of a fan-out's list. Undefined: nothing, so that any name may be a field of theirs. */
export function itemSchemaOf(
  { fanOut }: StepDefinition,
  workflow: Workflow,
  steps: ReadonlyMap<string, StepDefinition>,
): JsonObject | undefined {
  const schema = fanOut && schemaOf(fanOut.list.reference, workflow, steps);
  if (schema === undefined) return undefined;
  if (schema["directory"] !== undefined) return FILE;
  const { items } = schema;
  return isJsonObject(items) ? items : undefined;
}

/** The fields that a schema declares for a value. Undefined: nothing is declared. Empty: it is no map. */
export function fieldsOf(schema: Json | undefined): ReadonlySet<string> | undefined {
  if (!isJsonObject(schema) || MORE.some((key) => schema[key] !== undefined)) return undefined;
  const { properties, type } = schema;
  if (isJsonObject(properties)) return new Set(Object.keys(properties));
  return typeof type === "string" && type !== "object" ? new Set() : undefined;
}

/** The part of a schema that is about a part of its value. */
export function partOf(schema: Json | undefined, path: Path): JsonObject | undefined {
  let part = schema;
  for (const key of path) {
    if (!isJsonObject(part)) return undefined;
    const { properties, items } = part;
    part = typeof key === "number" ? items : isJsonObject(properties) ? properties[key] : undefined;
  }
  return isJsonObject(part) ? part : undefined;
}

function schemaOf(
  reference: Reference,
  { input }: Workflow,
  steps: ReadonlyMap<string, StepDefinition>,
): JsonObject | undefined {
  if (reference.to === "input") return partOf(input.schema, reference.path);
  return reference.to === "step" ? partOf(outputSchemaOf(steps.get(reference.step)), reference.path) : undefined;
}

/** The schema that the answer of a step must fit. */
export function outputSchemaOf(step: StepDefinition | undefined): JsonObject | undefined {
  return step?.body.type === "agent" ? step.body.call.outputSchema : undefined;
}

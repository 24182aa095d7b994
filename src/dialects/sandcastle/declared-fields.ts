import { isJsonObject, type JsonObject } from "../../core/json.ts";
import { partOf } from "../declared-names.ts";
import type { Workflow } from "./parse.ts";
import type { StepDefinition } from "./parse-step.ts";
import type { Reference } from "./references/reference.ts";

/** Of the files in a folder that an input takes. */
const FILE: JsonObject = { properties: { path: {}, name: {}, bytes: {}, text: {} } };

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

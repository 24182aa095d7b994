import type { InputContract } from "../../core/graph/graph.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import type { ProblemList } from "../problem-list.ts";
import { toRunLimits } from "../run-limits.ts";
import { Reader, TOP } from "../shape/shape.ts";
import type { YamlMap } from "../source/yaml-node.ts";
import { parseSteps } from "./parse-step.ts";
import { type ReadWorkflow, rules, workflow } from "./shape/workflow-shape.ts";

/** A Sandcastle file after reading: defaults filled in, templates parsed, nothing yet checked across steps. */
export type Workflow = ReturnType<typeof toWorkflow>;

/**
 * Reads a whole file. What is wrong is reported and left out, so that everything else is still read and checked.
 * `hasChromium`: whether pages can be printed as PDF here.
 */
export function parseWorkflow(root: YamlMap, problems: ProblemList, hasChromium: () => boolean) {
  const reader = new Reader({ problems, rules, envAllowed: new Set(allowedNames(root)) });
  const read = workflow.read(root, TOP, reader);
  // Nothing at the top is needed so much that the rest could not be read without.
  if (read === undefined) throw new Error("A map is read as a workflow.");
  return { workflow: toWorkflow(read, reader, hasChromium), later: reader.later };
}

/** Before anything else is read, because texts may name them. Other entries are reported when their turn comes. */
function allowedNames(root: YamlMap): readonly string[] {
  const env = root.entries.get("env")?.value;
  const allow = env?.kind === "map" ? env.entries.get("allow")?.value : undefined;
  const items = allow?.kind === "list" ? allow.items : [];
  return items.flatMap((item) => (item.kind === "scalar" && typeof item.value === "string" ? [item.value] : []));
}

function toWorkflow(read: ReadWorkflow, reader: Reader, hasChromium: () => boolean) {
  const { on_complete: completion, on_failure: failure, on_approval: approval } = read;
  return {
    name: read.name?.value ?? "",
    description: read.description?.value,
    sandstormUrl: read.sandstorm_url,
    references: read.references,
    schedule: read.schedule,
    concurrency: read.concurrency,
    rate: read.rate,
    debounce: read.debounce,
    limits: toRunLimits(read.limits, read.max_cost_usd),
    input: toInputContract(read.input_schema),
    envAllowed: (read.env?.allow ?? []).map(({ value }) => value),
    completionWebhook: completion?.webhook,
    storagePath: completion?.storage_path,
    deadLetter: failure?.dead_letter ?? false,
    failureWebhook: failure?.webhook,
    approvalWebhook: approval?.webhook,
    steps: parseSteps(read, reader, hasChromium),
  };
}

/** `input_schema`: a JSON Schema of the input in which a property with a default is never required. */
function toInputContract(schema: JsonObject | undefined): InputContract {
  if (schema === undefined) return { declared: [], defaults: {} };
  const { required: written, ...rest } = schema;
  const properties = Object.entries(isJsonObject(schema["properties"]) ? schema["properties"] : {});
  const optional = new Set(properties.filter(([, property]) => hasDefault(property)).map(([name]) => name));
  const names = Array.isArray(written) ? written : [];
  const required = names.filter((name) => !optional.has(name));
  const declared = [...properties.map(([name]) => name), ...names.filter((name) => typeof name === "string")];
  return {
    schema: { type: "object", ...rest, ...(required.length === 0 ? {} : { required }) },
    declared: [...new Set(declared)],
    defaults: Object.fromEntries(properties.flatMap(([name, property]) => toDefault(name, property))),
  };
}

function hasDefault(property: Json): property is JsonObject {
  return isJsonObject(property) && Object.hasOwn(property, "default");
}

/** `default: null` says that the value may be left out, not that it is null. */
function toDefault(name: string, property: Json): readonly [string, Json][] {
  const value = hasDefault(property) ? property["default"] : undefined;
  return value === undefined || value === null ? [] : [[name, value]];
}

import type { JsonObject } from "../../../core/json.ts";
import { controlSchemas } from "./control-schemas.ts";
import { sameAs, withoutOwnKeywords } from "./own-keywords.ts";
import { sharedSchemas, stepId, timeLimit } from "./shared-schemas.ts";
import { triggerSchema } from "./trigger-schema.ts";
import { workSchemas } from "./work-schemas.ts";

/** With the names that a request has for them. */
const limitsSchema: JsonObject = {
  type: "object",
  description: "What a run may use; whoever starts one can lower it.",
  additionalProperties: false,
  properties: {
    max_cost_usd: {
      type: "number",
      exclusiveMinimum: 0,
      maximum: 1_000_000,
      description: "What it may cost; where `maxCostUsd` stands as well, the lower one holds.",
    },
    max_tokens: {
      type: "integer",
      minimum: 1,
      maximum: 1_000_000_000_000,
      description: "Tokens of models, in and out.",
    },
    max_steps: { type: "integer", minimum: 1, maximum: 1_000_000_000, description: "Every try of a step counts." },
    max_seconds: {
      type: "number",
      minimum: 1,
      maximum: 31_536_000,
      description: "From the start of the run, waiting for people included.",
    },
    on_exceeded: {
      enum: ["stop", "ask"],
      default: "stop",
      description: "Where a limit is used up: the run stops, or a person is asked to raise it.",
    },
  },
};

const topLevel: JsonObject = {
  dialect: { const: "uhlp", description: "Says which dialect this is; not needed." },
  workflowId: {
    type: "string",
    pattern: "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$",
    description: "The workflow's name, unique in the application: letters, digits, `_`, `.` and `-`, at most 200.",
    allowed: "Use 1 to 200 letters, digits, `_`, `.` and `-`, not beginning with `.` or `-`",
    examples: ["process_order_v1"],
  },
  name: { type: "string", description: "A name for people." },
  description: { type: "string", description: "What the workflow is for." },
  version: { type: ["string", "number"], description: "For people." },
  trigger: triggerSchema,
  startAt: { $ref: "#/definitions/stepReference", description: "The step with which a run begins." },
  steps: { $ref: "#/definitions/steps" },
  maxSteps: {
    type: "integer",
    minimum: 1,
    maximum: 100_000,
    description:
      "How many steps a run may visit on this level, so that an endless loop ends; blocks count for themselves. Default: `uhlp.max_steps` of the configuration, 20.",
  },
  timeout: { ...timeLimit, description: "How long a run may take: seconds, or a text such as `15m`." },
  inputSchema: {
    type: "object",
    description:
      "A JSON Schema that what comes in must fit: the JSON body of a request, the payload of a message or event, the input of a call.",
  },
  deadLetter: {
    type: "boolean",
    default: true,
    description: "Whether steps that have failed for good are kept for a person to retry or resolve.",
  },
  maxCostUsd: {
    type: "number",
    exclusiveMinimum: 0,
    maximum: 1_000_000,
    description: "What a run may cost.",
  },
  max_cost_usd: sameAs("maxCostUsd", { type: "number", exclusiveMinimum: 0, maximum: 1_000_000 }),
  limits: limitsSchema,
};

const steps: JsonObject = {
  type: "object",
  description: "The steps by id.",
  minProperties: 1,
  propertyNames: stepId,
  additionalProperties: { $ref: "#/definitions/step" },
};

/** A step without what its kind has: the loader checks that by kind, for compiling all kinds takes long. */
export const plainStep: JsonObject = {
  type: "object",
  description: "One step.",
  required: ["type"],
  properties: {
    type: {
      enum: [...Object.keys(workSchemas), "control"],
      description: "What the step does.",
    },
  },
  if: { properties: { type: { const: "control" } }, required: ["type", "subtype"] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { properties: { subtype: { enum: Object.keys(controlSchemas) } } },
};

const step: JsonObject = {
  ...plainStep,
  allOf: [
    ...Object.keys(workSchemas).map((type) => ({
      if: { properties: { type: { const: type } }, required: ["type"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { $ref: `#/definitions/${type}` },
    })),
    ...Object.keys(controlSchemas).map((subtype) => ({
      if: {
        properties: { type: { const: "control" }, subtype: { const: subtype } },
        required: ["type", "subtype"],
      },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { $ref: `#/definitions/control.${subtype}` },
    })),
  ],
};

/** What each kind of step has, by `type`, of control steps by `control.SUBTYPE`. */
export const stepKinds: JsonObject = {
  ...workSchemas,
  ...Object.fromEntries(Object.entries(controlSchemas).map(([subtype, schema]) => [`control.${subtype}`, schema])),
};

/**
 * The structure of a UHLP definition, as a JSON Schema of draft-07 with keywords of our own. The loader only warns of keys
 * that it does not know.
 */
export const checkedSchema: JsonObject = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "UHLP workflow",
  description: "A state machine of code, model, tool and control steps.",
  type: "object",
  required: ["workflowId", "startAt", "steps"],
  properties: topLevel,
  patternProperties: { "^x-": {} },
  additionalProperties: false,
  definitions: { ...sharedSchemas, steps, step, ...stepKinds },
};

/** What `schemas/uhlp-workflow.schema.json` publishes for editors. */
export const workflowSchema: JsonObject = withoutOwnKeywords(checkedSchema);

import type { JsonObject } from "../../../core/json.ts";
import { sameAs } from "./own-keywords.ts";
import { stepId } from "./shared-schemas.ts";
import { attempting, describing, flowing, mapping, shaping, spending } from "./step-properties.ts";

const controlling: JsonObject = {
  ...describing,
  subtype: { type: "string", description: "Which control step it is." },
  target: {
    type: ["object", "string"],
    description: "The fields of a control step may stand under `target` as well.",
  },
};

const fanningOut: JsonObject = {
  maxConcurrency: {
    type: "integer",
    minimum: 1,
    maximum: 10_000,
    default: 1,
    description: "How many items are worked on at once.",
  },
  max_concurrent: sameAs("maxConcurrency", { type: "integer", minimum: 1, maximum: 10_000 }),
  continueOnError: {
    type: "boolean",
    default: false,
    description:
      "What fails gives null in the output and the others go on; the run then ends as `partial`. Otherwise the first failure is that of the step.",
  },
};

function control(description: string, properties: JsonObject): JsonObject {
  return { description, properties: { ...controlling, ...properties }, additionalProperties: false };
}

const formatResponse = control("Shapes the result of the workflow and ends it. It needs no transitions.", {
  ...flowing,
  inputMapping: {
    $ref: "#/definitions/mapping",
    description: "The data, where there is neither `data` nor `dataMapping`.",
  },
  resultType: {
    type: "string",
    pattern: "^'?(generic|httpResponse|error|workflowStep)'?$",
    default: "generic",
    examples: ["generic", "httpResponse", "error", "workflowStep"],
    description:
      "What the data is: `generic` anything, `httpResponse` `{statusCode, headers, body, bodyEncoding}`, `error` `{code, message, details}`, `workflowStep` `{workflowId, stepId, status, output, error}`.",
  },
  data: {
    $ref: "#/definitions/expression",
    description: "The result: an expression, or a map or list of expressions.",
  },
  dataMapping: sameAs("data", { $ref: "#/definitions/expression" }),
});

const loop = control(
  "Runs a block once for every item of a list. Its output is the list of the blocks' outputs, in the order of the items.",
  {
    ...flowing,
    ...shaping,
    ...attempting,
    ...fanningOut,
    inputMapping: {
      $ref: "#/definitions/mapping",
      description: "May hold the list, as `list`, `items` or `inputList`.",
    },
    list: { $ref: "#/definitions/list" },
    inputList: sameAs("list", { $ref: "#/definitions/list" }),
    body: { $ref: "#/definitions/block", description: "What runs for each item." },
    loopBodyStepId: sameAs("body", { $ref: "#/definitions/stepReference" }),
    iteratorVar: { $ref: "#/definitions/identifier", default: "item", description: "The item's name in the body." },
    indexVar: { $ref: "#/definitions/identifier", default: "index", description: "The name of its number, from 0." },
  },
);

const parallel = control("Runs blocks side by side. Its output has the output of each block under its name.", {
  ...flowing,
  ...shaping,
  ...attempting,
  branches: {
    type: ["object", "array"],
    minProperties: 1,
    minItems: 1,
    maxProperties: 100,
    maxItems: 100,
    propertyNames: stepId,
    additionalProperties: { $ref: "#/definitions/block" },
    items: { $ref: "#/definitions/stepReference" },
    description: "Blocks by name, or a list of step ids, which are then the names.",
  },
  continueOnError: fanningOut["continueOnError"] ?? {},
});

const branch = control("Goes to one of several steps. Its output is null.", {
  ...flowing,
  branches: {
    type: "array",
    items: { $ref: "#/definitions/transition" },
    description: "The first whose condition holds is taken.",
  },
  default: { $ref: "#/definitions/outcome", description: "The step to go to where no condition holds." },
});

const split = control(
  "Distributes the items of a list over routes: each goes the first route whose condition holds. Its output has a list under each route's name: the items, or the outputs of the route's body.",
  {
    ...flowing,
    ...shaping,
    ...attempting,
    ...fanningOut,
    inputMapping: {
      $ref: "#/definitions/mapping",
      description: "May hold the list, as `list`, `items` or `inputList`.",
    },
    list: { $ref: "#/definitions/list" },
    inputList: sameAs("list", { $ref: "#/definitions/list" }),
    iteratorVar: sameAs("itemVar", { $ref: "#/definitions/identifier" }),
    itemVar: {
      $ref: "#/definitions/identifier",
      default: "item",
      description: "The item's name in conditions and bodies.",
    },
    routes: {
      type: "object",
      minProperties: 1,
      maxProperties: 100,
      propertyNames: stepId,
      description: "By name, in order.",
      additionalProperties: {
        type: "object",
        properties: {
          condition: {
            $ref: "#/definitions/condition",
            description: "About the item, e.g. `item.total > 100`. Absent: every item that is left.",
          },
          body: { $ref: "#/definitions/block", description: "What runs for each item of the route. Absent: nothing." },
        },
        additionalProperties: false,
      },
    },
    default: {
      type: ["string", "integer"],
      minLength: 1,
      description: "The route of the items for which no condition holds. Absent: they are left out.",
    },
  },
);

const merge = control("Combines values, for instance what branches have brought. Its output is the result.", {
  ...flowing,
  ...shaping,
  inputMapping: { $ref: "#/definitions/mapping", description: "May hold `sources`, or be the map of sources." },
  strategy: {
    enum: ["append", "object", "byKey"],
    default: "append",
    description:
      "`append` puts lists one after the other. `object` puts the entries of objects into one, where later sources win; of a map of sources it makes an object with their names. `byKey` joins the objects of several lists that agree in the field `key`.",
  },
  sources: {
    type: ["array", "object"],
    items: { $ref: "#/definitions/expression" },
    additionalProperties: { $ref: "#/definitions/expression" },
    description: "The values to combine: a list of expressions, or a map.",
  },
  key: {
    type: "string",
    minLength: 1,
    description: "For `byKey`: the field in which objects agree.",
    examples: ["id"],
  },
});

const wait = control("Waits without using anything, also over restarts of the process.", {
  ...flowing,
  ...shaping,
  inputMapping: { $ref: "#/definitions/mapping", description: "May hold `duration`, `until` or `event`." },
  duration: {
    type: ["number", "string"],
    minimum: 0,
    description: "How long: seconds, a text such as `90s`, or an expression that gives one of these.",
    examples: [30, "90s"],
  },
  until: {
    type: "string",
    minLength: 1,
    description: "Until when: a time in ISO 8601, or an expression that gives one.",
    examples: ["2026-05-01T09:00:00Z"],
  },
  event: {
    type: "string",
    minLength: 1,
    description: "For which event: its name, or an expression that gives it. The output is what the event brings.",
    examples: ["payment_received"],
  },
  timeout: {
    $ref: "#/definitions/timeLimit",
    description: "How long the event is waited for; then the step fails with the code `WAIT_TIMED_OUT`.",
  },
});

const subworkflow = control(
  "Runs another workflow, of any dialect, inside this run. Its output is the output of that.",
  {
    ...mapping,
    ...flowing,
    ...shaping,
    ...attempting,
    ...spending,
    workflowId: { type: "string", minLength: 1, description: "Its name or file, or an expression that gives one." },
    workflow: sameAs("workflowId", { type: "string", minLength: 1 }),
  },
);

const attempt = control("Runs a block; if it fails, `catch` runs and its output becomes that of the step.", {
  ...flowing,
  ...shaping,
  ...attempting,
  body: { $ref: "#/definitions/block", description: "What is tried." },
  catch: {
    $ref: "#/definitions/block",
    description: "Runs where the body fails. `error.code`, `error.message` and `error.details` say why.",
  },
  finally: {
    $ref: "#/definitions/block",
    description: "Runs at the end, whatever happened. Its output counts for nothing; its failure does.",
  },
});

/** Control steps, by their `subtype`. */
export const controlSchemas: { readonly [subtype: string]: JsonObject } = {
  formatResponse,
  loop,
  parallel,
  branch,
  split,
  merge,
  wait,
  subworkflow,
  try: attempt,
};

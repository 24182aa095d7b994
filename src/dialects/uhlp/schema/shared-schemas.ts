import type { JsonObject } from "../../../core/json.ts";
import { sameAs } from "./own-keywords.ts";

/** 1 to 100 letters, digits, `_` and `-`, not starting with `-`. */
const ID_PATTERN = "^[A-Za-z0-9_][A-Za-z0-9_-]{0,99}$";

export const stepId: JsonObject = {
  type: "string",
  pattern: ID_PATTERN,
  description: "Letters, digits, `_` and `-`, at most 100.",
  allowed: "Use 1 to 100 letters, digits, `_` and `-`, not beginning with `-`",
  examples: ["validate_order"],
};

/** Integers: YAML reads the id of a step `1:` as a number where it is named. */
const stepReference: JsonObject = {
  type: ["string", "integer"],
  minLength: 1,
  description: "The id of a step on the same level.",
  examples: ["charge_card"],
};

const expression: JsonObject = {
  description:
    "An expression, e.g. `trigger.requestData.httpDetails.body.name` or `steps.ID.output.items[0]`. Texts stand in single quotes inside the YAML text: `\"'hello'\"`. Numbers, booleans and null stand for themselves; maps and lists are read entry by entry.",
  examples: ["steps.fetch.output.items", "'a text'"],
};

const condition: JsonObject = {
  type: ["string", "boolean"],
  description:
    "An expression that must be true: `==`, `!=`, `<`, `<=`, `>`, `>=`, `&&`, `||`, `!`, parentheses, `defined(path)`. `step.output` is the output of the step that has just run; of a step that failed it is `{error: {code, message, details}}`.",
  examples: ["step.output.score >= 0.8", "step.output.error.code == 'TIMEOUT'"],
};

const mapping: JsonObject = {
  type: "object",
  description:
    "Names, and the expressions that give their values. A path that leads nowhere leaves its name out. Maps and lists may be nested.",
  additionalProperties: { $ref: "#/definitions/expression" },
};

const params: JsonObject = {
  type: "object",
  description:
    "Fixed values that go with the input; `inputMapping` wins where both have a name. Only texts that begin with `$.` are expressions.",
};

const outputMapping: JsonObject = {
  type: ["object", "string"],
  description:
    "Shapes the output of the step: an expression, or names with expressions, in which `step.output` is the raw output. What other steps read is the result.",
};

const DURATION_PATTERN = "([0-9]{1,8}|([0-9]{1,3}d)?([0-9]{1,5}h)?([0-9]{1,7}m)?([0-9]{1,8}s)?([0-9]{1,11}ms)?)";

const duration: JsonObject = {
  type: ["number", "string"],
  minimum: 0,
  maximum: 99_999_999,
  minLength: 1,
  pattern: `^${DURATION_PATTERN}$`,
  description: "Seconds, or a text such as `500ms`, `90s`, `15m`, `1h30m`, `2d`.",
  examples: [30, "90s"],
};

export const timeLimit: JsonObject = {
  type: ["number", "string"],
  exclusiveMinimum: 0,
  maximum: 99_999_999,
  minLength: 1,
  pattern: `^(?=.*[1-9])${DURATION_PATTERN}$`,
  description: "More than 0: seconds, or a text such as `500ms`, `90s`, `15m`, `1h30m`, `2d`.",
  allowed: "Write a time of more than 0",
  examples: [30, "90s"],
};

const retryPolicy: JsonObject = {
  type: "object",
  description:
    "Failed attempts are repeated, unless the failure says that this is of no use (a wrong input, a missing tool). `onFailure` and the like are read after the last attempt.",
  properties: {
    maxAttempts: {
      type: "integer",
      minimum: 1,
      maximum: 1000,
      default: 3,
      description: "All attempts together, the first included.",
    },
    max_attempts: sameAs("maxAttempts", { type: "integer", minimum: 1, maximum: 1000 }),
    backoff: {
      enum: ["fixed", "linear", "exponential"],
      default: "exponential",
      description: "How the delay grows: not at all, by `initialDelay` each time, or twofold each time.",
    },
    initialDelay: { $ref: "#/definitions/duration", default: 1, description: "Delay before the second attempt." },
    maxDelay: { $ref: "#/definitions/duration", default: 60, description: "The delay never grows beyond this." },
    jitter: {
      type: ["number", "boolean"],
      minimum: 0,
      maximum: 1,
      default: 0.1,
      description: "Which share of the delay is left to chance, from 0 to 1. `true` is 0.5, `false` is 0.",
    },
  },
  additionalProperties: false,
};

const transition: JsonObject = {
  type: "object",
  description: "Where to go, and when.",
  properties: {
    condition: { $ref: "#/definitions/condition" },
    nextStep: { $ref: "#/definitions/stepReference", description: "The step to go to." },
    nextStepId: sameAs("nextStep", { $ref: "#/definitions/stepReference" }),
    end: {
      type: "boolean",
      description: "The workflow (or the block) ends here, as failed if the step has failed.",
    },
  },
  additionalProperties: false,
};

const outcome: JsonObject = {
  description: "The id of a step, or `{end: true}`.",
  type: ["string", "integer", "object"],
  minLength: 1,
  properties: {
    nextStep: { $ref: "#/definitions/stepReference" },
    nextStepId: sameAs("nextStep", { $ref: "#/definitions/stepReference" }),
    end: { type: "boolean" },
  },
  additionalProperties: false,
};

const transitions: JsonObject = {
  description:
    "What follows the step. Either a map of `conditionalTransitions`, `onSuccess`, `onFailure`, `onFailureDefault` and `end`, or one list in which the first entry whose condition holds is taken, the first entry without a condition is the default after a success, and the second one the default after a failure.",
  type: ["object", "array"],
  items: { $ref: "#/definitions/transition" },
  properties: {
    conditionalTransitions: {
      type: "array",
      items: { $ref: "#/definitions/transition" },
      description: "After a success: the first whose condition holds is taken, before `onSuccess`.",
    },
    onSuccess: { $ref: "#/definitions/outcome", description: "After a success: the step to go to." },
    onFailure: {
      type: ["array", "string", "integer", "object"],
      minLength: 1,
      items: { $ref: "#/definitions/transition" },
      description:
        "After a failure: the first whose condition holds is taken. The failure is `step.output.error`, with `code`, `message` and `details`. A single step id is the same as `onFailureDefault`.",
    },
    onFailureDefault: {
      $ref: "#/definitions/outcome",
      description: "After a failure that no condition of `onFailure` fits. Absent: the workflow fails.",
    },
    end: { type: "boolean", description: "The workflow (or the block) ends after this step." },
  },
  additionalProperties: false,
};

const block: JsonObject = {
  description:
    "What runs inside a control step: the id of a step on the same level (that step, and every step that its transitions lead to), one step written here, or `{startAt, steps}`. In a block a step without transitions ends it, and so does a transition to the control step itself. The output of the last step is that of the block.",
  type: ["string", "integer", "object"],
  minLength: 1,
  if: { type: "object" },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: {
    if: { required: ["type"] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { $ref: "#/definitions/step" },
    else: {
      required: ["startAt", "steps"],
      properties: {
        startAt: { $ref: "#/definitions/stepReference", description: "The step with which the block begins." },
        steps: { $ref: "#/definitions/steps" },
      },
      additionalProperties: false,
    },
  },
};

const identifier: JsonObject = {
  type: "string",
  pattern: "^[A-Za-z_][A-Za-z0-9_]{0,99}$",
  description: "A name for expressions: letters, digits and `_`.",
  examples: ["order"],
};

const list: JsonObject = {
  $ref: "#/definitions/expression",
  description: "An expression that gives a list. Anything else makes the step fail.",
};

export const sharedSchemas: JsonObject = {
  stepReference,
  expression,
  condition,
  mapping,
  params,
  outputMapping,
  duration,
  timeLimit,
  retryPolicy,
  transition,
  outcome,
  transitions,
  block,
  identifier,
  list,
};

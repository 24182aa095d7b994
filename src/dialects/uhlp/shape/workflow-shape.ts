import {
  DEBOUNCE,
  foreignChoices,
  foreignTimes,
  KEY,
  PER,
  PLACE_FIELDS,
  PLACES,
  RATE,
  RATE_FIELDS,
  WAIT,
  WHEN_FULL,
  WHEN_MANY,
} from "../../places.ts";
import { runLimits } from "../../run-limits.ts";
import { either, jsonSchema } from "../../shape/containers.ts";
import { expected, optional, withDefault } from "../../shape/fields.ts";
import { object } from "../../shape/object.ts";
import { choice, flag, integer, number, text } from "../../shape/scalars.ts";
import { type ReadOf, to } from "../../shape/shape.ts";
import { variables } from "./control-shape.ts";
import { block, level } from "./step-shape.ts";
import { cost, expression, timeLimit } from "./texts.ts";
import { trigger, triggers } from "./trigger-shape.ts";

const workflowId = text({
  pattern: "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$",
  wrong: (written, name) => ({
    message: `${name} cannot be \`${written}\`.`,
    remedy:
      "Use 1 to 200 letters, digits, `_`, `.` and `-`, not beginning with `.` or `-`, for example `process_order_v1`.",
  }),
});

const concurrency = object(
  {
    key: optional(expression, `${KEY} For example \`trigger.payload.customer\`.`),
    ...PLACE_FIELDS,
    whenFull: withDefault(choice(["queue", "cancelOlder", "skip"]), "queue", WHEN_FULL, { also: ["when_full"] }),
  },
  { title: "`concurrency`", elsewhere: foreignChoices("Write `whenFull`: `queue`, `cancelOlder` or `skip`.") },
);

const rate = object(
  {
    key: optional(expression, `${KEY} For example \`trigger.payload.customer\`.`),
    ...RATE_FIELDS,
    per: expected(timeLimit, `${PER} Seconds, or a text such as \`1m\`.`),
    whenFull: withDefault(choice(["queue", "skip"]), "queue", WHEN_MANY, { also: ["when_full"] }),
  },
  { title: "`rate`", elsewhere: { ...foreignChoices("Write `whenFull`: `queue` or `skip`."), ...foreignTimes("per") } },
);

const debounce = object(
  {
    key: optional(expression, `${KEY} For example \`trigger.payload.customer\`.`),
    wait: expected(timeLimit, `${WAIT} Seconds, or a text such as \`1m\`.`),
    scope: RATE_FIELDS.scope,
  },
  { title: "`debounce`", elsewhere: foreignTimes("wait") },
);

export const workflow = object({
  dialect: optional(choice(["uhlp"]), "Says which dialect this is; not needed."),
  workflowId: expected(
    workflowId,
    "The workflow's name, unique in the application: letters, digits, `_`, `.` and `-`, at most 200.",
  ),
  name: optional(text(), "A name for people."),
  description: optional(text(), "What the workflow is for."),
  version: optional(either(number({ max: Number.MAX_VALUE }), text()), "For people."),
  trigger: optional(trigger, "What starts the workflow, beside a person and other workflows."),
  triggers: optional(triggers, "What starts the workflow, where that is several: each as a `trigger`."),
  ...level,
  variables: optional(
    variables,
    "Variables of a run and their first values, which are expressions. Steps read them as `vars.NAME`, and `set` steps change them.",
  ),
  onError: optional(
    to(block, (make) => make("onError")),
    "Runs where the workflow fails: a step or a block, which reads `error` and the outputs of steps. The run ends with this failure all the same, unless a `formatResponse` of it answers.",
  ),
  output: optional(
    expression,
    "The output of a run that ends well, where no `formatResponse` shapes it: an expression, or a map or list of expressions.",
    { otherwise: "that of the last step" },
  ),
  references: optional(
    choice(["checked", "lenient"]),
    "`lenient`: references that lead nowhere, and names that `inputSchema` or the output of a step rules out, are neither errors nor recorded, as in the original.",
    { otherwise: "`checked`" },
  ),
  maxSteps: optional(
    integer(1, 100_000),
    "How many steps a run may visit on this level, so that an endless loop ends; blocks count for themselves.",
    { otherwise: "`uhlp.max_steps` of the configuration, 20" },
  ),
  timeout: optional(timeLimit, "How long a run may take: seconds, or a text such as `15m`."),
  inputSchema: optional(
    jsonSchema("inputSchema"),
    "A JSON Schema that what comes in must fit: the JSON body of a request, the payload of a message or event, the input of a call.",
  ),
  deadLetter: withDefault(
    flag(),
    true,
    "Whether steps that have failed for good are kept for a person to retry or resolve.",
  ),
  maxCostUsd: optional(cost, "What a run may cost, in US dollars; of this and `limits` the lower one holds.", {
    also: ["max_cost_usd"],
  }),
  limits: optional(runLimits(cost), "What a run may use; whoever starts one can lower it."),
  concurrency: optional(concurrency, PLACES),
  rate: optional(rate, RATE),
  debounce: optional(debounce, DEBOUNCE),
});

export type ReadWorkflow = ReadOf<typeof workflow>;

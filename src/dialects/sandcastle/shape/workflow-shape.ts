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
import { either, jsonSchema, list } from "../../shape/containers.ts";
import { expected, ignored, optional, withDefault } from "../../shape/fields.ts";
import { inSnakeCase, object } from "../../shape/object.ts";
import { choice, duration, flag, integer, text } from "../../shape/scalars.ts";
import { type DialectRules, type ReadOf, to } from "../../shape/shape.ts";
import { toExcerpt } from "../../source/printable.ts";
import { toCron } from "../../work/cron.ts";
import { leavesStorage } from "../references/reference.ts";
import { parseTemplate } from "../references/template.ts";
import { policy } from "./policy-shape.ts";
import { cost, step } from "./step-shape.ts";
import { url, value } from "./texts.ts";

export const rules: DialectRules = { unknownKeys: "warning", nulls: "absent", scalars: "yaml" };

const NO_NAME = { code: "KEY_MISSING", message: "Workflow name is required", remedy: "Add `name:`." } as const;
const NO_STEPS = {
  code: "KEY_MISSING",
  message: "Workflow must have at least one step",
  remedy: "Add a step to `steps:`.",
} as const;

const MAX_STEPS = 500;
const MAX_POLICIES = 100;

const storagePath = to(text(), (written, reader) => {
  if (leavesStorage(written.value)) {
    const message = `\`${toExcerpt(written.value)}\` leaves the storage.`;
    reader.problems.error({ code: "STORAGE_PATH_INVALID", at: written.at, message });
  }
  return parseTemplate(written, reader);
});

const cron = to(text(), (written, { later }) => {
  later.push({ kind: "cron", text: written });
  return written.value;
});

const timetable = toCron({
  spell: inSnakeCase,
  missing: { message: "`schedule` has no `cron`.", remedy: "Add `cron`: five fields." },
  saysInput: "The input of its runs.",
  cancels: "cancel_previous",
});

const variableName = text({
  pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
  wrong: (written) => ({
    message: `\`${written}\` cannot be the name of an environment variable.`,
    remedy: "Write the name alone, without `$` and braces.",
  }),
});

const concurrency = object(
  {
    key: optional(value(), `${KEY} For example \`"{input.customer}"\`.`),
    ...PLACE_FIELDS,
    when_full: withDefault(choice(["queue", "cancel_older", "skip"]), "queue", WHEN_FULL, { also: ["whenFull"] }),
  },
  { title: "`concurrency`", elsewhere: foreignChoices("Write `when_full`: `queue`, `cancel_older` or `skip`.") },
);

const rate = object(
  {
    key: optional(value(), `${KEY} For example \`"{input.customer}"\`.`),
    ...RATE_FIELDS,
    per: expected(duration(), `${PER} Seconds, or a text such as \`1m\`.`),
    when_full: withDefault(choice(["queue", "skip"]), "queue", WHEN_MANY, { also: ["whenFull"] }),
  },
  {
    title: "`rate`",
    elsewhere: { ...foreignChoices("Write `when_full`: `queue` or `skip`."), ...foreignTimes("per") },
  },
);

const debounce = object(
  {
    key: optional(value(), `${KEY} For example \`"{input.customer}"\`.`),
    wait: expected(duration(), `${WAIT} Seconds, or a text such as \`1m\`.`),
    scope: RATE_FIELDS.scope,
  },
  { title: "`debounce`", elsewhere: foreignTimes("wait") },
);

export const workflow = object(
  {
    dialect: ignored("it says which dialect this is, `sandcastle`."),
    name: expected(text({ pattern: "\\S", wrong: () => NO_NAME, maxLength: 200 }), "The workflow's name.", {
      missing: NO_NAME,
    }),
    description: optional(text(), "For people: what the workflow is for."),
    sandstorm_url: optional(url(), "The agent server that answers; a variable of the environment may stand for it."),
    schedule: optional(
      either(cron, timetable),
      "When it starts by itself: a cron expression of five fields; or a map with `cron`, `timezone`, `input`, `catch_up` and `overlap`.",
    ),
    default_model: withDefault(
      text(),
      "sonnet",
      "The model of steps that name none. Where the file says none, `models.default` goes before it for agents of Pawl itself.",
    ),
    default_max_turns: withDefault(integer(1, 10_000), 10, "`max_turns` of steps that do not say it."),
    default_timeout: withDefault(duration(), 300, "`timeout` of steps that do not say it."),
    context: withDefault(
      choice(["auto", "explicit"]),
      "auto",
      "Whether outputs of direct dependencies that a prompt does not mention are added to it.",
    ),
    references: optional(
      choice(["checked", "lenient"]),
      "`lenient`: references that lead nowhere are neither errors nor recorded, as in the original.",
      { otherwise: "`checked`" },
    ),
    input_schema: optional(
      jsonSchema("input_schema"),
      "A JSON Schema of the input. A property with a default is never required.",
    ),
    env: optional(
      object(
        { allow: optional(list(variableName), "Names of environment variables that prompts may read.") },
        { title: "`env`" },
      ),
      "What texts may read of the environment.",
    ),
    max_cost_usd: optional(cost, "What a run may cost, in US dollars; of this and `limits` the lower one holds."),
    limits: optional(runLimits(cost, { title: "`limits`" }), "What a run may use; whoever starts one can lower it."),
    concurrency: optional(concurrency, PLACES),
    rate: optional(rate, RATE),
    debounce: optional(debounce, DEBOUNCE),
    policies: optional(
      list(policy, {
        max: MAX_POLICIES,
        tooMany: {
          code: "VALUE_INVALID",
          message: () => `There are more than ${MAX_POLICIES} policies.`,
          remedy: "Leave some out.",
        },
      }),
      "What is to be done about outputs; for every step that does work and names no others.",
    ),
    on_complete: optional(
      object(
        {
          webhook: optional(url(), "The URL that is told of the end."),
          storage_path: optional(storagePath, "The file in the application's storage that the outputs are written to."),
        },
        { title: "`on_complete`" },
      ),
      "What happens when a run has ended.",
    ),
    on_failure: optional(
      object(
        {
          webhook: optional(url(), "The URL that is told of a failure."),
          dead_letter: withDefault(
            flag(),
            false,
            "Whether steps that have failed for good are kept to be tried again.",
          ),
        },
        { title: "`on_failure`" },
      ),
      "What happens when a run has failed.",
    ),
    on_approval: optional(
      object({ webhook: optional(url(), "The URL that is told of a question.") }, { title: "`on_approval`" }),
      "What happens when a person is asked.",
    ),
    steps: expected(
      list(step, {
        min: 1,
        empty: NO_STEPS,
        max: MAX_STEPS,
        tooMany: {
          code: "TOO_MANY_STEPS",
          message: (count) => `The workflow has ${count} steps; ${MAX_STEPS} are allowed.`,
        },
      }),
      "The steps, in any order.",
      { missing: NO_STEPS },
    ),
  },
  { title: "a workflow" },
);

export type ReadWorkflow = ReadOf<typeof workflow>;

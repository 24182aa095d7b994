import { approvers, escalation, notRequester, quorum, reminder } from "../../answer-rules.ts";
import { anyMap, either, jsonSchema, list, mapOf } from "../../shape/containers.ts";
import { eventFields } from "../../shape/event-fields.ts";
import { expected, type Missing, optional, withDefault } from "../../shape/fields.ts";
import { object } from "../../shape/object.ts";
import { choice, filled, flag, integer, number, text } from "../../shape/scalars.ts";
import { type ReadOf, type Shape, to } from "../../shape/shape.ts";
import { toExcerpt } from "../../source/printable.ts";
import type { Range } from "../../source/source-text.ts";
import { isNull, type YamlMap, type YamlNode } from "../../source/yaml-node.ts";
import type { BlockOf, NamedBlockOf } from "../workflow.ts";
import { attempting, conditional, conditionalByIf, shaping, spending, taking } from "./step-fields.ts";
import { condition, expression, ids, mapping, reference, scalarOf, timeLimit, written } from "./texts.ts";
import { outcome, way } from "./transition-shape.ts";

/** A missing key is reported at the `subtype`, which is what needs it. */
function lacks(message: string, remedy: string): (map: YamlMap) => Missing {
  return (map) => ({ message, remedy, at: placeOfKind(map) });
}

export function placeOfKind(map: YamlMap): Range {
  return map.entries.get("subtype")?.value ?? map.entries.get("type")?.value ?? map;
}

/** Roots of paths, and words of the expression language. */
const ROOTS = new Set([
  "trigger",
  "context",
  "steps",
  "step",
  "workflow",
  "error",
  "input",
  "output",
  "true",
  "false",
  "null",
  "defined",
]);

const variable = to(
  text({ pattern: "^[A-Za-z_][A-Za-z0-9_]{0,99}$", examples: ["order"] }),
  ({ value, at }, { problems }) => {
    if (ROOTS.has(value)) {
      const message = `\`${toExcerpt(value)}\` means something else in expressions and cannot be a variable.`;
      problems.error({ code: "VALUE_INVALID", at, message, remedy: "Choose another name." });
    }
    return value;
  },
);

const listed = {
  list: expected(expression, "An expression that gives a list. Anything else makes the step fail.", {
    also: ["inputList"],
    within: { key: "inputMapping", names: ["list", "items", "inputList"] },
    missing: lacks("The step has no list.", "Add `list: EXPRESSION`."),
  }),
  inputMapping: optional(mapping, "May hold the list, as `list`, `items` or `inputList`."),
};

const continueOnError = withDefault(
  flag(),
  false,
  "What fails gives null in the output and the others go on; the run then ends as `partial`. Otherwise the first failure is that of the step.",
);

const tolerating = {
  toleratedFailures: optional(
    either(
      to(integer(0, 1_000_000), (failures) => ({ failures })),
      to(text({ pattern: "^(100|[0-9]{1,2})%$", examples: ["20%"] }), ({ value }) => ({
        share: Number.parseInt(value, 10) / 100,
      })),
    ),
    "How many may fail, as a number or as a share such as `20%`: these give null, as with `continueOnError`, and the first failure beyond them is that of the step.",
  ),
};

const fanningOut = {
  maxConcurrency: withDefault(integer(1, 10_000), 1, "How many items are worked on at once.", {
    also: ["max_concurrent"],
  }),
  continueOnError,
};

const workflowId = expected(filled(), "Its name or file, or an expression that gives one.", {
  also: ["workflow"],
  missing: lacks("The step names no workflow.", "Add `workflowId`: a name or a file."),
});

const ADD_BODY = "Add `body`: the id of a step, or a step.";
const MOST_PARTS = 100;

/** A value that may stand under `inputMapping` as well. */
function mapped(...names: readonly string[]) {
  return { within: { key: "inputMapping", names } };
}

/** Control steps, by their `subtype`. A block gets the id of a step that is written in its place. */
export function controlKinds<Step>(block: Shape<(inlineId: string) => BlockOf<Step>>) {
  const blockAs = (id: string) => to(block, (make) => make(id));
  const body = (says: string) => expected(blockAs("body"), says, { missing: lacks("The step has no body.", ADD_BODY) });
  return {
    formatResponse: object(
      {
        ...conditional,
        inputMapping: optional(mapping, "The data, where there is neither `data` nor `dataMapping`."),
        resultType: optional(
          resultType,
          "What the data is: `generic` anything, `httpResponse` `{statusCode, headers, body, bodyEncoding}`, `error` `{code, message, details}`, `workflowStep` `{workflowId, stepId, status, output, error}`.",
          { otherwise: "`generic`" },
        ),
        data: optional(expression, "The result: an expression, or a map or list of expressions.", {
          also: ["dataMapping"],
          ...mapped("data", "dataMapping"),
        }),
      },
      { says: "Shapes the result of the workflow and ends it. It needs no transitions." },
    ),
    fail: object(
      {
        ...conditional,
        code: expected(failureCode, "The error code with which the run ends: capitals, digits and `_`.", {
          ...mapped("code"),
          missing: lacks("The step has no code.", "Add `code`, for example `ORDER_REFUSED`."),
        }),
        message: optional(expression, "What went wrong: an expression that gives a text.", mapped("message")),
        status: optional(expression, "The HTTP status with which a route answers, from 400 on.", {
          ...mapped("status"),
          otherwise: "by the code, else 500",
        }),
        details: optional(expression, "More about it: an expression, or a map or list of expressions.", {
          ...mapped("details"),
        }),
        inputMapping: optional(mapping, "May hold `code`, `message`, `status` and `details`."),
      },
      {
        says: "Ends the workflow as failed, with this error. It needs no transitions. In a block it fails the block, which `catch`, `continueOnError` and `onFailure` of the control step answer.",
      },
    ),
    loop: object(
      {
        ...conditional,
        ...listed,
        body: expected(blockAs("body"), "What runs for each item.", {
          also: ["loopBodyStepId"],
          missing: lacks("The step has no body.", ADD_BODY),
        }),
        iteratorVar: withDefault(variable, "item", "The item's name in the body."),
        indexVar: withDefault(variable, "index", "The name of its number, from 0."),
        ...fanningOut,
        ...tolerating,
        ...shaping,
        ...attempting,
      },
      {
        says: "Runs a block once for every item of a list. Its output is the list of the blocks' outputs, in the order of the items.",
      },
    ),
    while: object(
      {
        ...conditionalByIf,
        condition: expected(
          condition,
          "Asked before each round, with the output of the one before as `step.output`; null before the first.",
          {
            missing: lacks("The step has no condition.", "Add `condition: EXPRESSION`."),
          },
        ),
        body: body("What runs in each round."),
        maxIterations: withDefault(integer(1, 100_000), 100, "Rounds at most: then the step fails with `MAX_VISITS`.", {
          also: ["max_iterations"],
        }),
        ...shaping,
        ...attempting,
      },
      { says: "Runs a block as long as a condition holds. Its output is that of the last round." },
    ),
    break: object(
      {},
      {
        says: "Leaves the `while` or `loop` in whose body it stands. Items that a `loop` has not begun are null in its output.",
      },
    ),
    continue: object({}, { says: "Ends this round of the `while` or `loop` in whose body it stands." }),
    parallel: object(
      {
        ...conditional,
        branches: expected(branchesOf(block), "Blocks by name, or a list of step ids, which are then the names.", {
          missing: lacks(NO_BRANCHES.message, NO_BRANCHES.remedy),
        }),
        maxConcurrency: optional(integer(1, 10_000), "How many blocks run at once.", { otherwise: "all" }),
        until: withDefault(
          choice(["all", "firstSuccess", "first"]),
          "all",
          "`firstSuccess` ends with the first block that succeeds, and fails where none does; `first` ends as the first one that ends. The output is then that of this block, and the others are told to stop.",
        ),
        continueOnError,
        ...tolerating,
        ...shaping,
        ...attempting,
      },
      { says: "Runs blocks side by side. Its output has the output of each block under its name." },
    ),
    branch: object(
      {
        ...conditional,
        branches: optional(list(way), "The first whose condition holds is taken."),
        default: optional(outcome, "The step to go to where no condition holds."),
      },
      {
        says: "Goes to one of several steps. Its output is null.",
        someOf: {
          keys: ["branches", "default"],
          none: NO_BRANCHES.message,
          remedy: "Add `branches`: a list of `{condition, nextStep}`.",
        },
      },
    ),
    split: object(
      {
        ...conditional,
        ...listed,
        itemVar: withDefault(variable, "item", "The item's name in conditions and bodies.", { also: ["iteratorVar"] }),
        routes: expected(routesOf(block), "By name, in order: each item goes the first whose condition holds.", {
          missing: lacks("The step has no routes.", "Add `routes`: a `condition` for each name."),
        }),
        default: optional(reference, "The route of the items for which no condition holds.", {
          otherwise: "they are left out",
        }),
        ...fanningOut,
        ...shaping,
        ...attempting,
      },
      {
        says: "Distributes the items of a list over routes. Its output has a list under each route's name: the items, or the outputs of the route's body.",
      },
    ),
    merge: object(
      {
        ...conditional,
        sources: optional(sources, "The values to combine: a list of expressions, or a map.", mapped("sources")),
        inputMapping: optional(mapping, "May hold `sources`, or be the map of sources."),
        strategy: withDefault(
          choice(["append", "object", "byKey"]),
          "append",
          "`append` puts lists one after the other. `object` puts the entries of objects into one, where later sources win; of a map of sources it makes an object with their names. `byKey` joins the objects of several lists that agree in the field `key`.",
        ),
        key: optional(filled("id"), "For `byKey`: the field in which objects agree."),
        ...shaping,
      },
      {
        says: "Combines values, for instance what branches have brought. Its output is the result.",
        someOf: {
          keys: ["sources", "inputMapping"],
          none: "The step has no sources.",
          remedy: "Add `sources`: a list of expressions.",
        },
      },
    ),
    emit: object(
      {
        ...conditional,
        event: expected(filled("order.paid"), "The event: its name, or an expression that gives it.", mapped("event")),
        payload: optional(mapping, "What it brings: a map of expressions.", { otherwise: "nothing" }),
        inputMapping: optional(mapping, "May hold `event`."),
        ...shaping,
      },
      {
        says: "Sends an event: workflows that it triggers are started, and the run has it that waits for its fields. It is sent once, however often the step is tried. The output is `{runs, waiting}`.",
      },
    ),
    start: object(
      {
        ...conditional,
        workflowId,
        ...taking,
        ...shaping,
      },
      {
        says: "Starts another workflow as a run of its own, and does not wait for it: `subworkflow` does. It is started once, however often the step is tried. The output is `{run_id, workflow}`.",
      },
    ),
    wait: object(
      {
        ...conditional,
        duration: optional(
          either(scalarOf(number({ min: 0 })), written),
          "How long: seconds, a text such as `90s`, or an expression that gives one of these.",
          mapped("duration"),
        ),
        until: optional(
          filled("2026-05-01T09:00:00Z"),
          "Until when: a time in ISO 8601, or an expression that gives one.",
          mapped("until"),
        ),
        event: optional(
          filled("payment_received"),
          "For which event: its name, or an expression that gives it. The output is what the event brings.",
          mapped("event"),
        ),
        match: optional(
          eventFields,
          "By which fields of its payload the event is known, from wherever it comes: their paths, and the expressions that give their values. Without it the event is sent to the run.",
        ),
        inputMapping: optional(mapping, "May hold `duration`, `until` or `event`."),
        timeout: optional(
          timeLimit,
          "How long the event is waited for; then the step fails with the code `WAIT_TIMED_OUT`.",
        ),
        ...shaping,
      },
      {
        says: "Waits without using anything, also over restarts of the process.",
        someOf: {
          keys: ["duration", "until", "event"],
          none: "The step does not say what to wait for.",
          several: "The step waits for {count} things at once.",
          remedy: "Give one of `duration`, `until` and `event`.",
        },
      },
    ),
    approval: object(
      {
        ...conditional,
        message: expected(expression, "What the person is asked: an expression that gives a text.", {
          ...mapped("message"),
          missing: lacks("The step asks nothing.", "Add `message`: what the person is to approve."),
        }),
        show: optional(expression, "What the person is to judge: an expression, or a map or list of expressions.", {
          ...mapped("show"),
          otherwise: "`{approved: true}`",
        }),
        form: optional(
          jsonSchema("form"),
          "A JSON Schema of what the person may change of it, or fill in; what is approved fits it.",
        ),
        inputMapping: optional(mapping, "May hold `message` and `show`."),
        approvers: approvers(filled("alice", "finance")),
        quorum,
        notRequester,
        reminder: reminder(timeLimit),
        escalation: escalation(timeLimit, filled("boss")),
        timeout: optional(timeLimit, "How long an answer is waited for.", { otherwise: "as long as it takes" }),
        onTimeout: withDefault(
          choice(["fail", "skip"]),
          "fail",
          "What happens then: the step fails with `APPROVAL_TIMED_OUT`, or is skipped, with null as its output.",
        ),
        ...shaping,
      },
      {
        says: "Asks a person, and waits without using anything. Its output is what is approved; a refusal fails the step with `APPROVAL_REJECTED`.",
      },
    ),
    set: object(
      {
        ...conditional,
        variables: expected(variables, "Names, and the expressions that give their values.", {
          ...mapped("variables"),
          missing: lacks("The step sets nothing.", "Add `variables`: a map of names and expressions."),
        }),
        inputMapping: optional(mapping, "May hold `variables`."),
      },
      {
        says: "Sets variables of the run, which expressions read as `vars.NAME`. All values are those before the step. Its output is the values.",
      },
    ),
    subworkflow: object(
      {
        ...conditional,
        workflowId,
        failOnError: withDefault(
          flag(),
          false,
          "The step fails with the code, message and details that the called workflow has answered with, where its `resultType` is `error`.",
        ),
        ...taking,
        ...shaping,
        ...attempting,
        ...spending,
      },
      { says: "Runs another workflow, of any dialect, inside this run. Its output is the output of that." },
    ),
    try: object(
      {
        ...conditional,
        body: body("What is tried."),
        catch: optional(
          blockAs("catch"),
          "Runs where the body fails. `error.code`, `error.message` and `error.details` say why. It reads the outputs of the steps of the body.",
        ),
        finally: optional(
          blockAs("finally"),
          "Runs at the end, whatever happened. Its output counts for nothing; its failure does. It reads the outputs of the steps of the body.",
        ),
        ...shaping,
        ...attempting,
      },
      { says: "Runs a block; if it fails, `catch` runs and its output becomes that of the step." },
    ),
  };
}

/** The names of a map that are variables of the run. */
export const variables = to(anyMap(), (map, { problems }) => {
  for (const [name, { key }] of map.entries) {
    if (/^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(name) && name !== "lastError") continue;
    const message = `\`${toExcerpt(name)}\` cannot be a variable.`;
    const remedy = "Use 1 to 100 letters, digits and `_`, not beginning with a digit; `lastError` is taken.";
    problems.error({ code: "VALUE_INVALID", at: key, message, remedy });
  }
  return map;
});

/** Real files write texts in quotes of their own, as in expressions. */
const failureCode = to(text({ pattern: "^'?[A-Z][A-Z0-9_]{0,63}'?$", examples: ["ORDER_REFUSED"] }), ({ value }) =>
  value.replaceAll("'", ""),
);

const RESULT_TYPES = ["generic", "httpResponse", "error", "workflowStep"];
const resultType = to(text({ pattern: `^'?(${RESULT_TYPES.join("|")})'?$`, examples: RESULT_TYPES }), ({ value }) =>
  value.replace(/^'(.*)'$/, "$1"),
);

const NO_BRANCHES = {
  message: "The step has no branches.",
  remedy: "Add `branches`: steps or blocks by name.",
} as const;

function branchesOf<Step>(block: Shape<(inlineId: string) => BlockOf<Step>>) {
  return either(
    to(list(reference, { min: 1, max: MOST_PARTS }), (starts) =>
      starts.map((start): NamedBlockOf<Step> => {
        return { name: start.value, at: start.at, block: { kind: "reference", start } };
      }),
    ),
    to(mapOf(block, { min: 1, max: MOST_PARTS, names: ids }), (entries, { problems }, { key }) => {
      const found = entries.map(({ name, at, value }): NamedBlockOf<Step> => ({ name, at, block: value(name) }));
      if (found.length === 0 && key !== undefined) problems.error({ code: "KEY_MISSING", at: key, ...NO_BRANCHES });
      return found;
    }),
  );
}

function routesOf<Step>(block: Shape<(inlineId: string) => BlockOf<Step>>) {
  const written = object({
    condition: optional(condition, "About the item, e.g. `item.total > 100`.", {
      otherwise: "every item that is left",
    }),
    body: optional(block, "What runs for each item of the route.", { otherwise: "nothing" }),
  });
  // `rest:` alone takes every item that is left.
  const route: Shape<Partial<ReadOf<typeof written>>> = {
    ...written,
    read: (node, spot, reader) => (isNull(node) ? {} : written.read(node, spot, reader)),
    toSchema: (writer) => writer.optional(written.toSchema(writer)),
  };
  return to(mapOf(route, { min: 1, max: MOST_PARTS, names: ids, readsNulls: true }), (entries) =>
    entries.map(({ name, value: { condition, body } }) => ({ name, condition, body: body?.(name) })),
  );
}

export interface Sources {
  readonly nodes: readonly YamlNode[];
  /** The names of a map of sources. */
  readonly names?: readonly string[];
}

const sources: Shape<Sources> = either(
  to(list(expression), (nodes) => ({ nodes })),
  to(anyMap(), toSources),
);

export function toSources(map: YamlMap | undefined): Sources {
  const entries = [...(map?.entries ?? [])];
  return { nodes: entries.map(([, { value }]) => value), names: entries.map(([name]) => name) };
}

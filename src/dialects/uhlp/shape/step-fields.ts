import type { RetryPolicy } from "../../../core/graph/graph.ts";
import { either, list } from "../../shape/containers.ts";
import { optional, withDefault } from "../../shape/fields.ts";
import { object } from "../../shape/object.ts";
import { choice, filled, flag, integer, number } from "../../shape/scalars.ts";
import { named, type Shape, to } from "../../shape/shape.ts";
import type { YamlScalar } from "../../source/yaml-node.ts";
import { condition, cost, delay, mapping, textOrMap, timeLimit } from "./texts.ts";

/** Groups of keys that steps share; every kind of step spreads those that it has. */

export const taking = {
  inputMapping: optional(
    mapping,
    "Names, and the expressions that give their values. A path that leads nowhere leaves its name out. Maps and lists may be nested.",
  ),
  params: optional(
    mapping,
    "Fixed values that go with the input; `inputMapping` wins where both have a name. Only texts that begin with `$.` are expressions.",
  ),
};

const IF =
  "Whether the step is done: an expression that must be true. Otherwise its output is null, and what follows is what follows its success.";

export const conditional = { if: optional(condition, IF, { also: ["condition"] }) };
/** Of a step whose `condition` says something else. */
export const conditionalByIf = { if: optional(condition, IF) };

export const shaping = {
  outputMapping: optional(
    textOrMap,
    "Shapes the output of the step: an expression, or names with expressions, in which `step.output` is the raw output. What other steps read is the result.",
  ),
};

export type ReadRetry = RetryPolicy & { readonly condition: YamlScalar | undefined };

const retry: Shape<ReadRetry> = named(
  "retry-policy",
  to(
    object({
      maxAttempts: withDefault(integer(1, 1_000), 3, "All attempts together, the first included.", {
        also: ["max_attempts"],
      }),
      backoff: withDefault(
        choice(["fixed", "linear", "exponential"]),
        "exponential",
        "How the delay grows: not at all, by `initialDelay` each time, or twofold each time.",
      ),
      onCodes: optional(
        list(filled("TIMEOUT"), { min: 1 }),
        "Only failures with these codes are repeated, also those of which it is said to be of no use.",
        { also: ["on_codes", "errors"] },
      ),
      condition: optional(
        condition,
        "Only failures for which it holds are repeated. It reads `error.code`, `error.message`, `error.details`, and as `step.attempt` how often the step has been tried.",
        { also: ["if"] },
      ),
      initialDelay: withDefault(delay, 1, "Delay before the second attempt."),
      maxDelay: withDefault(delay, 60, "The delay never grows beyond this."),
      jitter: withDefault(
        either(
          number({ min: 0, max: 1 }),
          to(flag(), (isOn) => (isOn ? 0.5 : 0)),
        ),
        0.1,
        "Which share of the delay is left to chance, from 0 to 1. `true` is 0.5, `false` is 0.",
      ),
    }),
    ({ maxAttempts, backoff, initialDelay: initialMs, maxDelay, jitter, onCodes, condition }) => {
      const delays = { backoff, initialMs, maxMs: Math.max(initialMs, maxDelay), jitter };
      const codes = onCodes === undefined ? {} : { onCodes: onCodes.map(({ value }) => value) };
      return { maxAttempts, ...delays, ...codes, condition };
    },
  ),
);

export const attempting = {
  timeout: optional(
    timeLimit,
    "How long one attempt may take: seconds, or a text such as `90s` or `1h30m`. Then it fails with the code `TIMEOUT`.",
  ),
  retryPolicy: optional(
    retry,
    "Failed attempts are repeated, unless the failure says that this is of no use (a wrong input, a missing tool). `onFailure` and the like are read after the last attempt.",
    { also: ["retry"] },
  ),
};

export const spending = {
  atMostOnce: withDefault(
    flag(),
    false,
    "The step is never tried again while it is unknown whether it had an effect, for instance after a crash: then it fails with `INTERRUPTED`.",
    { also: ["at_most_once"] },
  ),
  maxCostUsd: optional(cost, "What the step may cost, all attempts together, in US dollars.", {
    also: ["max_cost_usd"],
  }),
};

import type { RetryPolicy } from "../../../core/graph/graph.ts";
import { either } from "../../shape/containers.ts";
import { optional, withDefault } from "../../shape/fields.ts";
import { object } from "../../shape/object.ts";
import { choice, flag, integer, number } from "../../shape/scalars.ts";
import { named, type Shape, to } from "../../shape/shape.ts";
import { cost, delay, mapping, textOrMap, timeLimit } from "./texts.ts";

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

export const shaping = {
  outputMapping: optional(
    textOrMap,
    "Shapes the output of the step: an expression, or names with expressions, in which `step.output` is the raw output. What other steps read is the result.",
  ),
};

const retry: Shape<RetryPolicy> = named(
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
    ({ maxAttempts, backoff, initialDelay: initialMs, maxDelay, jitter }) => {
      return { maxAttempts, backoff, initialMs, maxMs: Math.max(initialMs, maxDelay), jitter };
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

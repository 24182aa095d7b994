import { either, list } from "../../shape/containers.ts";
import { optional } from "../../shape/fields.ts";
import { object } from "../../shape/object.ts";
import { flag } from "../../shape/scalars.ts";
import { named, type Reader, type ReadOf, type Shape, to } from "../../shape/shape.ts";
import type { Range } from "../../source/source-text.ts";
import { isNull, type YamlMap, type YamlScalar } from "../../source/yaml-node.ts";
import type { Reference } from "../workflow.ts";
import { condition, reference } from "./texts.ts";

/** One way from a step: its target, and its condition. */
export interface Way {
  readonly condition?: YamlScalar;
  readonly to: Reference | "end";
  readonly at: Range;
}

export interface TransitionDefinition extends Way {
  readonly on: "success" | "failure" | "any";
}

const NOWHERE = { none: "The transition leads nowhere.", remedy: "Add `nextStep: ID` or `end: true`." } as const;

const writtenWay = object(
  {
    condition: optional(
      condition,
      "An expression that must be true. `step.output` is the output of the step that has just run; of a step that failed it is `{error: {code, message, details}}`.",
    ),
    nextStep: optional(reference, "The step to go to.", { also: ["nextStepId"] }),
    end: optional(flag(), "The workflow (or the block) ends here, as failed if the step has failed."),
  },
  { someOf: { keys: ["nextStep", "end"], ...NOWHERE } },
);

const wayAsMap: Shape<Way> = to(writtenWay, ({ condition, nextStep, end, at }, { problems }): Way | undefined => {
  if (end && nextStep !== undefined) {
    const message = "The transition leads to a step and ends the workflow.";
    problems.error({ code: "VALUE_INVALID", at: nextStep.at, message, remedy: "Keep one of `nextStep` and `end`." });
  }
  if (end === false && !has(at, "nextStep") && !has(at, "nextStepId"))
    problems.error({ code: "KEY_MISSING", at, message: NOWHERE.none, remedy: NOWHERE.remedy });
  if (!end && nextStep === undefined) return undefined;
  const common = { to: nextStep ?? "end", at: nextStep?.at ?? at } as const;
  if (condition !== undefined) return { condition, ...common };
  // A condition that cannot be read has been reported: without it this would be a default.
  return has(at, "condition") ? undefined : common;
});

function has({ entries }: YamlMap, key: string): boolean {
  const value = entries.get(key)?.value;
  return value !== undefined && !isNull(value);
}

export const way = named("transition", wayAsMap);

/** The step to go to, as a text or as a map. */
export const outcome: Shape<Way> = named(
  "outcome",
  either(
    to(reference, (next): Way => ({ to: next, at: next.at })),
    way,
  ),
);

const byOutcome = object({
  conditionalTransitions: optional(
    list(way),
    "After a success: the first whose condition holds is taken, before `onSuccess`.",
  ),
  onSuccess: optional(outcome, "After a success: the id of the step to go to, or `{end: true}`."),
  onFailure: optional(
    either(
      list(way),
      to(outcome, (only) => [only]),
    ),
    "After a failure: the first whose condition holds is taken. The failure is `step.output.error`, with `code`, `message` and `details`. A single step id is the same as `onFailureDefault`.",
  ),
  onFailureDefault: optional(outcome, "After a failure that no condition of `onFailure` fits.", {
    otherwise: "the workflow fails",
  }),
  end: optional(flag(), "The workflow (or the block) ends after this step."),
});

/** A list for success and failure alike, or a map by outcome. */
export const transitions = named(
  "transitions",
  either(
    to(list(way), (inOrder) => ({ inOrder })),
    byOutcome,
  ),
);

/** In one list, of which the first that holds is taken. `end`: where the step itself says that it ends. */
export function toTransitions(
  read: ReadOf<typeof transitions> | undefined,
  end: Range | undefined,
  problems: Reader["problems"],
): readonly TransitionDefinition[] {
  if (read === undefined) return endsAt(end);
  if ("inOrder" in read) return [...toUnified(read.inOrder, problems), ...endsAt(end)];
  const { conditionalTransitions = [], onSuccess, onFailure = [], onFailureDefault, end: ends, at } = read;
  return [
    ...leadOn("success", conditionalTransitions),
    ...endsAt(ends ? (at.entries.get("end")?.key ?? at) : end),
    ...leadOn("success", [onSuccess]),
    ...leadOn("failure", [...onFailure, onFailureDefault]),
  ];
}

/**
 * The one list for success and failure. What has a condition holds for both; without one, the first entry is the
 * default after a success and the second the default after a failure.
 */
function toUnified(ways: readonly Way[], problems: Reader["problems"]): readonly TransitionDefinition[] {
  let defaults = 0;
  return ways.flatMap((each): readonly TransitionDefinition[] => {
    if (each.condition !== undefined) return [{ on: "any", ...each }];
    defaults += 1;
    if (defaults <= 2) return [{ on: defaults === 1 ? "success" : "failure", ...each }];
    const message =
      "This is the third entry without a condition: the first is the default after a success, the second after a failure.";
    problems.error({ code: "VALUE_INVALID", at: each.at, message, remedy: "Add a `condition`, or remove the entry." });
    return [];
  });
}

export function leadOn(on: "success" | "failure", ways: readonly (Way | undefined)[]): readonly TransitionDefinition[] {
  return ways.flatMap((each) => (each === undefined ? [] : [{ on, ...each }]));
}

function endsAt(at: Range | undefined): readonly TransitionDefinition[] {
  return at === undefined ? [] : [{ on: "success", to: "end", at }];
}

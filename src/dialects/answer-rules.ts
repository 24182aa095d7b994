import type { AnswerRules } from "../core/graph/graph.ts";
import { COMES_LATE, FORM_WITH_QUORUM } from "../core/trust/approvers.ts";
import type { ProblemList } from "./problem-list.ts";
import { list, oneOrMore } from "./shape/containers.ts";
import { optional, required, withDefault } from "./shape/fields.ts";
import { object } from "./shape/object.ts";
import { flag, integer } from "./shape/scalars.ts";
import { type Shape, type Text, to } from "./shape/shape.ts";
import type { YamlMap } from "./source/yaml-node.ts";

/** `name`: how the dialect writes one. */
export const approvers = (name: Shape<Text>) =>
  optional(
    list(name, { min: 1, max: 100 }),
    "Who may answer: names of API keys, groups of them, or `operator`, who bears no key of their own.",
    { otherwise: "whoever may answer runs" },
  );

export const quorum = optional(integer(1, 100), "How many different people must approve; one no is a no.", {
  otherwise: "one",
});

export const notRequester = withDefault(flag(), false, "Whoever has asked for the run may not answer.");

/** `time`: how the dialect writes a duration, read as milliseconds. */
export const reminder = (time: Shape<number>) =>
  optional(
    to(
      object({
        after: required(time, "How long nobody has answered."),
        every: optional(time, "How long until the next one.", { otherwise: "as `after`" }),
        times: required(integer(1, 100), "How many there are at most."),
      }),
      ({ after, every, times }) => ({ afterMs: after, everyMs: every, times }),
    ),
    "Tells the webhooks of the question again, while it is open.",
  );

export const escalation = (time: Shape<number>, name: Shape<Text>) =>
  optional(
    to(
      object({
        after: required(time, "How long nobody has answered."),
        to: required(oneOrMore(name, { min: 1, max: 100 }), "Who may answer then too: names as in `approvers`."),
        replaces: withDefault(
          flag(),
          false,
          "They alone may answer then. What was approved before counts all the same.",
        ),
      }),
      ({ after, to, replaces }) => ({ afterMs: after, to: to.map(({ value }) => value), replaces }),
    ),
    "Asks others too, and tells the webhooks of the question so.",
  );

export function refuseLate(
  { at, ...read }: Pick<AnswerRules, "reminder" | "escalation"> & { readonly at: YamlMap },
  timeoutMs: number | undefined,
  problems: ProblemList,
): void {
  for (const name of ["reminder", "escalation"] as const) {
    const value = at.entries.get(name)?.value;
    if (value !== undefined && (read[name]?.afterMs ?? 0) >= (timeoutMs ?? Number.POSITIVE_INFINITY))
      problems.error({ code: "VALUE_INVALID", at: value, ...COMES_LATE });
  }
}

/** Of an approval whose data the person may change. */
export function refuseQuorum(approval: YamlMap, read: number | undefined, problems: ProblemList): void {
  const at = approval.entries.get("quorum")?.value;
  if (at !== undefined && read !== 1) problems.error({ code: "VALUE_INVALID", at, ...FORM_WITH_QUORUM });
}

import type { AnswerRules } from "../graph/graph.ts";
import type { Identity } from "../history/events.ts";
import type { Instance } from "../history/run-state.ts";
import type { JsonObject } from "../json.ts";

/** Whoever bears no key of their own: a user of the machine, or who bears the key of its settings. They count as one. */
export const OPERATOR = "operator";

/** Somebody who answers, with the groups of their key. */
export interface Answerer extends Identity {
  readonly groups?: readonly string[] | undefined;
}

export function nameOf(who: Identity | undefined): string {
  return who?.name ?? OPERATOR;
}

/** Those who have asked for a run, by its options: of a rerun also those who asked for what it repeats. */
export function requestersOf({ requested_by: by }: JsonObject): readonly string[] {
  return Array.isArray(by) ? by.map(String) : [OPERATOR];
}

/** The options of a run that these have asked for. Absent ones mean the operator alone. */
export function toRequested(names: readonly string[]): JsonObject {
  return names.every((name) => name === OPERATOR) ? {} : { requested_by: [...new Set(names)] };
}

interface AnswerTerms {
  /** Null: whoever may answer runs. */
  readonly approvers: readonly string[] | null;
  readonly quorum: number;
  readonly approvedBy: readonly string[];
  readonly notBy: readonly string[];
  readonly reminded: number;
  /** Null: it has not been escalated. */
  readonly escalatedTo: readonly string[] | null;
}

export function hasAnswerRules({ approvers, quorum = 1, notRequester, escalation }: AnswerRules): boolean {
  return approvers !== undefined || quorum > 1 || notRequester === true || escalation !== undefined;
}

/** Null: whoever may answer runs. */
export function approversOf({ approvers, escalation }: AnswerRules, isEscalated: boolean): readonly string[] | null {
  if (!isEscalated || escalation === undefined) return approvers ?? null;
  if (escalation.replaces === true) return escalation.to;
  return approvers === undefined ? null : [...new Set([...approvers, ...escalation.to])];
}

/** `options`: of the run. */
export function termsOf(
  { approvedBy = [], reminded, isEscalated, step: { step } }: Instance,
  options: JsonObject,
): AnswerTerms {
  const rules: AnswerRules = step.kind === "approve" ? step : {};
  const { quorum = 1, notRequester, escalation } = rules;
  const notBy = notRequester === true ? requestersOf(options) : [];
  const escalatedTo = isEscalated && escalation !== undefined ? escalation.to : null;
  return { approvers: approversOf(rules, isEscalated), quorum, approvedBy, notBy, reminded, escalatedTo };
}

export function mayAnswer({ approvers, notBy }: Pick<AnswerTerms, "approvers" | "notBy">, who?: Answerer): boolean {
  const name = nameOf(who);
  const isNamed = approvers === null || [name, ...(who?.groups ?? [])].some((each) => approvers.includes(each));
  return isNamed && !notBy.includes(name);
}

/** Empty: whoever may answer runs, and one is enough. */
export function tellTerms({ approvers, quorum, approvedBy, notBy, reminded, escalatedTo }: AnswerTerms): string {
  return [
    ...(approvers === null ? [] : [`for ${approvers.join(", ")}`]),
    ...(notBy.length === 0 ? [] : [`not for ${notBy.join(", ")}, who asked for the run`]),
    ...(quorum === 1
      ? []
      : [`${approvedBy.length} of ${quorum} have approved${approvedBy.map((name) => `, ${name}`).join("")}`]),
    ...(reminded === 0 ? [] : [`reminded ${reminded === 1 ? "once" : `${reminded} times`}`]),
    ...(escalatedTo === null ? [] : [`escalated to ${escalatedTo.join(", ")}`]),
  ].join("; ");
}

/** Of a reminder or an escalation. */
export const COMES_LATE = {
  message: "It would come when the question has ended: `after` is not less than its time-out.",
  remedy: "Give it less time, or the question more.",
};

/** The data of one would be approved by others who have not seen it. */
export const FORM_WITH_QUORUM = {
  message: "Several must approve, and one of them could change what the others have approved.",
  remedy: "Ask for the data in an approval before this one, and show its output here.",
};

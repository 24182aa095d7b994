import type { ProblemList } from "../problem-list.ts";
import type { Range } from "../source/source-text.ts";
import type { YamlMap, YamlNode, YamlScalar } from "../source/yaml-node.ts";
import { flagAt, itemsAt, nodeAt, referenceAt, textAt, toReference } from "./read-node.ts";
import type { Reference, TransitionDefinition } from "./workflow.ts";

/** `transitions` in all forms, and `end` on the step, as one list of which the first that holds is taken. */
export function parseTransitions(step: YamlMap, problems: ProblemList): readonly TransitionDefinition[] {
  if (textAt(step, "type")?.value === "control") {
    const subtype = textAt(step, "subtype")?.value;
    if (subtype === "formatResponse") return reportIdle(parseWritten(step, problems), problems);
    if (subtype === "branch") return [...parseBranches(step, problems), ...parseWritten(step, problems)];
  }
  return parseWritten(step, problems);
}

/** A response ends everything, whatever stands beside it. */
function reportIdle(
  transitions: readonly TransitionDefinition[],
  problems: ProblemList,
): readonly TransitionDefinition[] {
  for (const { to, at } of transitions) {
    if (to === "end") continue;
    const message = "`formatResponse` ends here; this transition is never taken.";
    problems.warning({ code: "TRANSITION_IDLE", at, message });
  }
  return [];
}

function parseBranches(step: YamlMap, problems: ProblemList): readonly TransitionDefinition[] {
  const rest = parseOutcome(nodeAt(step, "default"), problems);
  const branches = parseEntries(itemsAt(step, "branches"), problems);
  return toTransitions("success", rest === undefined ? branches : [...branches, rest]);
}

function parseWritten(step: YamlMap, problems: ProblemList): readonly TransitionDefinition[] {
  const node = nodeAt(step, "transitions");
  const ends = flagAt(step, "end") === true ? endsAt(step.entries.get("end")?.key ?? step) : [];
  if (node?.kind === "list") return [...parseUnified(node.items, problems), ...ends];
  return node?.kind === "map" ? parseByOutcome(node, ends, problems) : ends;
}

/** One entry of a list, which has a target of its own. */
function parseEntries(items: readonly YamlNode[], problems: ProblemList): readonly Entry[] {
  return items.flatMap((item) => (item.kind === "map" ? (parseEntry(item, problems) ?? []) : []));
}

interface Entry {
  readonly condition?: YamlScalar;
  readonly to: Reference | "end";
  readonly at: Range;
}

/** The step to go to, as a text or as `{nextStep}`, or `{end: true}`. */
function parseOutcome(node: YamlNode | undefined, problems: ProblemList): Entry | undefined {
  const next = toReference(node);
  if (next !== undefined) return { to: next, at: next.at };
  return node?.kind === "map" ? parseEntry(node, problems) : undefined;
}

function parseEntry(entry: YamlMap, problems: ProblemList): Entry | undefined {
  const next = referenceAt(entry, "nextStep", "nextStepId");
  const ends = flagAt(entry, "end") === true;
  const condition = nodeAt(entry, "condition");
  if (ends && next !== undefined) {
    const message = "The transition leads to a step and ends the workflow.";
    problems.error({ code: "VALUE_INVALID", at: next.at, message, remedy: "Keep one of `nextStep` and `end`." });
  } else if (!ends && next === undefined) {
    const isUnreadable = nodeAt(entry, "nextStep", "nextStepId") !== undefined;
    const remedy = "Add `nextStep: ID` or `end: true`.";
    if (!isUnreadable)
      problems.error({ code: "KEY_MISSING", at: entry, message: "The transition leads nowhere.", remedy });
    return undefined;
  }
  const common = { to: next ?? "end", at: next?.at ?? entry } as const;
  if (condition === undefined) return common;
  // A condition that cannot be read has been reported: without it this would be a default.
  return condition.kind === "scalar" ? { condition, ...common } : undefined;
}

/**
 * The one list for success and failure. What has a condition holds for both; without one, the first entry is the
 * default after a success and the second the default after a failure.
 */
function parseUnified(items: readonly YamlNode[], problems: ProblemList): readonly TransitionDefinition[] {
  let defaults = 0;
  return parseEntries(items, problems).flatMap((entry): readonly TransitionDefinition[] => {
    if (entry.condition !== undefined) return [{ on: "any", ...entry }];
    defaults += 1;
    if (defaults <= 2) return [{ on: defaults === 1 ? "success" : "failure", ...entry }];
    const message =
      "This is the third entry without a condition: the first is the default after a success, the second after a failure.";
    problems.error({ code: "VALUE_INVALID", at: entry.at, message, remedy: "Add a `condition`, or remove the entry." });
    return [];
  });
}

function parseByOutcome(
  map: YamlMap,
  stepEnds: readonly TransitionDefinition[],
  problems: ProblemList,
): readonly TransitionDefinition[] {
  const isEnd = flagAt(map, "end") === true;
  const ends = isEnd ? endsAt(map.entries.get("end")?.key ?? map) : stepEnds;
  const success = parseOutcome(nodeAt(map, "onSuccess"), problems);
  const failure = parseOutcome(nodeAt(map, "onFailureDefault"), problems);
  return [
    ...toTransitions("success", parseEntries(itemsAt(map, "conditionalTransitions"), problems)),
    ...ends,
    ...toTransitions("success", success === undefined ? [] : [success]),
    ...toTransitions("failure", parseFailures(nodeAt(map, "onFailure"), problems)),
    ...toTransitions("failure", failure === undefined ? [] : [failure]),
  ];
}

function parseFailures(node: YamlNode | undefined, problems: ProblemList): readonly Entry[] {
  if (node?.kind === "list") return parseEntries(node.items, problems);
  const only = parseOutcome(node, problems);
  return only === undefined ? [] : [only];
}

function toTransitions(on: "success" | "failure", entries: readonly Entry[]): readonly TransitionDefinition[] {
  return entries.map((entry) => ({ on, ...entry }));
}

function endsAt(at: Range): readonly TransitionDefinition[] {
  return [{ on: "success", to: "end", at }];
}

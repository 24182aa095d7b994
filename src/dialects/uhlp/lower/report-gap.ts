import type { Expr } from "../../../core/expressions/expr.ts";
import type { ProblemList } from "../../problem-list.ts";
import { type StepDefinition, subtypeOf } from "../shape/step-shape.ts";

/** Warns of a step that has succeeded and may have nowhere to go. `conditions`: those of its transitions. */
export function reportGap(
  { id, at, body, map, transitions }: StepDefinition,
  conditions: readonly (Expr | undefined)[],
  problems: ProblemList,
): void {
  const afterSuccess = conditions.filter((_, index) => transitions[index]?.on !== "failure");
  // A step that says nothing at all about its success is another mistake, or ends a block.
  if (afterSuccess.length === 0 || oneAlwaysHolds(afterSuccess)) return;
  const message = `\`${id}\` fails with \`NO_TRANSITION\` where none of its conditions holds.`;
  const isList = map.entries.get("transitions")?.value.kind === "list";
  const byOutcome = isList ? "Add an entry without a condition." : "Add `onSuccess`.";
  const remedy = subtypeOf(body) === "branch" ? "Add `default`." : byOutcome;
  problems.warning({ code: "NO_TRANSITION", at, message, remedy });
}

/** Only where it is plain to see: no condition, `true`, or a condition beside its opposite. */
function oneAlwaysHolds(conditions: readonly (Expr | undefined)[]): boolean {
  const seen = new Set<string>();
  for (const condition of conditions) {
    if (condition === undefined || (condition.op === "literal" && condition.value === true)) return true;
    if (oppositesOf(condition).some((opposite) => seen.has(JSON.stringify(opposite)))) return true;
    seen.add(JSON.stringify(condition));
  }
  return false;
}

/** Not those of `<` and the like: of what cannot be compared neither holds. */
function oppositesOf(condition: Expr): readonly Expr[] {
  const negated: Expr = { op: "not", of: condition };
  if (condition.op === "not") return [negated, condition.of];
  if (condition.op !== "compare" || (condition.by !== "==" && condition.by !== "!=")) return [negated];
  return [negated, { ...condition, by: condition.by === "==" ? "!=" : "==" }];
}

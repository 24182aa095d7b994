import type { Expr } from "../../core/expressions/expr.ts";
import type { Json } from "../../core/json.ts";
import { allOf, call, first, isEqualTo, literal, oneOf } from "../build-expr.ts";
import { hasTimedOut, type NamedState, resultField } from "./result-fields.ts";
import { lowerPattern, lowerValue, type ReadName } from "./variables.ts";
import type { Condition } from "./workflow-shape.ts";

/** Whether a condition holds for the result that has just arrived: everything that it names must. */
export function lowerCondition(condition: Condition, state: NamedState, read: ReadName): Expr {
  const { success, pattern_match, pattern_not_match, field_equals, field_contains, timeout_occurred } = condition;
  const holds: Expr[] = [];
  const matches = (pattern: string) => call("matches", searchedText(state), lowerPattern(pattern, read));
  if (success !== undefined) holds.push(isEqualTo(resultField(state, "success"), literal(success)));
  if (pattern_match !== undefined) holds.push(matches(pattern_match));
  if (pattern_not_match !== undefined) holds.push({ op: "not", of: matches(pattern_not_match) });
  for (const [field, value] of Object.entries(field_equals ?? {})) holds.push(equals(state, { field, value }, read));
  for (const [field, value] of Object.entries(field_contains ?? {}))
    holds.push(contains(state, { field, value }, read));
  if (timeout_occurred !== undefined) holds.push(isEqualTo(hasTimedOut(state), literal(timeout_occurred)));
  return allOf(holds);
}

/** The matched text and, after a blank, the text on the screen. */
function searchedText(state: NamedState): Expr {
  const textOf = (field: string) => call("coalesce", resultField(state, field), literal(""));
  const screen = textOf("screen_content");
  const afterBlank: Expr = first(oneOf([["", literal("")]], screen), {
    op: "text",
    parts: [" ", { value: screen, written: "" }],
  });
  return {
    op: "text",
    parts: [
      { value: textOf("match_text"), written: "" },
      { value: afterBlank, written: "" },
    ],
  };
}

interface FieldRule {
  readonly field: string;
  readonly value: Json;
}

/** With its type: "0" is not 0. A field that is missing equals null. */
function equals(state: NamedState, { field, value }: FieldRule, read: ReadName): Expr {
  return isEqualTo(first(resultField(state, field), literal(null)), lowerValue(value, read));
}

function contains(state: NamedState, { field, value }: FieldRule, read: ReadName): Expr {
  const text = call("toString", call("coalesce", resultField(state, field), literal("")));
  return call("contains", text, call("toString", lowerValue(value, read)));
}

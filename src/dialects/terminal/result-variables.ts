import { toText } from "../../core/expressions/to-text.ts";
import type { JsonObject } from "../../core/json.ts";
import { STANDARD_VARIABLES } from "./tools.ts";

/** Lists of what happened inside are no variables: they hold others. */
const NO_VARIABLES = new Set(["execution_log", "final_variables", "available_workflows"]);

/** The variables that a state's result sets, as texts: the standard ones, and `{state}_{field}` for each of its fields. */
export function variablesFrom(state: string, result: JsonObject): readonly (readonly [name: string, value: string])[] {
  const texts = Object.entries(result).flatMap(([field, value]): [string, string][] =>
    value === null || NO_VARIABLES.has(field) ? [] : [[field, toText(value)]],
  );
  const byField = new Map(texts);
  const standard = [...STANDARD_VARIABLES].flatMap(([name, field]): [string, string][] => {
    const text = byField.get(field);
    return text === undefined ? [] : [[name, text]];
  });
  return [...standard, ...texts.map(([field, text]) => [`${state}_${field}`, text] as const)];
}

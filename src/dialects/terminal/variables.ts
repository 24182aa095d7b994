import type { Expr, TextPart } from "../../core/expressions/expr.ts";
import type { Json } from "../../core/json.ts";
import { call, first, inputAt, literal, toObject, variable } from "../build-expr.ts";
import { envNameOf, namesIn, splitText } from "./placeholders.ts";
import { type NamedState, resultField } from "./result-fields.ts";
import { mayHaveField, STANDARD_VARIABLES } from "./tools.ts";

/**
 * How names in braces become expressions. A name is a state's own field (`{open_session_id}`), else a standard variable,
 * else an initial one. Only what some text names is kept as a variable while the workflow runs.
 */
export class Variables {
  readonly #states: readonly NamedState[];
  readonly #named: ReadonlySet<string>;

  constructor(states: readonly NamedState[]) {
    this.#states = states;
    // A report on the run carries its session, so that who calls it can go on in it.
    this.#named = new Set(["session_id", ...namesOf(states)]);
  }

  /** The variables that a state sets from its result: none where the field is missing or null. */
  assignedBy(state: NamedState): { readonly [variable: string]: Expr } {
    const assigned: [string, Expr][] = [];
    for (const name of this.#named) {
      const own = ownField(state, name);
      if (own !== undefined) assigned.push([nameOfOwn(name), call("coalesce", own)]);
      const standard = standardField(state, name);
      if (standard !== undefined) assigned.push([name, call("coalesce", standard)]);
    }
    return Object.fromEntries(assigned);
  }

  /** The value for parameters of any state. */
  read(name: string): Expr {
    return this.#read(name, undefined);
  }

  /** The value for conditions of a state, when its result has just arrived and its variables are about to be set. */
  readAt(state: NamedState, name: string): Expr {
    return this.#read(name, state);
  }

  #read(name: string, arrived: NamedState | undefined): Expr {
    const env = envNameOf(name);
    if (env !== undefined) return { op: "path", root: "env", name: env, path: [] };
    const own = arrived && ownField(arrived, name);
    const standard = arrived && standardField(arrived, name);
    const isOwn = this.#states.some((state) => ownField(state, name) !== undefined);
    return first(
      ...(own === undefined ? [] : [call("coalesce", own)]),
      ...(isOwn ? [variable(nameOfOwn(name))] : []),
      ...(standard === undefined ? [] : [call("coalesce", standard)]),
      ...(STANDARD_VARIABLES.has(name) ? [variable(name)] : []),
      inputAt(name),
    );
  }
}

export function hasVariables(value: Json): boolean {
  return namesIn(value).size > 0;
}

export type ReadName = (name: string) => Expr;

/** A value with variables in its texts, however deep; keys stay as they are. */
export function lowerValue(value: Json, read: ReadName): Expr {
  if (typeof value === "string") return lowerText(value, read);
  if (!hasVariables(value)) return literal(value);
  if (Array.isArray(value)) return { op: "list", items: value.map((item: Json) => lowerValue(item, read)) };
  return toObject(Object.entries(value as object).map(([key, inner]) => [key, lowerValue(inner as Json, read)]));
}

/** One pass: what is put in is never looked at again, and a name without a value stays as it is written. */
export function lowerText(text: string, read: ReadName): Expr {
  const parts = splitText(text).map(
    (piece): TextPart => (typeof piece === "string" ? piece : { value: read(piece.name), written: piece.written }),
  );
  return parts.every((part) => typeof part === "string") ? literal(text) : { op: "text", parts };
}

/** In a regular expression a value means exactly its own text. */
export function lowerPattern(pattern: string, read: ReadName): Expr {
  return lowerText(pattern, (name) => call("escapeRegex", read(name)));
}

/** Text to type: escapes that the author wrote are keys, backslashes in a value are backslashes. */
export function lowerTyped(text: string, read: ReadName): Expr {
  return lowerText(text, (name) => call("escapeBackslashes", read(name)));
}

function namesOf(states: readonly NamedState[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { state } of states) {
    const { workflow_definition: _, ...params } = state.action.params.values;
    namesIn(params, names);
    for (const { condition } of state.transitions ?? []) namesIn(condition.values, names);
  }
  return names;
}

/** The field of the state that `{STATE_FIELD}` names. */
function ownField(state: NamedState, name: string): Expr | undefined {
  if (!name.startsWith(`${state.name}_`)) return undefined;
  const field = name.slice(state.name.length + 1);
  return field === "" ? undefined : resultField(state, field);
}

function standardField(state: NamedState, name: string): Expr | undefined {
  const field = STANDARD_VARIABLES.get(name);
  return field !== undefined && mayHaveField(state.state.action.tool, field) ? resultField(state, field) : undefined;
}

/** A state's own field goes before the standard variable of the same name, whichever was set later. */
function nameOfOwn(name: string): string {
  return STANDARD_VARIABLES.has(name) ? `own ${name}` : name;
}

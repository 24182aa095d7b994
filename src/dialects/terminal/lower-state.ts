import { writeExact } from "../../core/exact-json.ts";
import type { Expr } from "../../core/expressions/expr.ts";
import type { CallStep, Place, Step, TaskStep, Transition } from "../../core/graph/graph.ts";
import { isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { allOf, call, first, isEqualTo, literal, oneOf, toObject, variable } from "../build-expr.ts";
import { isTyped } from "../work/tool-params.ts";
import { hasTimedOut, type NamedState, resultField } from "./result-fields.ts";
import {
  hasVariables,
  lowerPattern,
  lowerText,
  lowerTyped,
  lowerValue,
  type ReadName,
  type Variables,
} from "./variables.ts";
import type { Condition, StateTransition } from "./workflow-shape.ts";

/** A state as a step of the machine: a task for the terminal, or a call of another workflow. */
export function lowerState(state: NamedState, variables: Variables, place: Place): Step {
  const { transitions, computed } = lowerTransitions(state, variables);
  const assign = { ...variables.assignedBy(state), ...computed };
  const read: ReadName = (name) => variables.read(name);
  const common = {
    id: state.name,
    place,
    transitions,
    ...(state.timeoutSeconds === undefined ? {} : { timeoutMs: Math.round(state.timeoutSeconds * 1_000) }),
    ...(Object.keys(assign).length === 0 ? {} : { assign }),
  };
  return state.state.action.tool === "run_workflow"
    ? { ...common, ...lowerCall(state, read) }
    : { ...common, ...lowerTask(state, read) };
}

function lowerTask(
  { state }: NamedState,
  read: ReadName,
): Pick<TaskStep, "kind" | "executor" | "input" | "atMostOnce"> {
  const { tool, params } = state.action;
  const lowered = Object.entries(params.values).map(([key, value]): [string, Expr] => {
    return [key, lowerParam(`${tool}.${key}`, value, read)];
  });
  return {
    kind: "task",
    executor: "terminal",
    input: toObject([
      ["tool", literal(tool)],
      ["params", toObject(lowered)],
    ]),
    // Typed twice it would mean something else.
    ...(isTyped(tool) ? { atMostOnce: true } : {}),
  };
}

function lowerParam(name: string, value: Json, read: ReadName): Expr {
  if (typeof value !== "string") return lowerValue(value, read);
  if (name === "await_output.pattern") return lowerPattern(value, read);
  return name === "send_input.input_text" ? lowerTyped(value, read) : lowerValue(value, read);
}

/** The called workflow gets its own variables and nothing else of the caller's. */
function lowerCall(
  { state }: NamedState,
  read: ReadName,
): Pick<CallStep, "kind" | "workflow" | "input" | "terms" | "reports"> {
  const { workflow_name: name, workflow_definition: definition, initial_variables: given } = state.action.params.values;
  return {
    kind: "call",
    workflow: typeof name === "string" ? lowerText(name, read) : literal(definition ?? null),
    input: lowerValue(isJsonObject(given) ? given : {}, read),
    terms: toObject([["by_name", literal(true)], ...limitsOf(state.action.params.values, read)]),
    reports: true,
  };
}

function limitsOf(params: JsonObject, read: ReadName): [string, Expr][] {
  const names = ["max_states", "execution_timeout"];
  return names.flatMap((name): [string, Expr][] => {
    const value = Object.hasOwn(params, name) ? params[name] : undefined;
    return value === undefined || value === null ? [] : [[name, lowerValue(value, read)]];
  });
}

interface LoweredTransitions {
  readonly transitions: readonly Transition[];
  /** Conditions that read variables: they are decided with the result, where all values are. */
  readonly computed: { readonly [variable: string]: Expr };
}

/**
 * In their order; after a time-out first those that ask for it, then `on_timeout`, then the others. Without any the
 * workflow has succeeded, whatever the result was.
 */
function lowerTransitions(state: NamedState, variables: Variables): LoweredTransitions {
  const computed: [string, Expr][] = [];
  const written = state.state.transitions ?? [];
  const lowered = written.map((transition, index) => {
    const condition = lowerCondition(transition.condition, state, (name) => variables.readAt(state, name));
    if (!hasVariables(transition.condition.values)) return toTransition(transition, condition);
    const name = `transition ${index + 1} of ${state.name}`;
    computed.push([name, condition]);
    return toTransition(transition, variable(name));
  });
  const asksForTimeout = (_: Transition, index: number) => written[index]?.condition.timeout_occurred === true;
  const transitions = [
    ...lowered.filter(asksForTimeout),
    ...toTimeoutTarget(state),
    ...lowered.filter((transition, index) => !asksForTimeout(transition, index)),
    ...(written.length === 0 ? endOf(state) : []),
  ];
  return { transitions, computed: Object.fromEntries(computed) };
}

function toTransition({ condition, next_state: to }: StateTransition, when: Expr): Transition {
  return { on: "any", when, written: writeExact(condition.values), to: to.value };
}

function toTimeoutTarget(state: NamedState): readonly Transition[] {
  const to = state.state.on_timeout;
  return to === undefined ? [] : [{ on: "any", when: hasTimedOut(state), written: "on_timeout", to: to.value }];
}

/** A time-out is a result like any other; a state that could not be done at all is none. */
function endOf(state: NamedState): readonly Transition[] {
  const to = { end: "success" } as const;
  return [
    { on: "success", to },
    { on: "failure", when: hasTimedOut(state), written: "timed out", to },
  ];
}

/** Whether a condition holds for the result that has just arrived: everything that it names must. */
function lowerCondition(condition: Condition, state: NamedState, read: ReadName): Expr {
  const { success, pattern_match, pattern_not_match, field_equals, field_contains, timeout_occurred } = condition;
  const holds: Expr[] = [];
  const matches = (pattern: string) => lowerMatch(pattern, state, read);
  if (success !== undefined) holds.push(isEqualTo(resultField(state, "success"), literal(success)));
  if (pattern_match !== undefined) holds.push(matches(pattern_match));
  if (pattern_not_match !== undefined) holds.push({ op: "not", of: matches(pattern_not_match) });
  for (const [field, value] of Object.entries(field_equals ?? {})) holds.push(equals(state, { field, value }, read));
  for (const [field, value] of Object.entries(field_contains ?? {}))
    holds.push(contains(state, { field, value }, read));
  if (timeout_occurred !== undefined) holds.push(isEqualTo(hasTimedOut(state), literal(timeout_occurred)));
  return allOf(holds);
}

/** `^` and `$` hold for the whole text, or, as in `await_output`, at every line. */
function lowerMatch(pattern: string, state: NamedState, read: ReadName): Expr {
  const whole = call("matches", searchedText(state, " "), lowerPattern(pattern, read));
  if (!/[$^]/.test(pattern)) return whole;
  return { op: "or", of: [whole, call("matches", searchedText(state, "\n"), lowerPattern(`(?m)${pattern}`, read))] };
}

/** The matched text and, after the separator, the text on the screen, or what a command has put out. */
function searchedText(state: NamedState, separator: string): Expr {
  const shown = state.state.action.tool === "run_command" ? "output" : "screen_content";
  const textOf = (field: string) => call("coalesce", resultField(state, field), literal(""));
  const screen = textOf(shown);
  const separated: Expr = first(oneOf([["", literal("")]], screen), {
    op: "text",
    parts: [separator, { value: screen, written: "" }],
  });
  return {
    op: "text",
    parts: [
      { value: textOf("match_text"), written: "" },
      { value: separated, written: "" },
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

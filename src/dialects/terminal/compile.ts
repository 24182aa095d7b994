import { MAX_PATTERN_CHARS, MAX_PATTERN_SIZE } from "../../core/expressions/expr.ts";
import { isJsonObject } from "../../core/json.ts";
import type { Compiled, LoadOptions } from "../definition.ts";
import { suggest } from "../did-you-mean.ts";
import type { ProblemList } from "../problem-list.ts";
import { Reader, type Text, TOP } from "../shape/shape.ts";
import type { Range } from "../source/source-text.ts";
import { keyOf, type YamlNode } from "../source/yaml-node.ts";
import { checkToolParams } from "../work/tool-params.ts";
import { lowerWorkflow } from "./lower.ts";
import { SOURCE_MISSING, SOURCE_TWICE } from "./messages.ts";
import { envNameOf, splitText } from "./placeholders.ts";
import { factsOf, mayHaveField, STANDARD_VARIABLES } from "./tools.ts";
import { rules, type State, workflow as shape, type TerminalWorkflow } from "./workflow-shape.ts";

/** Texts of one workflow that take variables, and those among them that are regular expressions. */
interface PlacedText {
  readonly text: string;
  readonly at: Range;
  /** The longest regular expression that its reader takes. 0: the text is none. */
  readonly maxChars: number;
}

/** The limit of `await_output`; conditions are read by the engine. */
const MAX_AWAITED_CHARS = 10_000;

/** Regular expressions that cannot be read, and variables that no state sets. `envAllowed`: what the configuration allows. */
async function checkTexts(
  workflow: TerminalWorkflow,
  problems: ProblemList,
  envAllowed: readonly string[],
): Promise<void> {
  const texts = [...textsOf(workflow)];
  reportUnknownVariables(workflow, texts, { problems, envAllowed });
  const patterns = texts.filter(({ maxChars }) => maxChars > 0);
  if (patterns.length > 0) await reportBadPatterns(patterns, problems);
}

function* textsOf({ states }: TerminalWorkflow): Generator<PlacedText> {
  for (const { value: state } of states) {
    for (const [key, { value }] of state.action.params.at.entries) {
      // A workflow inside has variables of its own.
      if (key === "workflow_definition") continue;
      const isRegex = state.action.tool === "await_output" && key === "pattern";
      yield* textsIn(value, isRegex ? MAX_AWAITED_CHARS : 0);
    }
    for (const { condition } of state.transitions ?? []) {
      for (const [key, { value }] of condition.at.entries)
        yield* textsIn(value, key.startsWith("pattern_") ? MAX_PATTERN_CHARS : 0);
    }
  }
}

function* textsIn(node: YamlNode, maxChars: number): Generator<PlacedText> {
  if (node.kind === "map") for (const { value } of node.entries.values()) yield* textsIn(value, 0);
  else if (node.kind === "list") for (const item of node.items) yield* textsIn(item, 0);
  else if (typeof node.value === "string") yield { text: node.value, at: node, maxChars };
}

function reportUnknownVariables(
  workflow: TerminalWorkflow,
  texts: readonly PlacedText[],
  { problems, envAllowed }: { readonly problems: ProblemList; readonly envAllowed: readonly string[] },
): void {
  const reported = new Set<string>();
  for (const { text, at } of texts) {
    for (const piece of splitText(text)) {
      if (typeof piece === "string" || reported.has(piece.name)) continue;
      const env = envNameOf(piece.name);
      if (env === undefined ? isSettable(workflow, piece.name) : envAllowed.includes(env)) continue;
      reported.add(piece.name);
      if (env === undefined) {
        const message = `No state sets \`${piece.written}\`: without an initial variable of this name it stays as it is.`;
        problems.warning({ code: "VARIABLE_UNKNOWN", at, message });
      } else {
        const message = `The configuration does not allow \`${piece.written}\`: it stays as it is.`;
        problems.warning({ code: "ENV_NOT_ALLOWED", at, message, remedy: `Add ${env} to \`terminal.env_allow\`.` });
      }
    }
  }
}

/** Some state may set it, whether it comes first or not. */
function isSettable({ states }: TerminalWorkflow, name: string): boolean {
  const standard = STANDARD_VARIABLES.get(name);
  return states.some(({ name: state, value: { action } }) => {
    if (standard !== undefined && factsOf(action.tool).fields.includes(standard)) return true;
    return name.startsWith(`${state}_`) && mayHaveField(action.tool, name.slice(state.length + 1));
  });
}

async function reportBadPatterns(patterns: readonly PlacedText[], problems: ProblemList): Promise<void> {
  const { RE2JS } = await import("re2js");
  for (const { text, at, maxChars } of patterns) {
    const reason = explainPattern(text, maxChars, (pattern) => RE2JS.compile(pattern).programSize());
    if (reason === undefined) continue;
    problems.error({ code: "REGEX_INVALID", at, message: `The regular expression cannot be used: ${reason}.` });
  }
}

function explainPattern(text: string, maxChars: number, sizeOf: (pattern: string) => number): string | undefined {
  // Whatever a variable holds, it stands there as plain text.
  const pattern = splitText(text)
    .map((piece) => (typeof piece === "string" ? piece : "x"))
    .join("");
  if (pattern.length > maxChars) return `it is longer than ${maxChars} characters`;
  try {
    return sizeOf(pattern) > MAX_PATTERN_SIZE ? "it is too large" : undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Every state that is named exists, and every state that exists can be reached. */
function checkTargets({ states, initial_state: initial }: TerminalWorkflow, problems: ProblemList): void {
  const byName = new Map(states.map(({ name, value }) => [name, value]));
  const check = ({ value: name, at }: Text, message: string) => {
    if (byName.has(name)) return;
    const remedy = suggest(name, byName.keys()) ?? `The states are: ${[...byName.keys()].join(", ")}.`;
    problems.error({ code: "STEP_UNKNOWN", at, message, remedy });
  };
  check(initial, `Initial state '${initial.value}' not found in states`);
  for (const { name, value: state } of states) {
    for (const { next_state: target } of state.transitions ?? [])
      check(target, `State '${name}' references non-existent state '${target.value}'`);
    const target = state.on_timeout;
    if (target !== undefined) check(target, `State '${name}' timeout target '${target.value}' not found`);
  }
  if (problems.hasErrors) return;
  const reached = reach(initial.value, byName);
  for (const { name, at } of states) {
    if (reached.has(name)) continue;
    const message = `Unreachable states detected: no transition leads to '${name}'.`;
    problems.warning({ code: "STEP_UNREACHABLE", at, message });
  }
}

function reach(initial: string, states: ReadonlyMap<string, State>): ReadonlySet<string> {
  const reached = new Set<string>();
  const pending = [initial];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const state = reached.has(name) ? undefined : states.get(name);
    reached.add(name);
    for (const { next_state: target } of state?.transitions ?? []) pending.push(target.value);
    if (state?.on_timeout) pending.push(state.on_timeout.value);
  }
  return reached;
}

/** Parameters that a tool does not know or would miss, and calls that could not be made. */
function checkActions(workflow: TerminalWorkflow, problems: ProblemList): void {
  for (const { value: state } of workflow.states) {
    const { tool, params, at } = state.action;
    // Whether a call is refused, and what the workflow does about it, shows when it runs.
    const missing = { at: keyOf(at, "params"), severity: "warning" } as const;
    checkToolParams({ tool, facts: factsOf(tool), params: params.at.entries, missing }, problems);
    if (state.action.tool === "run_workflow") checkCall(state.action, workflow.name, problems);
  }
}

type Action = State["action"];

function checkCall({ params, at: action }: Action, ownName: string, problems: ProblemList): void {
  const {
    workflow_name: name = null,
    workflow_definition: definition = null,
    initial_variables: variables = null,
  } = params.values;
  const at = keyOf(action, "params");
  const placeOf = (key: string) => params.at.entries.get(key)?.value ?? params.at;
  if (name === null && definition === null) problems.error({ code: "KEY_MISSING", at, message: SOURCE_MISSING });
  if (name !== null && definition !== null) problems.error({ code: "VALUE_INVALID", at, message: SOURCE_TWICE });
  const wrong = (key: string, expected: string) => {
    const message = `\`${key}\` must be ${expected}.`;
    problems.error({ code: "WRONG_TYPE", at: placeOf(key), message, remedy: `Write ${expected}.` });
  };
  if (name !== null && typeof name !== "string") wrong("workflow_name", "a text");
  if (definition !== null && !isJsonObject(definition)) wrong("workflow_definition", "a map");
  if (variables !== null && !isJsonObject(variables)) wrong("initial_variables", "a map");
  if (name === ownName) {
    const message = `The workflow calls itself: at most 5 levels deep, and then the call fails.`;
    problems.warning({ code: "MAX_DEPTH", at: placeOf("workflow_name"), message });
  }
}

/** Compiles a terminal workflow: structure, checks, lowering. Never throws on what a file may hold. */
export async function compileTerminal(
  root: YamlNode,
  problems: ProblemList,
  { envAllowed = [] }: LoadOptions,
): Promise<Compiled> {
  const workflow = await checkWorkflow(root, problems, envAllowed);
  if (workflow === undefined || problems.hasErrors) return { problems: problems.toArray() };
  return { graph: lowerWorkflow(workflow, problems.source, envAllowed), problems: problems.toArray() };
}

/** The workflow and those that are written inside it, each by itself: they share no variables. */
async function checkWorkflow(
  root: YamlNode,
  problems: ProblemList,
  envAllowed: readonly string[],
): Promise<TerminalWorkflow | undefined> {
  const reader = new Reader({ problems, rules });
  const workflow = shape.read(root, TOP, reader);
  if (workflow === undefined || reader.faulty.length > 0) return undefined;
  checkTargets(workflow, problems);
  checkActions(workflow, problems);
  await checkTexts(workflow, problems, envAllowed);
  for (const { value: state } of workflow.states) {
    const inner = state.action.params.at.entries.get("workflow_definition")?.value;
    if (inner?.kind === "map") await checkWorkflow(inner, problems, envAllowed);
  }
  return workflow;
}

import { MAX_PATTERN_CHARS, MAX_PATTERN_SIZE } from "../../core/expressions/limits.ts";
import type { ProblemList } from "../problem-list.ts";
import type { Range } from "../source/source-text.ts";
import type { YamlNode } from "../source/yaml-node.ts";
import { envNameOf, splitText } from "./placeholders.ts";
import { factsOf, mayHaveField, STANDARD_VARIABLES } from "./tools.ts";
import type { TerminalWorkflow } from "./workflow-shape.ts";

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
export async function checkTexts(
  workflow: TerminalWorkflow,
  { problems, envAllowed }: { readonly problems: ProblemList; readonly envAllowed: readonly string[] },
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

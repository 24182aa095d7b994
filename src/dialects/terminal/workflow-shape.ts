import type { JsonObject } from "../../core/json.ts";
import { anyMap, list, mapOf } from "../shape/containers.ts";
import { ignored, optional, required } from "../shape/fields.ts";
import { object } from "../shape/object.ts";
import { choice, flag, number, text } from "../shape/scalars.ts";
import { type DialectRules, type ReadOf, type Shape, to } from "../shape/shape.ts";
import { toJson, type YamlMap } from "../source/yaml-node.ts";

/** The rules that the requirement for `run_workflow` gives. */
export const rules: DialectRules = { unknownKeys: "error", nulls: "refused", scalars: "strict" };

const STATE_NAME = "^[a-zA-Z_][a-zA-Z0-9_]*$";

function plainText(textRules: Parameters<typeof text>[0] = {}): Shape<string> {
  return to(text(textRules), ({ value }) => value);
}

/** The tool itself judges the content. */
const free = to(anyMap(), toValues);

/** The values of the text, without the places. */
function toValues(map: YamlMap): JsonObject {
  return toJson(map) as JsonObject;
}

const writtenCondition = object(
  {
    success: optional(flag(), "Whether the tool has succeeded."),
    pattern_match: optional(plainText(), "A regular expression that `match_text` or `screen_content` matches."),
    pattern_not_match: optional(plainText(), "A regular expression that they must not match."),
    field_equals: optional(free, "Fields of the tool's result that equal a value."),
    field_contains: optional(free, "Fields of the tool's result that contain a value."),
    timeout_occurred: optional(flag(), "Whether the state has timed out."),
  },
  { filled: true },
);

const condition = to(writtenCondition, (read) => ({ ...read, values: toValues(read.at) }));

const transition = object({
  condition: required(condition, "All that is named must hold."),
  next_state: required(text({ pattern: STATE_NAME }), "The state to go to."),
});

const TOOLS = [
  "open_terminal",
  "send_input",
  "run_command",
  "await_output",
  "get_screen_content",
  "list_terminal_sessions",
  "exit_terminal",
  "run_workflow",
] as const;

const action = object({
  tool: required(choice(TOOLS), "The tool to call."),
  params: required(
    to(anyMap(), (at) => ({ at, values: toValues(at) })),
    "What it is called with; each tool has its own.",
  ),
});

const state = object({
  action: required(action, "What the state does."),
  transitions: optional(list(transition, { max: 20 }), "Where to go: the first whose condition holds. None: the end."),
  timeout: optional(number({ min: 0.1, max: 300 }), "Seconds that the state may take."),
  on_timeout: optional(text({ pattern: STATE_NAME }), "The state to go to when it has timed out."),
});

export const workflow = object({
  $schema: ignored("it tells an editor where the schema is."),
  dialect: ignored("it says which dialect this is, `terminal`."),
  name: required(
    plainText({ pattern: "^[a-zA-Z][a-zA-Z0-9_-]*$", maxLength: 64 }),
    "Its name: letters, digits, `_` and `-`.",
  ),
  description: optional(plainText({ maxLength: 500 }), "For people: what it is for."),
  initial_state: required(text({ pattern: STATE_NAME }), "The state with which it begins."),
  states: required(
    mapOf(state, {
      min: 1,
      max: 100,
      names: {
        pattern: STATE_NAME,
        wrong: (written) => ({
          message: `\`${written}\` cannot be the name of a state.`,
          remedy: "Use letters, digits and `_`, not beginning with a digit.",
        }),
      },
    }),
    "The states by name.",
  ),
});

export type ToolName = (typeof TOOLS)[number];
export type Condition = ReadOf<typeof condition>;
export type StateTransition = ReadOf<typeof transition>;
export type State = ReadOf<typeof state>;
export type TerminalWorkflow = ReadOf<typeof workflow>;

import type { TerminalToolName, ToolInput, ToolOutput } from "../../ports/terminals/terminal-tools.ts";
import { suggest } from "../did-you-mean.ts";
import type { ProblemList } from "../problem-list.ts";
import { toExcerpt } from "../source/printable.ts";
import type { Range } from "../source/source-text.ts";
import type { YamlMap } from "../source/yaml-node.ts";

/** The parameters of a tool and the fields of its result: for problems, and to know which variables a state can set. */
export interface ToolFacts {
  readonly required: readonly string[];
  readonly optional: readonly string[];
  readonly fields: readonly string[];
}

type Marked<Shape> = {
  readonly [Name in keyof Required<Shape>]: undefined extends Shape[Name] ? "optional" : "required";
};

const PROCESS = { process_running: "required", exit_code: "optional", hidden_prompt: "optional" } as const;
const SCREEN = { success: "required", screen_content: "required", timestamp: "required", error: "required" } as const;

/**
 * The names in the schemas of `TERMINAL_TOOLS`, and the types hold them equal: every workflow is checked by them, and hardly
 * any needs the schemas, which take longer to load than a short run.
 */
const TERMINAL_TOOLS: {
  readonly [Tool in TerminalToolName]: readonly [input: Marked<ToolInput<Tool>>, output: Marked<ToolOutput<Tool>>];
} = {
  open_terminal: [
    { shell: "optional", working_directory: "optional", environment: "optional", sandbox: "optional" },
    { ...SCREEN, session_id: "required", shell: "required", web_url: "required", hidden_prompt: "optional" },
  ],
  send_input: [
    { session_id: "required", input_text: "required", keys: "optional", paste: "optional", size: "optional" },
    { ...SCREEN, ...PROCESS, session_id: "required", message: "required" },
  ],
  run_command: [
    {
      ...{ command: "optional", session_id: "optional", cwd: "optional", timeout: "optional" },
      ...{ max_output_tokens: "optional", env: "optional" },
    },
    {
      ...{ success: "required", session_id: "required", exit_code: "required", exact: "required", output: "required" },
      ...{ left_out: "optional", elapsed_time: "required", cwd: "required", still_running: "required" },
      ...{ hidden_prompt: "optional", shell_ended: "optional", command_id: "optional", error: "required" },
    },
  ],
  await_output: [
    { session_id: "required", pattern: "required", timeout: "optional" },
    { ...SCREEN, ...PROCESS, match_text: "required", timed_out: "required", elapsed_time: "required" },
  ],
  get_screen_content: [
    { session_id: "required", content_mode: "optional", line_count: "optional", offset: "optional" },
    { ...SCREEN, ...PROCESS, session_id: "required", truncated: "optional", next_offset: "optional" },
  ],
  list_terminal_sessions: [{}, { success: "required", sessions: "required", total_sessions: "required" }],
  exit_terminal: [{ session_id: "required" }, { success: "required", session_id: "required", message: "required" }],
};

export const TERMINAL_TOOL_NAMES = Object.keys(TERMINAL_TOOLS) as TerminalToolName[];

export function isTerminalTool(name: string): name is TerminalToolName {
  return Object.hasOwn(TERMINAL_TOOLS, name);
}

/** A step that types is done at most once: after a crash it is unknown what of it was read, and what that has done. */
export function isTyped(tool: string): boolean {
  return tool === "send_input" || tool === "run_command";
}

export function factsOfTerminalTool(tool: TerminalToolName): ToolFacts {
  const [input, output] = TERMINAL_TOOLS[tool];
  const marked = (mark: string) => Object.entries(input).flatMap(([name, found]) => (found === mark ? [name] : []));
  return { required: marked("required"), optional: marked("optional"), fields: [...Object.keys(output), "error"] };
}

interface WrittenParams {
  readonly tool: string;
  readonly facts: ToolFacts;
  readonly params: YamlMap["entries"];
  /** Where one that is missing is reported, and how. */
  readonly missing: { readonly at: Range; readonly severity: "error" | "warning" };
}

/** Reports parameters that a tool does not know or would miss. */
export function checkToolParams({ tool, facts, params, missing }: WrittenParams, problems: ProblemList): void {
  const known = [...facts.required, ...facts.optional];
  for (const [name, { key: at }] of params) {
    if (known.includes(name)) continue;
    const message = `\`${toExcerpt(name)}\` is no parameter of \`${tool}\`.`;
    problems.unknown(name, known, { code: "UNKNOWN_KEY", at, message, remedy: suggest(name, known) });
  }
  for (const name of facts.required) {
    if (params.has(name)) continue;
    const message = `\`${tool}\` needs \`${name}\`.`;
    problems[missing.severity]({ code: "KEY_MISSING", at: missing.at, message, remedy: `Add \`${name}\`.` });
  }
}

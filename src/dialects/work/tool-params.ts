import type { z } from "zod";
import { TERMINAL_TOOLS, type TerminalToolName } from "../../ports/terminals/terminal-tools.ts";
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

export function factsOfTerminalTool(tool: TerminalToolName): ToolFacts {
  const { input, output } = TERMINAL_TOOLS[tool];
  const parameters = new Map<string, z.ZodType>(Object.entries(input.shape));
  const names = [...parameters.keys()];
  const isOptional = (name: string) => parameters.get(name)?.safeParse(undefined).success === true;
  return {
    required: names.filter((name) => !isOptional(name)),
    optional: names.filter(isOptional),
    fields: [...Object.keys(output.shape), "error"],
  };
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

import type { TemplateFault } from "#jinja";
import type { Problem } from "../../../core/errors/problem.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { Definition, LoadOptions } from "../../definition.ts";
import { ProblemList } from "../../problem-list.ts";
import { checkLater } from "../../shape/check-later.ts";
import { Reader, type Text, TOP } from "../../shape/shape.ts";
import { placeOfFault } from "../../source/place-in-scalar.ts";
import type { Range } from "../../source/source-text.ts";
import { describeNode, type YamlMap } from "../../source/yaml-node.ts";
import { readYaml } from "../../source/yaml-source.ts";
import { findTemplateFault } from "./check-template.ts";
import { EXAMPLE, promptFile, promptRules } from "./prompt-shape.ts";

/** A prompt file: what to ask a model, and how the answer must look. Plain JSON, so that a run can pin it. */
export interface PromptTemplate {
  readonly description?: string;
  /** `provider:model`, an alias, or a name that a provider is known by. */
  readonly model?: string;
  readonly parameters?: JsonObject;
  /** Jinja. */
  readonly template: string;
  /** A value that is missing is an error wherever the template uses it. */
  readonly strict?: boolean;
  readonly outputFormat?: "json" | "text" | "xml" | "yaml";
  readonly outputSchema?: JsonObject;
}

/** Files that hold nothing but a template. */
const BARE = /\.(?:j2|jinja2?|md|txt|prompt)$/i;

/**
 * Reads a prompt file: YAML or JSON, or a template by itself. Everything that is wrong is a problem with its place, syntax
 * of the template included.
 */
export async function parsePromptTemplate(
  definition: Definition,
  options: Pick<LoadOptions, "isLenient"> = {},
): Promise<{ readonly template?: PromptTemplate; readonly problems: readonly Problem[] }> {
  const problems = new ProblemList(definition, options);
  if (definition.file !== undefined && BARE.test(definition.file)) return readBare(problems);
  const root = readYaml(problems);
  if (root?.kind === "map") {
    const template = await readTemplate(root, new Reader({ problems, rules: promptRules }));
    if (template !== undefined && !problems.hasErrors) return { template, problems: problems.toArray() };
  } else if (root !== undefined) {
    const message = `A prompt file is a map with the key \`template\`, not ${describeNode(root)}.`;
    problems.error({ code: "WRONG_TYPE", at: root, message, remedy: EXAMPLE });
  }
  return { problems: problems.toArray() };
}

async function readBare(problems: ProblemList) {
  const { text } = problems.source;
  const fault = await findTemplateFault(text);
  if (fault === undefined) return { template: { template: text }, problems: [] };
  const start = fault.line === undefined ? 0 : offsetOf(text, fault.line) + (fault.column ?? 1) - 1;
  reportSyntax(fault, { start, end: start + (fault.length ?? 1) }, problems);
  return { problems: problems.toArray() };
}

function offsetOf(text: string, line: number): number {
  const before = text.split("\n", line - 1).join("\n");
  return line === 1 ? 0 : before.length + 1;
}

async function readTemplate(root: YamlMap, reader: Reader): Promise<PromptTemplate | undefined> {
  const read = promptFile.read(root, TOP, reader);
  if (read !== undefined) await checkSyntax(read.template, reader.problems);
  await checkLater(reader);
  if (read === undefined) return undefined;
  const { description, model, parameters, template, strict, outputFormat, outputSchema } = read;
  return {
    description: description?.value,
    model: model?.value,
    parameters,
    template: template.value,
    strict,
    outputFormat,
    ...(outputSchema === undefined ? {} : { outputSchema }),
  };
}

async function checkSyntax(template: Text, problems: ProblemList): Promise<void> {
  const fault = await findTemplateFault(template.value);
  if (fault === undefined) return;
  const at = placeOfFault(template, fault, problems.source);
  const where = at === undefined && fault.line !== undefined ? ` (line ${fault.line} of the template)` : "";
  reportSyntax({ ...fault, reason: `${fault.reason}${where}` }, at ?? template.at, problems);
}

function reportSyntax({ reason }: TemplateFault, at: Range, problems: ProblemList): void {
  const message = `The template cannot be read: ${reason}.`;
  problems.error({ code: "PROMPT_INVALID", at, message, remedy: "Correct the place shown." });
}

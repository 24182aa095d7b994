import type { OpenApplication } from "../../../operations/application/application.ts";
import { type Validation, validateDefinition } from "../../../operations/definitions/validate-definition.ts";
import { type CommonOptions, formatOf } from "../cli-context.ts";
import { print, printEnvelope } from "../print.ts";

const INVALID = 3;

/** `pawl validate`: every problem of every file, at once. */
export async function validate(
  app: OpenApplication,
  files: readonly string[],
  options: CommonOptions,
): Promise<number> {
  const validations: Validation[] = [];
  for (const file of files) validations.push(await validateDefinition(app, file, process.cwd()));
  if (formatOf(options) === "text") print(validations.map(toText).join("\n"));
  else printEnvelope(validations.map(({ file, isValid, problems }) => ({ file, valid: isValid, problems })));
  return validations.every(({ isValid }) => isValid) ? 0 : INVALID;
}

function toText(validation: Validation): string {
  const { problems } = validation;
  const rendered = problems.map((problem) => `${problem.rendered}\n\n`).join("");
  return `${rendered}${verdictOn(validation)}`;
}

function verdictOn({ file, isValid, graphs, parts, problems }: Validation): string {
  const errors = problems.filter(({ severity }) => severity === "error").length;
  if (!isValid) return `${file} has ${errors === 1 ? "1 problem" : `${errors} problems`}.`;
  if (parts === undefined) {
    const [graph] = graphs;
    return `${file} is valid: ${graph?.dialect} workflow "${graph?.name}", ${graph?.flow.steps.length} steps.`;
  }
  const agents = parts.filter(({ kind }) => kind === "agent").length;
  const workflows = graphs.map(({ name }) => `"${name}"`);
  const listed = workflows.length === 0 ? "no workflows" : `agents workflows ${workflows.join(", ")}`;
  return `${file} is valid: ${listed}; ${agents === 1 ? "1 agent" : `${agents} agents`}.`;
}

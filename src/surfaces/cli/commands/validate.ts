import { isJsonObject } from "../../../core/json.ts";
import type { StartPorts } from "../../../operations/application/ports.ts";
import type { TextValidation } from "../../../operations/definitions/workflow-schemas.ts";
import { validateDefinition } from "../../../operations/workflows/validate-definition.ts";
import { type CommonOptions, formatOf } from "../cli-context.ts";
import { readSource } from "../perform-verb.ts";
import { print, printEnvelope } from "../print.ts";
import type { RemoteParts } from "../remote/perform-remotely.ts";

const INVALID = 3;

type Check = (file: string) => Promise<TextValidation>;

/** With the files that it names. */
export function checkHere(app: StartPorts): Check {
  return (file) => validateDefinition(app, file, process.cwd());
}

/** A server is sent the text, and nothing that it names. */
export function checkThere({ client }: RemoteParts): Check {
  return async (file) => {
    const report = await client.call("POST /workflows/validate", { text: await readSource(file) });
    // A server knows the text, and not the file.
    const problems = report.problems.map((problem) => {
      return { ...problem, rendered: String(problem["rendered"]).replace(/^<text>(?=:)/, file) };
    });
    return { ...report, problems };
  };
}

/** `pawl validate`: every problem of every file, at once. */
export async function validate(files: readonly string[], check: Check, options: CommonOptions): Promise<number> {
  const checked: Checked[] = [];
  for (const file of files) checked.push({ file, ...(await check(file)) });
  if (formatOf(options) === "text") print(checked.map(toText).join("\n"));
  else printEnvelope(checked);
  return checked.every(({ valid }) => valid) ? 0 : INVALID;
}

interface Checked extends TextValidation {
  readonly file: string;
}

function toText(checked: Checked): string {
  const rendered = checked.problems.map((problem) => `${String(problem["rendered"])}\n\n`).join("");
  return `${rendered}${verdictOn(checked)}`;
}

function verdictOn(checked: Checked): string {
  const { valid, workflows } = checked;
  const unready = valid ? workflows.filter(({ ready }) => ready === false).map(({ name }) => `"${name}"`) : [];
  const lacks = unready.length === 0 ? "" : ` No run of ${unready.join(", ")} would begin here: see above.`;
  return `${describeText(checked)}${lacks}`;
}

function describeText({ file, valid, workflows, agents, problems }: Checked): string {
  const errors = problems.filter((problem) => isJsonObject(problem) && problem["severity"] === "error").length;
  if (!valid) return `${file} has ${errors === 1 ? "1 problem" : `${errors} problems`}.`;
  if (agents === undefined) {
    const [workflow] = workflows;
    return `${file} is valid: ${workflow?.dialect} workflow "${workflow?.name}", ${workflow?.steps} steps.`;
  }
  const names = workflows.map(({ name }) => `"${name}"`);
  const listed = names.length === 0 ? "no workflows" : `agents workflows ${names.join(", ")}`;
  return `${file} is valid: ${listed}; ${agents === 1 ? "1 agent" : `${agents} agents`}.`;
}

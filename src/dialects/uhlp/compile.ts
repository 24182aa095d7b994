import type { Compiled } from "../definition.ts";
import { explainCron } from "../explain-cron.ts";
import { JsonSchemaChecker } from "../json-schema-checker.ts";
import type { ProblemList } from "../problem-list.ts";
import { reportSchemaProblems } from "../schema-problems.ts";
import type { SourceText } from "../source/source-text.ts";
import type { YamlMap } from "../source/yaml-node.ts";
import { findPart } from "../source/yaml-node.ts";
import { hoistTargets } from "./hoist-targets.ts";
import { lowerWorkflow } from "./lower/lower.ts";
import type { LowerContext } from "./lower/lower-context.ts";
import { parseWorkflow } from "./parse.ts";
import type { ParseContext } from "./parse-context.ts";
import { MAX_STEPS } from "./parse-step.ts";
import { findTemplateFault } from "./prompts/check-template.ts";
import { placeInScalar } from "./prompts/place-in-scalar.ts";

export interface UhlpOptions {
  /** For workflows that do not say `maxSteps`. */
  readonly maxSteps: number;
}

/** Compiles a UHLP file: structure, parse, lower. Never throws on what a file may hold. */
export async function compileUhlp(
  root: YamlMap,
  source: SourceText,
  problems: ProblemList,
  { maxSteps }: UhlpOptions,
): Promise<Compiled> {
  const { validateWorkflow } = await import("./workflow-validator.ts");
  const hoisted = hoistTargets(root);
  const faulty = reportSchemaProblems(hoisted, { validate: validateWorkflow, unknownKeys: "warning" }, problems);
  const parsing: ParseContext = {
    source,
    problems,
    faulty,
    schemas: [],
    prompts: [],
    crons: [],
    stepIds: new Set(),
    stepCount: 0,
  };
  const workflow = parseWorkflow(hoisted, parsing);
  // Whatever leads to a step that was not read would be wrong as well.
  if (parsing.stepCount > MAX_STEPS) return { problems: problems.toArray() };
  const lowering: LowerContext = {
    workflowId: workflow.id,
    source,
    problems,
    maxSteps: workflow.maxSteps ?? maxSteps,
    stepIds: parsing.stepIds,
    files: [],
    readsLastError: false,
    conditionCount: 0,
    stepCount: 0,
    looks: 0,
    isTooLarge: false,
  };
  const graph = lowerWorkflow(workflow, lowering);
  await checkParts(parsing);
  if (graph === undefined || problems.hasErrors) return { problems: problems.toArray() };
  return { graph, files: lowering.files, problems: problems.toArray() };
}

/** What needs a parser of its own. */
async function checkParts({ schemas, crons, prompts, source, problems }: ParseContext): Promise<void> {
  const checker = new JsonSchemaChecker();
  for (const { key, at, schema } of schemas) {
    const fault = await checker.findFault(schema);
    if (fault === undefined) continue;
    problems.error({ code: "SCHEMA_INVALID", at: findPart(at, fault.path), message: `\`${key}\`: ${fault.message}` });
  }
  for (const cron of crons) {
    const reason = await explainCron(cron.value);
    if (reason !== undefined) problems.error({ code: "CRON_INVALID", at: cron.at, message: reason });
  }
  for (const prompt of prompts) {
    const fault = await findTemplateFault(prompt.value);
    if (fault === undefined) continue;
    const at = placeInScalar(prompt, fault, source) ?? prompt.at;
    problems.error({ code: "PROMPT_INVALID", at, message: `The prompt cannot be read: ${fault.reason}.` });
  }
}

import type { Compiled, LoadOptions } from "../definition.ts";
import { JsonSchemaChecker } from "../json-schema-checker.ts";
import type { ProblemList } from "../problem-list.ts";
import { checkLater } from "../shape/check-later.ts";
import type { SourceText } from "../source/source-text.ts";
import { findPart, type YamlMap } from "../source/yaml-node.ts";
import { checkWorkflow } from "./check.ts";
import { lowerWorkflow } from "./lower/lower.ts";
import { parseWorkflow, type Workflow } from "./parse.ts";
import { reportUnreachableSites } from "./report-sites.ts";
import { buildStepGraph } from "./step-graph.ts";

/** Compiles a Sandcastle file: parse, check, lower. Never throws on what a file may hold. */
export async function compileSandcastle(
  root: YamlMap,
  { source, problems }: { readonly source: SourceText; readonly problems: ProblemList },
  { hasInlineAgents = false, hasChromium = () => true }: Pick<LoadOptions, "hasInlineAgents" | "hasChromium">,
): Promise<Compiled> {
  const { workflow, later } = parseWorkflow(root, { source, problems, hasChromium });
  const steps = buildStepGraph(workflow.steps);
  checkWorkflow(workflow, steps, problems);
  if (hasInlineAgents && workflow.sandstormUrl === undefined) reportUnreachableSites(workflow.steps, problems);
  await checkLater({ later, problems });
  await checkDefaults(root, workflow, problems);
  if (problems.hasErrors) return { problems: problems.toArray() };
  return { graph: lowerWorkflow(workflow, steps, source), problems: problems.toArray() };
}

/** Whether each default fits its own schema. */
async function checkDefaults(root: YamlMap, { input }: Workflow, problems: ProblemList): Promise<void> {
  const at = root.entries.get("input_schema")?.value;
  const { schema, defaults } = input;
  const checker = new JsonSchemaChecker();
  if (at === undefined || schema === undefined || (await checker.findFault(schema)) !== undefined) return;
  for (const [name, value] of Object.entries(defaults)) {
    const only = { ...schema, required: [] };
    const reason = await checker.explainMismatch(only, Object.fromEntries([[name, value]]));
    if (reason === undefined) continue;
    const place = findPart(at, ["properties", name, "default"]);
    const message = `The default of \`${name}\` does not fit: ${reason}.`;
    problems.error({ code: "VALUE_INVALID", at: place, message });
  }
}

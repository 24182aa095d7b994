import type { Compiled, LoadOptions } from "../definition.ts";
import type { ProblemList } from "../problem-list.ts";
import { Reader, TOP } from "../shape/shape.ts";
import type { YamlNode } from "../source/yaml-node.ts";
import { checkActions, checkTargets, checkTexts } from "./check.ts";
import { lowerWorkflow } from "./lower.ts";
import { rules, workflow as shape, type TerminalWorkflow } from "./workflow-shape.ts";

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

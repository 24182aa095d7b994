import type { Compiled } from "../definition.ts";
import type { ProblemList } from "../problem-list.ts";
import type { SourceText } from "../source/source-text.ts";
import type { YamlMap } from "../source/yaml-node.ts";
import { checkActions } from "./check-actions.ts";
import { checkStructure } from "./check-structure.ts";
import { checkTargets } from "./check-targets.ts";
import { checkTexts } from "./check-texts.ts";
import { lowerWorkflow } from "./lower.ts";
import { mapAt } from "./node-at.ts";
import type { TerminalWorkflow } from "./workflow.ts";

export interface TerminalOptions {
  /** Names of environment variables that texts may read as `{env.NAME}`. */
  readonly envAllowed: readonly string[];
}

/** Compiles a terminal workflow: structure, checks, lowering. Never throws on what a file may hold. */
export async function compileTerminal(
  root: YamlMap,
  { source, problems, envAllowed }: { readonly source: SourceText; readonly problems: ProblemList } & TerminalOptions,
): Promise<Compiled> {
  const workflow = await checkWorkflow(root, { problems, envAllowed });
  if (workflow === undefined || problems.hasErrors) return { problems: problems.toArray() };
  return { graph: lowerWorkflow(workflow, { root, source, envAllowed }), problems: problems.toArray() };
}

/** The workflow and those that are written inside it, each by itself: they share no variables. */
async function checkWorkflow(
  root: YamlMap,
  { problems, envAllowed }: { readonly problems: ProblemList } & TerminalOptions,
): Promise<TerminalWorkflow | undefined> {
  const workflow = await checkStructure(root, problems);
  if (workflow === undefined) return undefined;
  checkTargets(workflow, root, problems);
  checkActions(workflow, root, problems);
  await checkTexts(workflow, root, { problems, envAllowed });
  for (const name of Object.keys(workflow.states)) {
    const inner = mapAt(root, "states", name, "action", "params", "workflow_definition");
    const params = mapAt(root, "states", name, "action", "params");
    const isThere = params?.entries.get("workflow_definition")?.value === inner;
    if (inner !== undefined && isThere) await checkWorkflow(inner, { problems, envAllowed });
  }
  return workflow;
}

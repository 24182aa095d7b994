import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Graph } from "../../core/graph/graph.ts";
import type { DefinitionKey } from "../../ports/service/workflow-definitions.ts";
import type { WorkflowsApplication } from "../application/workflows-application.ts";
import { loadOptionsOf } from "../definitions/load-options.ts";
import { listRegistered } from "../definitions/registry.ts";
import { buildTriggerTable, type TriggerProblem, targetsIn } from "../triggers/trigger-table.ts";
import { targetsOfSaved, toTarget } from "../triggers/trigger-tables.ts";

/** Throws `ROUTE_INVALID`, `ROUTE_RESERVED`, `ROUTE_AMBIGUOUS`. */
export async function refuseTriggerOf(app: WorkflowsApplication, key: DefinitionKey, graph: Graph): Promise<void> {
  const { definitions } = await app.service();
  const newest = await definitions.find(key);
  const problem = await findTriggerProblem(app, { ...key, version: (newest?.version ?? 0) + 1 }, graph);
  if (problem !== undefined) throw new PawlError(problem.code, { message: problem.message });
}

/**
 * Finds what keeps a definition's route from being its own: it is none, it is the service's, or somebody else's. Both places are in
 * the message. A tenant's routes meet those of that tenant only, for they are at a path of its own.
 */
async function findTriggerProblem(
  app: WorkflowsApplication,
  key: DefinitionKey & { readonly version: number },
  graph: Graph,
): Promise<TriggerProblem | undefined> {
  const { tenantId, name } = key;
  if (graph.trigger?.kind !== "http") return undefined;
  const { appDir, library, config } = app;
  const { definitions } = await app.service();
  const owner = tenantId === undefined ? {} : { tenantId };
  const saved = (await definitions.listTriggered(owner)).filter((each) => each.name !== name);
  const files = tenantId === undefined ? await listRegistered({ appDir, library, ...loadOptionsOf(config) }) : [];
  const others = [...targetsIn(files, appDir), ...(await targetsOfSaved(app, saved))];
  const target = toTarget(key, { definition: { text: "", graph } });
  const { problems } = buildTriggerTable([...others, target], { isAtRoot: tenantId === undefined });
  return problems.find((problem) => problem.target === target);
}

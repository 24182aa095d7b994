import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Graph } from "../../core/graph/graph.ts";
import { toIsoTime } from "../../core/iso-time.ts";
import type { DefinitionKey } from "../../ports/service/workflow-definitions.ts";
import type { DefinitionPorts, Ports } from "../application/ports.ts";
import { compileText } from "../definitions/compile-text.ts";
import { describeProblem } from "../definitions/describe-problem.ts";
import { takenTwice } from "../definitions/find-named.ts";
import { loadOptionsOf, registryOf } from "../definitions/load-options.ts";
import { looksLikeFile } from "../definitions/looks-like-file.ts";
import { findRegistered, listRegistered } from "../definitions/registry.ts";
import { reportOnSaved } from "../definitions/saved-definitions.ts";
import type { SavedVersion, SavedWorkflowVersion } from "../definitions/workflow-schemas.ts";
import { armSaved, disarmSaved, startsByOf } from "../schedules/saved-schedules.ts";
import { buildTriggerTable, type TriggerProblem, targetsIn } from "../triggers/trigger-table.ts";
import { targetsOfSaved, toTarget } from "../triggers/trigger-tables.ts";
import { workflowUnknown } from "./show-workflow.ts";

type SavingApplication = DefinitionPorts & Pick<Ports, "clock" | "maxRunCostMicro">;

const MAX_NAME = 200;
/** Paths of the service that begin like that of a workflow. */
const TAKEN = new Set(["run", "validate"]);

/**
 * Saves a text under the name that it says, and arms what starts it; what is there becomes an older version. Saving the same
 * text again is how to go on after a failure. Throws `DEFINITION_INVALID`, `PART_NOT_CHOSEN`, `NAME_TAKEN_TWICE` where a file
 * of the application has the name, `ROUTE_INVALID`, `ROUTE_RESERVED` and `ROUTE_AMBIGUOUS` where its route cannot be its own, and
 * `REQUEST_INVALID`.
 */
export async function saveWorkflow(
  app: SavingApplication,
  { text, name: expected }: { readonly text: string; readonly name?: string | undefined },
): Promise<SavedWorkflowVersion> {
  const { tenantId, maxRunCostMicro, grant } = app;
  const { graph } = await compileText(text, { grant, folders: [], ...loadOptionsOf(app.config) });
  const { name } = graph;
  checkName(name, expected);
  const registered = await findRegistered(registryOf(app), name);
  if (registered !== undefined) throw takenTwice(app, { name, file: registered.file });
  const key = keyOf(name, tenantId);
  await refuseTriggerOf(app, key, graph);
  const { definitions } = await app.service();
  const { stored, isNew } = await definitions.save({
    ...key,
    text,
    at: app.clock.now(),
    startsBy: startsByOf(graph),
    maxCostMicro: maxRunCostMicro,
    grant,
  });
  await armSaved(app, stored, graph);
  const { problems } = await reportOnSaved(app, stored);
  return { ...describeVersion(stored), is_new: isNew, problems: problems.map(describeProblem) };
}

/** Newest first. Throws `WORKFLOW_NOT_FOUND`. */
export async function listVersions(app: DefinitionPorts, name: string): Promise<readonly SavedVersion[]> {
  const { definitions } = await app.service();
  const own = app.tenantId === undefined ? [] : await definitions.versions({ tenantId: app.tenantId, name });
  const found = own.length > 0 ? own : await definitions.versions({ name });
  if (found.length > 0) return found.map(describeVersion);
  throw (await isFile(app, name)) ? notSavedHere(name) : workflowUnknown(name);
}

/**
 * With all its versions, and disarms what starts it; runs of it go on, for each keeps its own. Throws `WORKFLOW_NOT_FOUND`,
 * `NOT_SUPPORTED`.
 */
export async function removeWorkflow(app: SavingApplication, name: string): Promise<void> {
  const { definitions } = await app.service();
  const key = keyOf(name, app.tenantId);
  if (await definitions.remove(key)) return disarmSaved(app, key);
  if (await isFile(app, name)) throw notSavedHere(name);
  throw workflowUnknown(name);
}

async function isFile(app: DefinitionPorts, name: string): Promise<boolean> {
  return (await findRegistered(registryOf(app), name)) !== undefined;
}

function notSavedHere(name: string): PawlError {
  return new PawlError("NOT_SUPPORTED", {
    message: `"${name}" comes from a file of the application: it has no versions, and is removed by removing the file.`,
    remedy: "List what was saved through the service with `pawl workflows ls`.",
  });
}

function checkName(name: string, expected: string | undefined): void {
  const flaw = findFlaw(name, expected);
  if (flaw !== undefined) throw new PawlError("REQUEST_INVALID", { message: `The request is not valid: ${flaw}.` });
}

function findFlaw(name: string, expected: string | undefined): string | undefined {
  if (expected !== undefined && name !== expected) return `the text is of "${name}", and the path says "${expected}"`;
  if (name === "" || name.length > MAX_NAME) return `a name has 1 to ${MAX_NAME} characters`;
  if (/\p{Cc}/u.test(name) || name.trim() !== name) return "the name holds invisible characters";
  if (TAKEN.has(name)) return `"${name}" is a path of the service`;
  if (looksLikeFile(name) || name.startsWith("{")) return `"${name}" would be taken for a file or a text`;
  return undefined;
}

function keyOf(name: string, tenantId: string | undefined): DefinitionKey {
  return { name, tenantId };
}

function describeVersion({
  name,
  version,
  at,
}: {
  readonly name: string;
  readonly version: number;
  readonly at: number;
}): SavedVersion {
  return { name, version, saved_at: toIsoTime(at) };
}

/** Throws `ROUTE_INVALID`, `ROUTE_RESERVED`, `ROUTE_AMBIGUOUS`. */
async function refuseTriggerOf(app: DefinitionPorts, key: DefinitionKey, graph: Graph): Promise<void> {
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
  app: DefinitionPorts,
  key: DefinitionKey & { readonly version: number },
  graph: Graph,
): Promise<TriggerProblem | undefined> {
  const { tenantId, name } = key;
  if (graph.triggers?.some(({ kind }) => kind === "http") !== true) return undefined;
  const { definitions } = await app.service();
  const owner = tenantId === undefined ? {} : { tenantId };
  const saved = (await definitions.listTriggered(owner)).filter((each) => each.name !== name);
  const files = tenantId === undefined ? await listRegistered(registryOf(app)) : [];
  const others = [...targetsIn(files, app.appDir), ...(await targetsOfSaved(app, saved))];
  const target = toTarget(key, { definition: { text: "", graph } });
  const { problems } = buildTriggerTable([...others, target], { isAtRoot: tenantId === undefined });
  return problems.find((problem) => problem.target === target);
}

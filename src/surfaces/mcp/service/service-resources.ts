import { hash } from "node:crypto";
import { ResourceNotFoundError, type Server } from "@modelcontextprotocol/server";
import { isPawlError, type PawlError } from "../../../core/errors/pawl-error.ts";
import { writeExact } from "../../../core/exact-json.ts";
import { decodeSegment } from "../../../core/graph/path-pattern.ts";
import { findRun } from "../../../operations/application/find-run.ts";
import type { Care, DefinitionPorts, Driving, Stores } from "../../../operations/application/ports.ts";
import { listRuns } from "../../../operations/runs/list-runs.ts";
import { listSchedules, showSchedule } from "../../../operations/schedules/list-schedules.ts";
import { describeHealth } from "../../../operations/service/check-health.ts";
import { listWorkflows } from "../../../operations/workflows/list-workflows.ts";
import { showWorkflow } from "../../../operations/workflows/show-workflow.ts";
import { writeResource } from "../fit-answer.ts";
import { unwatched } from "../watched.ts";
import { describeForModel } from "./describe-for-model.ts";

const JSON_TYPE = "application/json";
const RECENT_RUNS = 20;
/** The protocol allows no more. */
const MAX_VALUES = 100;

const LISTS = [
  { uri: "pawl://workflows", name: "workflows", description: "Workflows that can be run by their name." },
  { uri: "pawl://runs", name: "runs", description: "The latest runs." },
  { uri: "pawl://schedules", name: "schedules", description: "What starts workflows by the clock." },
  { uri: "pawl://health", name: "health", description: "Whether runs can be recorded, and agents asked." },
].map((list) => ({ ...list, mimeType: JSON_TYPE }));

const TEMPLATES = [
  { uriTemplate: "workflow://{workflow_name}", name: "workflow", description: "A workflow with its definition." },
  { uriTemplate: "run://{run_id}", name: "run", description: "A run with the outcome of each of its steps." },
  { uriTemplate: "schedule://{schedule_id}", name: "schedule", description: "A schedule with its next times." },
].map((template) => ({ ...template, mimeType: JSON_TYPE }));

/** Workflows, runs, schedules and health, for reading. */
export function addServiceResources(server: Server, app: DefinitionPorts & Driving & Care): void {
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: TEMPLATES }));
  server.setRequestHandler("resources/list", async () => ({ resources: [...LISTS, ...(await listSingle(app))] }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }) => ({
    contents: [{ uri, mimeType: JSON_TYPE, text: writeResource(await readResource(app, uri)) }],
  }));
  server.setRequestHandler("completion/complete", async ({ params: { argument } }) => {
    const known = await listValues(app, argument.name);
    const matching = known.filter((value) => value.startsWith(argument.value));
    const values = matching.slice(0, MAX_VALUES);
    return { completion: { values, total: matching.length, hasMore: matching.length > values.length } };
  });
}

async function listSingle(app: DefinitionPorts & Driving & Care) {
  const [workflows, runs, schedules] = await Promise.all([
    listWorkflows(app),
    listRuns(app, { limit: RECENT_RUNS }),
    listSchedules(app),
  ]);
  const single = [
    ...workflows.map(({ name, description }) => ({
      uri: `workflow://${encodeURIComponent(name)}`,
      name,
      description: description ?? "A workflow.",
    })),
    ...schedules.map(({ schedule_id: id, workflow_name: name, cron_expression: cron }) => ({
      uri: `schedule://${id}`,
      name: `${name} ${cron}`,
      description: "A schedule.",
    })),
    ...runs.items.map(({ run_id: id, workflow_name: name, created_at: at, status }) => ({
      uri: `run://${id}`,
      name: `${name} ${at}`,
      description: status,
    })),
  ];
  return single.map((resource) => ({ ...resource, mimeType: JSON_TYPE }));
}

/** Another text when the resource is another one. Throws as `Marks.resource` does. */
export async function markServiceResource(app: DefinitionPorts & Driving & Care, uri: string): Promise<string> {
  // To look at it asks other servers, too much for every moment.
  if (uri.endsWith("://health")) throw unwatched("Nobody is told of changes of the health: read it.");
  return hash("sha256", writeExact(await readResource(app, uri, markRun)));
}

/** Whatever a run shows stands in its events. */
export async function markRun(app: Stores, id: string): Promise<object> {
  const { lastSeq, status } = await findRun(app, id);
  return { lastSeq, status };
}

async function readResource(
  app: DefinitionPorts & Driving & Care,
  uri: string,
  readRun: (app: Stores, id: string) => Promise<object> = describeForModel,
): Promise<object> {
  // Clients of the original ask for its own names.
  const [, , list] = /^(pawl|sandcastle):\/\/(workflows|runs|schedules|health)$/.exec(uri) ?? [];
  if (list !== undefined) return readList(app, list);
  const [, kind, written = ""] = /^(workflow|run|schedule):\/\/([^/?#]+)$/.exec(uri) ?? [];
  const id = decodeSegment(written);
  if (kind === undefined || id === undefined)
    throw new ResourceNotFoundError(uri, `There is no resource ${uri}: see the templates.`);
  try {
    if (kind === "run") return await readRun(app, id);
    return kind === "workflow" ? await showWorkflow(app, id) : await showSchedule(app, id);
  } catch (error) {
    if (isPawlError(error) && isUnknown(error)) throw new ResourceNotFoundError(uri, error.message);
    throw error;
  }
}

async function readList(app: DefinitionPorts & Driving & Care, list: string): Promise<object> {
  switch (list) {
    case "workflows":
      return { items: await listWorkflows(app) };
    case "runs":
      return listRuns(app, { limit: RECENT_RUNS });
    case "schedules":
      return { items: await listSchedules(app) };
    default:
      return describeHealth(app);
  }
}

async function listValues(app: DefinitionPorts & Driving & Care, argument: string): Promise<readonly string[]> {
  switch (argument) {
    case "workflow_name":
      return (await listWorkflows(app)).map(({ name }) => name);
    case "run_id":
      return (await listRuns(app, { limit: MAX_VALUES })).items.map(({ run_id }) => run_id);
    case "schedule_id":
      return (await listSchedules(app)).map(({ schedule_id }) => schedule_id);
    default:
      return [];
  }
}

function isUnknown({ code }: PawlError): boolean {
  return ["RUN_NOT_FOUND", "RUN_AMBIGUOUS", "WORKFLOW_NOT_FOUND", "SCHEDULE_NOT_FOUND"].includes(code);
}

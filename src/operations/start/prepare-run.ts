import { basename, extname } from "node:path";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { traitsOf } from "../../core/graph/dialects.ts";
import type { Graph, UseLimits } from "../../core/graph/graph.ts";
import type { JsonObject } from "../../core/json.ts";
import { nameOf, toRequested } from "../../core/trust/approvers.ts";
import type { RunStart } from "../../hosts/run-host.ts";
import { newRunId } from "../../hosts/session/new-run.ts";
import type { Execution, Place, Principal, StartPorts, Stores } from "../application/ports.ts";
import { whoAsks } from "../application/who-asks.ts";
import { findDefinition, type ReferredDefinition } from "../definitions/find-definition.ts";
import { loadOptionsOf } from "../definitions/load-options.ts";
import { findSaved } from "../definitions/saved-definitions.ts";
import { limitUses } from "../limits/lower-limits.ts";
import { executorKindsOf } from "./executor-kinds.ts";
import { listMissing, type MissingInput } from "./input/check-input.ts";
import { fillDirectories } from "./input/fill-directories.ts";
import { type GivenInput, gatherInput } from "./input/gather-input.ts";
import { readMessage } from "./input/read-message.ts";
import { readRequestFile } from "./input/read-request-file.ts";
import { refuseMisspelt } from "./input/refuse-misspelt.ts";
import { toRequestInput, toRunInput } from "./input/to-run-input.ts";
import { type Preflight, preflight, type Startable } from "./preflight.ts";

export interface RunRequest {
  /** A file, `FILE#NAME` or a registered name. */
  readonly workflow: string;
  /** The folder that paths are relative to. */
  readonly folder: string;
  readonly inputPairs?: readonly string[];
  readonly inputFile?: string;
  /** A JSON file with a whole request, for UHLP workflows. */
  readonly requestFile?: string;
  /** This step alone, with its mapped input in the place of the workflow's. */
  readonly onlyStep?: string;
  readonly agent?: string;
  readonly maxCostUsd?: number;
  readonly uses?: UseLimits;
  /** The reaction to a used-up limit. Absent: the definition's, else the run stops. */
  readonly onExceeded?: "stop" | "ask";
  /** Its calls to servers go before those of runs with a lower one. Absent: 0. */
  readonly priority?: number;
  readonly callbackUrl?: string;
  /** Who asks for it, where that is not whoever calls. */
  readonly requestedBy?: string | undefined;
  /** Asks a person for what the input lacks. Absent: nobody can be asked. */
  askFor?(missing: readonly MissingInput[]): Promise<JsonObject>;
}

export type PreparedRun = RunStart & { readonly runId: string };

/**
 * Everything that can be known before a run begins: its definition, its input, and who does its work. Writes nothing, so
 * that what is refused here has left no trace.
 */
export async function prepareRun(app: StartPorts, request: RunRequest): Promise<PreparedRun> {
  const asked = await findStartable(app, request);
  const prepared = await prepareStart(app, asked, request);
  await findExecutors(app, prepared.definition.graph, prepared.options ?? {});
  return prepared;
}

/** Resolves a request to a definition and its input. */
export async function findStartable(app: Place & Principal & Stores, request: RunRequest): Promise<Startable> {
  const { workflow, folder } = request;
  const places = {
    folders: [folder],
    appDir: app.appDir,
    ...loadOptionsOf(app.config),
    findSaved: (name: string) => findSaved(app, name),
  };
  return readAskedFor(app, await findDefinition(workflow, places), request);
}

type StartRequest = Pick<
  RunRequest,
  "folder" | "agent" | "maxCostUsd" | "uses" | "onExceeded" | "priority" | "callbackUrl" | "requestedBy"
>;

/** The start of a run of a definition that is at hand, with an input that has been checked. */
export async function prepareStart(app: StartPorts, startable: Startable, request: StartRequest): Promise<PreparedRun> {
  const { flight, prepared } = await prepareUnasked(app, startable, request);
  flight.refuse();
  return prepared;
}

/** The same, whatever is missing: for who only asks what would be. */
export async function prepareUnasked(
  app: StartPorts,
  startable: Startable,
  request: StartRequest,
): Promise<{ readonly flight: Preflight; readonly prepared: PreparedRun }> {
  const flight = await preflight(app, startable, request);
  const { definition, limit } = flight;
  const { input, startAt, onlyStep: step, runId } = startable;
  const { uses, priority = 0, callbackUrl } = request;
  const { limits: ofDefinition, settings } = definition.graph;
  const options: JsonObject = {
    ...flight.options,
    ...toRequested([request.requestedBy ?? nameOf(whoAsks(app))]),
    ...(settings["part"] === undefined ? {} : { select: settings["part"] }),
    ...(startAt === undefined ? {} : { start_at: startAt }),
    ...(step === undefined ? {} : { only_step: step }),
    ...(priority === 0 ? {} : { priority }),
    ...(callbackUrl === undefined ? {} : { callback_url: callbackUrl }),
  };
  const asks = (request.onExceeded ?? ofDefinition.onExceeded) === "ask";
  const prepared: PreparedRun = {
    runId: runId ?? newRunId(app.clock.now()),
    ...(runId === undefined ? { hasNewId: true } : {}),
    definition,
    input,
    options,
    ...limit,
    ...limitUses([uses, ofDefinition.uses]),
    ...(asks ? { onExceeded: "ask" as const } : {}),
    ...(app.tenantId === undefined ? {} : { tenantId: app.tenantId }),
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
  };
  return { flight, prepared };
}

async function readAskedFor(app: Place & Stores, found: ReferredDefinition, request: RunRequest): Promise<Startable> {
  const { folder, inputPairs = [], inputFile, requestFile, onlyStep: step } = request;
  if (requestFile !== undefined)
    return { ...found, ...(await readRequestedRun(found, { requestFile, inputPairs, inputFile, folder })) };
  const given: GivenInput = { pairs: inputPairs, folder, ...(inputFile === undefined ? {} : { file: inputFile }) };
  const { graph } = found.definition;
  if (step !== undefined) return { ...found, onlyStep: step, input: await gatherInput(given, undefined) };
  const written = await gatherInput(given, graph.input.schema);
  // Before a person is asked for the name that was meant.
  refuseMisspelt(written, graph.input);
  const gathered = readMessage(written, graph);
  const missing = request.askFor === undefined ? [] : listMissing(gathered, graph.input);
  const asked = missing.length === 0 ? {} : await request.askFor?.(missing);
  const filled = await fillDirectories(app, { ...gathered, ...asked }, { graph, standsIn: folder });
  return { ...found, input: await toRunInput(filled, graph) };
}

async function findExecutors(app: Execution, graph: Graph, options: JsonObject): Promise<void> {
  const run = { options, settings: graph.settings };
  await Promise.all([...executorKindsOf(graph).kinds].map((kind) => app.findExecutor(kind, run)));
}

interface RequestedRun {
  readonly requestFile: string;
  readonly inputPairs: readonly string[];
  readonly inputFile: string | undefined;
  readonly folder: string;
}

/** The input in a file with a whole request, and the step that it asks to start at. Throws `USAGE` where it asks for other work. */
async function readRequestedRun(
  found: ReferredDefinition,
  requested: RequestedRun,
): Promise<{ readonly input: JsonObject; readonly startAt?: string }> {
  const { requestFile, inputPairs, inputFile, folder } = requested;
  const { graph } = found.definition;
  if (traitsOf(graph).input !== "request")
    throw new PawlError("USAGE", {
      message: `\`--request\` belongs to UHLP workflows; "${graph.name}" is a ${graph.dialect} workflow.`,
      remedy: "Give the input with `-i key=value` or `--input FILE.json`.",
    });
  if (inputPairs.length > 0 || inputFile !== undefined)
    throw new PawlError("USAGE", {
      message: "`--request` is the whole input: it takes neither `-i` nor `--input` beside it.",
      remedy: "Leave one of them out.",
    });
  const request = await readRequestFile({ file: requestFile, folder, workflowId: graph.name });
  const { work, requestId, requestData, context } = request;
  if (work.kind !== "workflow" || !isNameOf(work.workflowId, found)) {
    const asks = work.kind === "workflow" ? `the workflow "${work.workflowId}"` : `a ${work.kind.toUpperCase()} task`;
    throw new PawlError("USAGE", {
      message: `${requestFile} asks for ${asks}, and the command for "${graph.name}".`,
      remedy: "Name the same workflow in both.",
    });
  }
  const input = await toRequestInput(
    { ...(requestId === undefined ? {} : { requestId }), requestData, context },
    graph,
  );
  return { input, ...(work.startAt === undefined ? {} : { startAt: work.startAt }) };
}

function isNameOf(name: string, { definition, file }: ReferredDefinition): boolean {
  return name === definition.graph.name || (file !== undefined && name === basename(file, extname(file)));
}

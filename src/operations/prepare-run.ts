import { PawlError } from "../core/errors/pawl-error.ts";
import type { Graph } from "../core/graph/graph.ts";
import type { JsonObject } from "../core/json.ts";
import { newRunId } from "../hosts/local/new-run-id.ts";
import type { RunStart } from "../hosts/run-host.ts";
import type { Application } from "./application.ts";
import { checkInput } from "./check-input.ts";
import { chooseAgent } from "./choose-agent.ts";
import { executorKindsOf } from "./executor-kinds.ts";
import { findDefinition } from "./find-definition.ts";
import { gatherInput } from "./gather-input.ts";

export interface RunRequest {
  /** A file, `FILE#NAME` or a registered name. */
  readonly workflow: string;
  /** What paths are relative to. */
  readonly folder: string;
  readonly inputPairs?: readonly string[];
  readonly inputFile?: string;
  readonly agent?: string;
  readonly maxCostUsd?: number;
  readonly callbackUrl?: string;
}

export type PreparedRun = RunStart & { readonly runId: string };

/**
 * Everything that can be known before a run begins: its definition, its input, and who does its work. Writes nothing, so
 * that what is refused here has left no trace.
 */
export async function prepareRun(app: Application, request: RunRequest): Promise<PreparedRun> {
  const { workflow, folder, inputPairs = [], inputFile, maxCostUsd, callbackUrl } = request;
  const { definition, file } = await findDefinition(workflow, { folders: [folder], appDir: app.appDir });
  const { graph } = definition;
  const given = { pairs: inputPairs, folder, ...(inputFile === undefined ? {} : { file: inputFile }) };
  const input = await checkInput(await gatherInput(given, graph.input.schema), graph.input);
  const options: JsonObject = {
    ...(await decideAgent(app, graph, request)),
    app_dir: app.appDir,
    source: file,
    ...(callbackUrl === undefined ? {} : { callback_url: callbackUrl }),
  };
  await findExecutors(app, graph, options);
  return {
    runId: newRunId(app.clock.now()),
    definition,
    input,
    options,
    ...(maxCostUsd === undefined ? {} : { maxCostMicro: Math.round(maxCostUsd * 1_000_000) }),
    ...(callbackUrl === undefined ? {} : { callbackUrl }),
  };
}

/** A workflow that only calls others may never need an agent: then none is chosen, and its lack is no error yet. */
async function decideAgent(app: Application, graph: Graph, { agent, folder }: RunRequest): Promise<JsonObject> {
  const { kinds, hasCalls } = executorKindsOf(graph);
  const question = { settings: graph.settings, folder, ...(agent === undefined ? {} : { asked: agent }) };
  if (kinds.has("agent") || agent !== undefined) return { ...(await chooseAgent(question, app.config)) };
  if (!hasCalls) return {};
  try {
    return { ...(await chooseAgent(question, app.config)) };
  } catch (error) {
    if (error instanceof PawlError && error.code === "AGENT_NOT_CONFIGURED") return {};
    throw error;
  }
}

async function findExecutors(app: Application, graph: Graph, options: JsonObject): Promise<void> {
  const run = { options, settings: graph.settings };
  await Promise.all([...executorKindsOf(graph).kinds].map((kind) => app.findExecutor(kind, run)));
}

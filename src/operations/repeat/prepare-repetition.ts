import { PawlError } from "../../core/errors/pawl-error.ts";
import { parseExact } from "../../core/exact-json.ts";
import { traitsOf } from "../../core/graph/dialects.ts";
import type { Flow, Graph, RunLimits } from "../../core/graph/graph.ts";
import { unescapeId } from "../../core/graph/step-path.ts";
import { asObject, isJsonObject, type Json, type JsonObject } from "../../core/json.ts";
import { nameOf, requestersOf, toRequested } from "../../core/trust/approvers.ts";
import { isEverything, toStored } from "../../core/trust/grant.ts";
import type { CompiledDefinition } from "../../hosts/compiled-definition.ts";
import { newRunId } from "../../hosts/session/new-run.ts";
import { hideLeaves, type SecretLeaf, showLeaves } from "../../hosts/session/secrets/secret-leaves.ts";
import type { RunRecord } from "../../ports/journal.ts";
import { findRun } from "../application/find-run.ts";
import type { DefinitionPorts, Place, Principal, Stores } from "../application/ports.ts";
import { whoAsks } from "../application/who-asks.ts";
import { readDefinitionText } from "../definitions/read-text-file.ts";
import { limitAnew, limitCost } from "../limits/lower-limits.ts";
import { toMicro } from "../limits/micro-dollars.ts";
import { toUseLimits } from "../limits/use-limits.ts";
import { compareWithSource } from "../runs/compare-with-source.ts";
import { type RunReading, readHandles, readRunHistory } from "../runs/describe/describe-run-reading.ts";
import { readRunStarted } from "../runs/read-run-started.ts";
import { checkInput, checkPayload } from "../start/input/check-input.ts";
import { fillDirectories } from "../start/input/fill-directories.ts";
import { refuseMisspelt } from "../start/input/refuse-misspelt.ts";
import type { PreparedRun } from "../start/prepare-run.ts";
import { compileStart } from "./compile-start.ts";
import { findRerunStep } from "./find-rerun-step.ts";
import { type ChangedLimits, type ForkChanges, readForkChanges } from "./fork-changes.ts";

/** `pinned`: the definition that the run began with. `current`: its file as it is now. */
type DefinitionChoice = "pinned" | "current";

export interface RepetitionRequest {
  /** The id of a run that has ended. */
  readonly run: string;
  /** A path, or a step's id; see `findRerunStep` for what is meant where it is absent. */
  readonly fromStep?: string;
  readonly definition?: DefinitionChoice;
  readonly runId?: string;
}

/** A run that repeats another one, ready to be started. */
export interface PreparedRepetition {
  readonly start: PreparedRun;
  /** Empty: the whole run. */
  readonly fromPath: string;
  /** Changes since the old run began, and their consequences, in sentences. */
  readonly notices: readonly string[];
}

/**
 * A new run that takes over what the old one has achieved, up to a step. Its budget counts only what it spends itself; who
 * answers agent steps and where its end is told are those of the old one. Throws `RUN_NOT_FOUND`, `RUN_NOT_ENDED`,
 * `STEP_NOT_FOUND`, `CHANGE_INVALID`, `INPUT_INVALID`, `FILE_NOT_FOUND`, `DEFINITION_INVALID`.
 */
export async function prepareRepetition(
  app: DefinitionPorts,
  request: RepetitionRequest,
  changes?: Json,
): Promise<PreparedRepetition> {
  const record = await findRun(app, request.run);
  if (record.completedAt === undefined)
    throw new PawlError("RUN_NOT_ENDED", { message: `The run ${record.id} has not ended: ${record.status}.` });
  const records = await app.records();
  const reading = await readRunHistory(records, record);
  const fromPath = findRerunStep(reading, request.fromStep);
  const wanted = changes === undefined ? undefined : readForkChanges(changes, addressOf(fromPath));
  const { sealed, options = {}, ...started } = (await readRunStarted(records.journal, record)) ?? {};
  const next = await findDefinition(app, record, { options, choice: request.definition ?? "pinned", wanted });
  if (request.definition === "current") refuseMissing(next.definition.graph, fromPath);
  const { graph } = next.definition;
  const before = reading.history.state.graph.graph.limits;
  const { maxCostMicro, uses, onExceeded } = changeLimits(
    limitAnew(started, before, graph.limits),
    wanted?.limits ?? {},
  );
  const input = await changeInput(app, await readInput(reading), { graph, sealed, change: wanted?.input ?? {} });
  const { callbackUrl } = record;
  const tenantId = app.tenantId ?? record.tenantId;
  return {
    fromPath,
    notices: next.notices,
    start: {
      runId: request.runId ?? newRunId(app.clock.now()),
      definition: next.definition,
      input,
      options: next.options,
      parentRunId: record.id,
      lineage: { kind: wanted === undefined ? "rerun" : "fork", run: record.id, fromPath },
      ...(uses === undefined ? {} : { uses }),
      ...(onExceeded === "ask" ? { onExceeded } : {}),
      ...limitCost([maxCostMicro, app.maxRunCostMicro]),
      ...(callbackUrl === undefined ? {} : { callbackUrl }),
      ...(tenantId === undefined ? {} : { tenantId }),
    },
  };
}

function changeLimits(limits: RunLimits, wanted: ChangedLimits): RunLimits {
  const cost = toMicro(wanted.max_cost_usd) ?? limits.maxCostMicro;
  const uses = { ...limits.uses, ...toUseLimits(wanted) };
  const onExceeded = wanted.on_exceeded ?? limits.onExceeded;
  return {
    ...(cost === undefined ? {} : { maxCostMicro: cost }),
    ...(Object.keys(uses).length === 0 ? {} : { uses }),
    ...(onExceeded === undefined ? {} : { onExceeded }),
  };
}

interface DefinitionWanted {
  /** Options of the old run. */
  readonly options: JsonObject;
  readonly choice: DefinitionChoice;
  readonly wanted: ForkChanges | undefined;
}

interface NextDefinition {
  readonly definition: CompiledDefinition;
  readonly options: JsonObject;
  readonly notices: readonly string[];
}

/** The source of the new run is part of its options, so that any process that owns the data compiles the same. */
async function findDefinition(
  app: DefinitionPorts,
  record: RunRecord,
  asked: DefinitionWanted,
): Promise<NextDefinition> {
  const { pinned: _, changes: __, schedule_id: ___, traceparent: ____, ...kept } = asked.options;
  const isPinned = asked.choice === "pinned";
  const file = typeof kept["source"] === "string" ? kept["source"] : undefined;
  const ofProgram = kept["is_program"] === true && !isPinned ? findProgram(app, record) : undefined;
  const text = isPinned
    ? await readPinnedText(app, record)
    : (ofProgram?.text ?? (await readCurrentText(record, file)));
  const options: JsonObject = {
    ...kept,
    ...changeGrants(app, kept, asked.wanted),
    ...toRequested([...requestersOf(kept), nameOf(whoAsks(app))]),
    ...(isPinned ? { pinned: record.graph } : {}),
    ...(asked.wanted === undefined ? {} : { changes: toKept(asked.wanted) }),
  };
  const definition = await compileStart(app, { text, source: file, options, compiled: ofProgram });
  const notices = await compareWithSource(app, record, {
    definition: isPinned ? "the definition that the run began with is used" : "it is used as it is now",
    script: "the script that the run began with is used",
  });
  return { definition, options, notices };
}

/**
 * A rerun keeps the grants of its run. A fork with other steps is a text that is sent; so is, to be safe, the text of a run from before
 * there were grants.
 */
function changeGrants({ grant }: Principal, kept: JsonObject, wanted: ForkChanges | undefined): JsonObject {
  const isSent = kept["source"] === undefined && kept["grant"] === undefined && !isEverything(grant);
  if (wanted?.steps.size || isSent) return { grant: toStored(grant), caller_grant: toStored(grant) };
  return {};
}

async function readPinnedText(app: Stores, { definition }: RunRecord): Promise<string> {
  const text = await (await app.records()).journal.readPinned(definition);
  if (text !== undefined) return text;
  throw new PawlError("JOURNAL_DAMAGED", { message: `The pinned definition ${definition} is missing.` });
}

/** As the program that embeds this has it now. */
function findProgram({ library }: DefinitionPorts, { id, workflow }: RunRecord): CompiledDefinition {
  const found = library?.list().find(({ name }) => name === workflow)?.report.definition;
  if (found !== undefined) return found;
  throw new PawlError("NOT_SUPPORTED", {
    message: `A program has started the run ${id}, and this process has not its workflow \`${workflow}\`.`,
    remedy: "Ask a program that has it, by its HTTP API (`--url URL`), or use the definition that the run began with.",
  });
}

async function readCurrentText({ id, workflow }: RunRecord, file: string | undefined): Promise<string> {
  if (file !== undefined) return readDefinitionText(file, workflow);
  throw new PawlError("NOT_SUPPORTED", {
    message: `The run ${id} came with the text of its definition: there is no file that could have changed.`,
    remedy: "Use the definition that it began with, which is what happens where nothing is said.",
  });
}

/** Without the input's values, which may hold what only the input itself is masked for. */
function toKept({ input, limits, timeout, steps }: ForkChanges): JsonObject {
  const named = Object.keys(input);
  const { max_cost_usd: maxCostUsd, ...others } = limits;
  return {
    ...(steps.size === 0 ? {} : { steps: Object.fromEntries([...steps].map(([id, change]) => [id, { ...change }])) }),
    ...(timeout === undefined ? {} : { timeout }),
    ...(maxCostUsd === undefined ? {} : { max_cost_usd: maxCostUsd }),
    ...(Object.keys(others).length === 0 ? {} : { limits: others }),
    ...(named.length === 0 ? {} : { input: Object.fromEntries(named.map((name) => [name, true])) }),
  };
}

/** The ids of a path, as changes name steps. */
function addressOf(path: string): string {
  const parts = path.replaceAll(/~retry\d+/g, "").split("/");
  return parts.map((part) => unescapeId(part.replaceAll(/#\d+|\[\d+\]/g, ""))).join("/");
}

/** Steps inside a call belong to another definition. */
function refuseMissing({ name, flow }: Graph, fromPath: string): void {
  if (fromPath === "") return;
  let here: Flow | undefined = flow;
  for (const id of addressOf(fromPath)
    .replaceAll(/~(catch|finally)/g, "")
    .split("/")) {
    if (here === undefined) return;
    const step: Flow["steps"][number] | undefined = here.steps.find((each) => each.id === id);
    if (step === undefined)
      throw new PawlError("STEP_NOT_FOUND", {
        message: `The definition of "${name}" as it is now has no step "${id}".`,
        remedy: "Begin at another step, or use the definition that the run began with.",
      });
    here = step.kind === "flow" ? step.flow : undefined;
  }
}

async function readInput(reading: RunReading): Promise<JsonObject> {
  const handle = 1;
  return asObject((await readHandles(reading, [handle]))(handle));
}

interface InputChange {
  readonly graph: Graph;
  /** The secret fields of the old run's input. */
  readonly sealed: string | undefined;
  readonly change: JsonObject;
}

/**
 * The payload of a request is the input that a person knows. A secret is checked as what it is, and handed on hidden: who
 * begins the run finds it again. Throws `INPUT_INVALID`, `SECRET_UNREADABLE`.
 */
async function changeInput(
  app: Place & Stores,
  input: JsonObject,
  { graph, sealed, change: given }: InputChange,
): Promise<JsonObject> {
  if (Object.keys(given).length === 0) return input;
  refuseMisspelt(given, graph.input);
  const change = await fillDirectories(app, given, { graph });
  const hidden = sealed === undefined ? [] : (parseExact((await app.secrets()).open(sealed)) as SecretLeaf[]);
  const isRequest = traitsOf(graph).input === "request" && isJsonObject(input["requestData"]);
  const depth = isRequest ? 2 : 0;
  const kept = hidden.filter(({ at }) => !Object.hasOwn(change, String(at[depth])));
  const shown = asObject(showLeaves(input, kept));
  if (!isRequest) return hideLeaves(await checkInput({ ...shown, ...change }, graph.input), kept);
  const request = asObject(shown["requestData"]);
  const payload = { ...asObject(request["payload"]), ...change };
  if (graph.input.schema !== undefined) await checkPayload(payload, graph.input.schema);
  return hideLeaves({ ...shown, requestData: { ...request, payload } }, kept);
}

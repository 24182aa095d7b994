import { findChromium } from "../../config/find-chromium.ts";
import type { Config } from "../../config/load-config.ts";
import { BoundedMap } from "../../core/bounded-map.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import { writeExact } from "../../core/exact-json.ts";
import type { ExecutorKind } from "../../core/graph/graph.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { CapacityPools } from "../../executors/capacity/capacity-pools.ts";
import { failExecutor } from "../../executors/fail-executor.ts";
import { holdToGrant } from "../../executors/hold-to-grant.ts";
import type { FindExecutor } from "../../hosts/executors.ts";
import { isSimulated } from "../../operations/costs/refuse-unpriced.ts";
import { isProgramFile } from "../../operations/definitions/looks-like-file.ts";
import type { Executor } from "../../ports/executor.ts";
import type { StandIns } from "../../ports/stand-ins.ts";
import type { StepFunctions } from "../../ports/step-functions.ts";
import type { Generate } from "../../ports/tools/generate.ts";
import { once } from "../once.ts";
import { openOutbound } from "../open-outbound.ts";
import type { Agents } from "./agents.ts";
import type { CodeAndModels } from "./code-and-models.ts";
import type { TerminalParts } from "./terminal-parts.ts";
import type { Tools } from "./tools.ts";

interface Executors {
  readonly config: Config;
  readonly mask: (text: string) => string;
  readonly tools: Tools;
  readonly work: CodeAndModels;
  readonly terminals: TerminalParts;
  readonly agents: Agents;
  readonly capacity: CapacityPools;
  readonly functions: StepFunctions;
  readonly standIns: StandIns | undefined;
}

/** Grants of callers whose executors are kept. */
const MAX_CALLERS = 100;
const HTTP_TIMEOUT_MS = 60_000;

/** Finds the executor of a step, by the options that its run keeps. Modules of executors are loaded when needed. */
export function createFindExecutor(parts: Executors): FindExecutor {
  const { config, mask, tools, work, terminals, agents } = parts;
  // One for all runs: additions to one file wait for each other in it.
  const csv = once(async () => (await import("../../executors/exports/csv-executor.ts")).createCsvExecutor({ mask }));
  const report = once(async () =>
    (await import("../../executors/exports/report-executor.ts")).createReportExecutor({
      mask,
      chromium: () => findChromium(config),
    }),
  );
  const functions = once(() => openFunctions(parts.functions));
  const validators = once(async () => new (await import("../../schemas/json-schemas.ts")).JsonSchemas());
  const checked = (open: () => Promise<Executor>) =>
    once(async () => {
      const { checkOutput } = await import("../../executors/output/check-output.ts");
      return checkOutput(await open(), await validators());
    });
  const toolsHere = checked(tools.executor);
  const simulated = new WeakMap<Generate, Promise<Executor>>();
  const simulatedTools = (generate: Generate) => {
    const known = simulated.get(generate) ?? checked(() => tools.simulated(generate))();
    simulated.set(generate, known);
    return known;
  };
  const guarded = new WeakMap<Executor, BoundedMap<string, Executor>>();
  const executors: Readonly<Record<ExecutorKind, (options: JsonObject) => Promise<Executor>>> = {
    agent: (options) => findAgent(options, agents),
    // A step of this kind asks a model here, unless the run is simulated.
    inline: (options) => (isSimulated(options) ? agents.simulated(options) : agents.inline()),
    llm: async (options) => (isSimulated(options) ? (await work.simulated(options)).llm : work.llm()),
    // A tool may ask a model, which a run that is made up does not pay.
    mcp: async (options) =>
      isSimulated(options) ? simulatedTools((await work.simulated(options)).generate) : toolsHere(),
    code: checked(work.code),
    http: checked(() => openHttp(parts)),
    terminal: checked(() => terminals.executor()),
    csv,
    report,
    fail: async () => failExecutor,
    function: ({ source }) => (isProgram(source) ? openProgram(source) : functions()),
  };
  return async (kind, { options }) => {
    if (isExecutorKind(kind)) return held(kind, await open(kind, options), options);
    throw new PawlError("EXECUTOR_UNKNOWN", { message: `Steps of the kind \`${kind}\` arrive in a later version.` });
  };

  async function open(kind: ExecutorKind, options: JsonObject): Promise<Executor> {
    if (parts.standIns === undefined) return executors[kind](options);
    const { createStandIn } = await import("../../executors/stand-in-executor.ts");
    return createStandIn(kind, () => executors[kind](options), parts.standIns);
  }

  /** One object for equal callers: who keeps something for a run is told of its end once. */
  function held(kind: ExecutorKind, executor: Executor, options: JsonObject): Executor {
    const known = guarded.get(executor) ?? new BoundedMap<string, Executor>(MAX_CALLERS);
    guarded.set(executor, known);
    const key = writeExact([kind, options["caller_grant"] ?? null]);
    const found = known.get(key) ?? holdToGrant(kind, executor, options);
    known.set(key, found);
    return found;
  }

  /** A graph of another version may have others. */
  function isExecutorKind(kind: string): kind is ExecutorKind {
    return Object.hasOwn(executors, kind);
  }
}

const isProgram = (source: Json | undefined): source is string => typeof source === "string" && isProgramFile(source);

/** The functions of the file that a run was started from. */
async function openProgram(source: string): Promise<Executor> {
  const { readFunctions } = await import("../../operations/definitions/program-file.ts");
  return openFunctions(await readFunctions(source));
}

async function openFunctions(functions: StepFunctions): Promise<Executor> {
  const { createFunctionExecutor } = await import("../../executors/function-executor.ts");
  return createFunctionExecutor(functions);
}

async function openHttp({ config, capacity }: Pick<Executors, "config" | "capacity">): Promise<Executor> {
  const { createHttpExecutor } = await import("../../executors/http/http-executor.ts");
  return createHttpExecutor({
    outbound: await openOutbound(config),
    timeoutMs: HTTP_TIMEOUT_MS,
    maxBytes: config.settings.limits.max_output_bytes,
    capacity,
  });
}

async function findAgent(options: JsonObject, agents: Agents): Promise<Executor> {
  const agent = typeof options["agent"] === "string" ? options["agent"] : "";
  if (agent === "sandstorm") return agents.sandstorm();
  if (agent === "inline") return agents.inline();
  if (isSimulated(options)) return agents.simulated(options);
  throw new PawlError("AGENT_NOT_CONFIGURED", {
    message: agent === "" ? "No agent is chosen to answer agent steps." : `There is no agent \`${agent}\`.`,
  });
}

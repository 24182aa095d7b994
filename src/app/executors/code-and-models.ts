import { resolve } from "node:path";
import type { Config } from "../../config/load-config.ts";
import { BoundedMap } from "../../core/bounded-map.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { JsonObject } from "../../core/json.ts";
import type { CapacityPools } from "../../executors/capacity/capacity-pools.ts";
import type { RunCommand } from "../../executors/core-tools/core-tools.ts";
import type { ProcessWay } from "../../executors/mcp-servers/resolve-server.ts";
import type { ModelsOptions } from "../../executors/models/models-options.ts";
import type { Egress, Sandbox } from "../../executors/sandbox/sandbox.ts";
import type { ConfinedProgram } from "../../executors/terminal/terminal-options.ts";
import type { SandboxState } from "../../operations/application/ports.ts";
import type { Executor } from "../../ports/executor.ts";
import type { Generate } from "../../ports/tools/generate.ts";
import { once } from "../once.ts";
import { confineServer, confineTerminal, toText } from "./confine-programs.ts";

export type CodeAndModels = ReturnType<typeof composeCodeAndModels>;

/** Composes the parts that run code and models. Each is opened when it is first needed, and shared by all runs of the process. */
export function composeCodeAndModels({
  appDir,
  dataDir,
  config,
  capacity,
}: {
  readonly appDir: string;
  readonly dataDir: string;
  readonly config: Config;
  readonly capacity: CapacityPools;
}) {
  const { code, models: settings, agent, mcp, uhlp } = config.settings;
  const { repairs, timeout_ms: timeoutMs } = settings;
  const limits = {
    timeoutMs: code.timeout_ms,
    memoryBytes: code.memory_bytes,
    maxOutputBytes: code.max_output_bytes,
    maxProcesses: code.max_processes,
  };
  const modelsOptions: ModelsOptions = {
    default: settings.default,
    aliases: settings.aliases,
    providers: settings.providers,
    prices: settings.prices,
    keys: modelKeysOf(agent),
    folder: appDir,
    capacity,
    delayFactor: agent.simulated_delay_factor,
    readScript: async (text, file) =>
      (await import("../../dialects/agent-script/agent-script.ts")).readAgentScript(text, file),
    env: config.env,
  };
  const egress: Egress = {
    async open(folder, reach) {
      const { openEgressProxy } = await import("../../executors/outbound/egress-proxy.ts");
      const { allow } = config.settings.outbound;
      return (await openEgressProxy({ allow, environment: process.env, folder, reach })).socketPath;
    },
  };
  const openSandbox = (mode: typeof code.sandbox) =>
    once(async () =>
      (await import("../../executors/sandbox/create-sandbox.ts")).createSandbox({ mode, egress, ready: code.ready }),
    );
  const sandbox = openSandbox(code.sandbox);
  const models = once(async () =>
    (await import("../../executors/models/create-models.ts")).createModels(modelsOptions),
  );
  const prompts = once(async () =>
    (await import("../../executors/llm/prompt/prompt-renderer.ts")).createPromptRenderer(),
  );
  const prices = once(async () =>
    (await import("../../executors/models/create-model-prices.ts")).createModelPrices(modelsOptions),
  );
  const endpoint = once(async () => {
    const { UhlpEndpoint } = await import("../../executors/mcp/uhlp-endpoint.ts");
    return new UhlpEndpoint({ configured: uhlp.mcp_endpoint, allowed: uhlp.allowed_endpoints });
  });
  /** By the text of the script; without one under no text. */
  const simulated = new BoundedMap<string, Promise<SimulatedModels>>(MAX_SCRIPTS);
  const openSimulated = async (text: string, file: string): Promise<SimulatedModels> => {
    const [{ createLlmExecutor }, { createGenerate }, { createModels }] = await Promise.all([
      import("../../executors/llm/llm-executor.ts"),
      import("../../executors/llm/generate.ts"),
      import("../../executors/models/create-models.ts"),
    ]);
    const script = text === "" ? undefined : await modelsOptions.readScript(text, file);
    const models = createModels({ ...modelsOptions, simulated: { script } });
    const llm = createLlmExecutor({ models, prompts: await prompts(), repairs, timeoutMs });
    return { llm, generate: createGenerate({ models, repairs, timeoutMs }) };
  };
  // Once: it keeps the schemas that it has compiled.
  const generator = once(async () => {
    const { createGenerate } = await import("../../executors/llm/generate.ts");
    return createGenerate({ models: await models(), repairs, timeoutMs });
  });
  const generate: Generate = async (request, signal, step) => (await generator())(request, signal, step);
  const runCommand: RunCommand = async (request, signal) => runSandboxed(await sandbox(), limits, request, signal);
  return {
    /** The limits of every program. */
    limits,
    models,
    prompts,
    /** Does `core.llm.generate`. */
    generate,
    /** Does `core.linux.executeCommand`. Undefined: commands are not allowed. */
    runCommand: mcp.allow_commands ? runCommand : undefined,
    /**
     * The sandbox for commands of a model. Without a sandbox there are none, unless a person has switched it off: what is a warning
     * for the application's own scripts is a refusal here.
     */
    strictSandbox: openSandbox(code.sandbox === "off" ? "off" : "required"),
    code: once(async () => {
      const { createCodeExecutor } = await import("../../executors/code/code-executor.ts");
      return createCodeExecutor({
        sandbox: await sandbox(),
        ...limits,
        hidden: [dataDir],
        ...(code.python === undefined ? {} : { python: pathOrName(code.python, appDir) }),
        ...(code.node_modules === undefined ? {} : { nodeModules: resolve(appDir, code.node_modules) }),
      });
    }),
    llm: once(async () => {
      const { createLlmExecutor } = await import("../../executors/llm/llm-executor.ts");
      const elsewhere = { endpoint: await endpoint(), prices: await prices() };
      return createLlmExecutor({ models: await models(), prompts: await prompts(), elsewhere, repairs, timeoutMs });
    }),
    /** Makes answers of models up, as the run's script says. Throws `SCRIPT_INVALID`. */
    simulated({ agent, script: text }: JsonObject): Promise<SimulatedModels> {
      const key = typeof text === "string" ? text : "";
      const known = simulated.get(key) ?? openSimulated(key, String(agent).slice("simulated:".length));
      simulated.set(key, known);
      return known;
    },
    prices,
    /** Where runs may have their tools, and their models. */
    endpoint,
    checkSandbox,
    /** Puts MCP servers of definitions into the sandbox. */
    confineServer: async (way: ProcessWay) => confineServer(await sandbox(), way, { limits, dataDir }),
    confineTerminal: async (program: ConfinedProgram, writable: readonly string[]) =>
      confineTerminal(await sandbox(), program, { limits, dataDir, writable }),
    close: async () => {
      await sandbox.close((opened) => opened.close());
    },
  };
}

/** What asks models in a run whose answers are made up: its steps, and the tools that ask for them. */
interface SimulatedModels {
  readonly llm: Executor;
  readonly generate: Generate;
}

/** Whether programs can be kept in a sandbox here, by running one. */
async function checkSandbox(): Promise<SandboxState> {
  const { createSandbox } = await import("../../executors/sandbox/create-sandbox.ts");
  const limits = { timeoutMs: 10_000, memoryBytes: 64 * 1024 * 1024, maxOutputBytes: 1_024, maxProcesses: 8 };
  const spec = { command: "true", args: [], limits };
  const { ending } = await createSandbox({ mode: "required" }).runSandboxed(spec, new AbortController().signal);
  if (ending.type === "exited") return { ok: ending.code === 0, detail: "bubblewrap confines what steps run" };
  if (ending.type === "refused") return { ok: false, detail: ending.reason, remedy: ending.remedy };
  return { ok: false, detail: `a program that does nothing was ${ending.type}` };
}

async function runSandboxed(
  sandbox: Sandbox,
  { timeoutMs: _, ...limits }: CodeAndModels["limits"],
  { command, args, timeoutMs }: Parameters<RunCommand>[0],
  signal: AbortSignal,
) {
  const { ending, stdout, stderr } = await sandbox.runSandboxed(
    { command, args, limits: { ...limits, timeoutMs } },
    signal,
  );
  const printed = { stdout: stdout.toString("utf8"), stderr: stderr.toString("utf8") };
  switch (ending.type) {
    case "exited":
      return { ...printed, exitCode: ending.code };
    case "killed":
      return { ...printed, exitCode: KILLED };
    case "timedOut":
      throw new PawlError("TIMEOUT", { message: `The command took longer than ${timeoutMs / 1_000} s.` });
    case "aborted":
      throw new PawlError("INTERRUPTED", { message: "The command was stopped." });
    case "refused":
      throw new PawlError("SANDBOX_MISSING", { message: toText(ending) });
    case "notStarted":
      throw new PawlError("CODE_FAILED", { message: `The command could not be started: ${ending.reason}` });
    case "outOfMemory":
      throw new PawlError("CODE_OUT_OF_MEMORY", { message: "The command used more memory than it may." });
    case "tooManyProcesses":
      throw new PawlError("CODE_TOO_MANY_PROCESSES", { message: "The command started more processes than it may." });
    case "outputTooLarge":
      throw new PawlError("CODE_OUTPUT_TOO_LARGE", { message: "The command printed more than it may." });
  }
}

const MAX_SCRIPTS = 50;

/** The exit code by which shells tell of a program that a signal has ended. */
const KILLED = 137;

/** The keys of the providers that need nothing else. */
export function modelKeysOf({ anthropic_api_key, openai_api_key, google_api_key }: Config["settings"]["agent"]) {
  return { anthropic: anthropic_api_key, openai: openai_api_key, google: google_api_key };
}

/** A bare name is looked for on the PATH. */
export function pathOrName(given: string, folder: string): string {
  return /[\\/]/.test(given) ? resolve(folder, given) : given;
}

import { resolve } from "node:path";
import type { Config } from "../config/load-config.ts";
import { PawlError } from "../core/errors/pawl-error.ts";
import type { RunCommand } from "../executors/core-tools/command-tool.ts";
import type { Generate } from "../executors/core-tools/llm-tool.ts";
import type { Models } from "../executors/models/create-models.ts";
import type { ModelsOptions } from "../executors/models/models-options.ts";
import type { Sandbox } from "../executors/sandbox/sandbox.ts";
import type { Executor } from "../ports/executor.ts";
import type { ModelPrices } from "../ports/model-prices.ts";
import type { PromptRenderer } from "../ports/prompt-renderer.ts";
import { modelKeysOf } from "./model-keys.ts";
import { pathOrName } from "./path-or-name.ts";

interface WorkPartsOptions {
  readonly appDir: string;
  readonly dataDir: string;
  readonly config: Config;
}

/** What code and models are run with, each opened when it is first needed and shared by all runs of the process. */
export class WorkParts {
  readonly #options: WorkPartsOptions;
  #sandbox: Promise<Sandbox> | undefined;
  #strictSandbox: Promise<Sandbox> | undefined;
  #models: Promise<Models> | undefined;
  #prompts: Promise<PromptRenderer> | undefined;
  #code: Promise<Executor> | undefined;
  #llm: Promise<Executor> | undefined;
  #generate: Promise<Generate> | undefined;

  constructor(options: WorkPartsOptions) {
    this.#options = options;
  }

  /** Runs functions of scripts. */
  code(): Promise<Executor> {
    this.#code ??= this.#createCode();
    return this.#code;
  }

  /** Asks models. */
  llm(): Promise<Executor> {
    this.#llm ??= this.#createLlm();
    return this.#llm;
  }

  prompts(): Promise<PromptRenderer> {
    this.#prompts ??= import("../executors/llm/prompt/prompt-renderer.ts").then(({ createPromptRenderer }) =>
      createPromptRenderer(),
    );
    return this.#prompts;
  }

  /** What `core.llm.generate` does. */
  readonly generate: Generate = async (request, signal, step) => {
    this.#generate ??= this.#createGenerate();
    return (await this.#generate)(request, signal, step);
  };

  /** What `core.linux.executeCommand` does. Absent: commands are not allowed. */
  get runCommand(): RunCommand | undefined {
    return this.#options.config.settings.mcp.allow_commands
      ? (request, signal) => this.#run(request, signal)
      : undefined;
  }

  async #run({ command, args, timeoutMs }: Parameters<RunCommand>[0], signal: AbortSignal) {
    const sandbox = await this.#openSandbox();
    const { memory_bytes, max_output_bytes, max_processes } = this.#options.config.settings.code;
    const limits = {
      timeoutMs,
      memoryBytes: memory_bytes,
      maxOutputBytes: max_output_bytes,
      maxProcesses: max_processes,
    };
    const { ending, stdout, stderr } = await sandbox.runSandboxed({ command, args, limits }, signal);
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
        throw new PawlError("SANDBOX_MISSING", { message: ending.reason });
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

  /**
   * Where commands run that a model has written. Without a sandbox there are none, unless a person has switched it off:
   * what is a warning for the application's own scripts is a refusal here.
   */
  strictSandbox(): Promise<Sandbox> {
    this.#strictSandbox ??= import("../executors/sandbox/create-sandbox.ts").then(({ createSandbox }) =>
      createSandbox({ mode: this.#options.config.settings.code.sandbox === "off" ? "off" : "required" }),
    );
    return this.#strictSandbox;
  }

  /** Whether programs can be kept in a sandbox here, by running one. */
  async checkSandbox(): Promise<{ readonly ok: boolean; readonly detail: string }> {
    const { createSandbox } = await import("../executors/sandbox/create-sandbox.ts");
    const limits = { timeoutMs: 10_000, memoryBytes: 64 * 1024 * 1024, maxOutputBytes: 1_024, maxProcesses: 8 };
    const spec = { command: "true", args: [], limits };
    const { ending } = await createSandbox({ mode: "required" }).runSandboxed(spec, new AbortController().signal);
    if (ending.type === "exited") return { ok: ending.code === 0, detail: "bubblewrap confines what steps run" };
    return { ok: false, detail: "reason" in ending ? ending.reason : `a program that does nothing was ${ending.type}` };
  }

  /** Where programs run that nobody vouches for. */
  #openSandbox(): Promise<Sandbox> {
    this.#sandbox ??= import("../executors/sandbox/create-sandbox.ts").then(({ createSandbox }) =>
      createSandbox({ mode: this.#options.config.settings.code.sandbox }),
    );
    return this.#sandbox;
  }

  models(): Promise<Models> {
    this.#models ??= this.#createModels();
    return this.#models;
  }

  async prices(): Promise<ModelPrices> {
    const { createModelPrices } = await import("../executors/models/create-model-prices.ts");
    return createModelPrices(this.#modelsOptions());
  }

  async #createModels(): Promise<Models> {
    const { createModels } = await import("../executors/models/create-models.ts");
    return createModels(this.#modelsOptions());
  }

  #modelsOptions(): ModelsOptions {
    const { appDir, config } = this.#options;
    const { models, agent } = config.settings;
    return {
      default: models.default,
      aliases: models.aliases,
      providers: models.providers,
      prices: models.prices,
      keys: modelKeysOf(agent),
      folder: appDir,
      delayFactor: agent.simulated_delay_factor,
      env: config.env,
    };
  }

  async #createCode(): Promise<Executor> {
    const [{ createCodeExecutor }, sandbox] = await Promise.all([
      import("../executors/code/code-executor.ts"),
      this.#openSandbox(),
    ]);
    const { appDir, dataDir, config } = this.#options;
    const { code } = config.settings;
    return createCodeExecutor({
      sandbox,
      timeoutMs: code.timeout_ms,
      memoryBytes: code.memory_bytes,
      maxOutputBytes: code.max_output_bytes,
      maxProcesses: code.max_processes,
      hidden: [dataDir],
      ...(code.python === undefined ? {} : { python: pathOrName(code.python, appDir) }),
      ...(code.node_modules === undefined ? {} : { nodeModules: resolve(appDir, code.node_modules) }),
    });
  }

  /** Once: it keeps the schemas that it has compiled. */
  async #createGenerate(): Promise<Generate> {
    const [{ createGenerate }, models] = await Promise.all([import("../executors/llm/generate.ts"), this.models()]);
    const { repairs, timeout_ms: timeoutMs } = this.#options.config.settings.models;
    return createGenerate({ models, repairs, timeoutMs });
  }

  async #createLlm(): Promise<Executor> {
    const [{ createLlmExecutor }, models, prompts] = await Promise.all([
      import("../executors/llm/llm-executor.ts"),
      this.models(),
      this.prompts(),
    ]);
    const { repairs, timeout_ms: timeoutMs } = this.#options.config.settings.models;
    return createLlmExecutor({ models, prompts, repairs, timeoutMs });
  }
}

/** As shells tell of a program that a signal has ended. */
const KILLED = 137;

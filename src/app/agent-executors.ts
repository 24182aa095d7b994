import type { Config } from "../config/load-config.ts";
import { BoundedMap } from "../core/bounded-map.ts";
import { resolveEnv } from "../core/expressions/resolve-env.ts";
import type { JsonObject } from "../core/json.ts";
import type { Executor } from "../ports/executor.ts";

const MAX_SCRIPTS = 50;

/** Who answers agent steps from elsewhere, or makes answers up. Each is made once: it compiles a schema once, however many runs ask for it. */
export class AgentExecutors {
  readonly #config: Config;
  #sandstorm: Promise<Executor> | undefined;
  /** By the text of the script; without one under no text. */
  readonly #simulated = new BoundedMap<string, Promise<Executor>>(MAX_SCRIPTS);

  constructor(config: Config) {
    this.#config = config;
  }

  sandstorm(): Promise<Executor> {
    this.#sandstorm ??= createSandstorm(this.#config);
    return this.#sandstorm;
  }

  /** `options`: of the run, which keep the script that it began with. Throws `SCRIPT_INVALID`. */
  simulated({ agent, script }: JsonObject): Promise<Executor> {
    const text = typeof script === "string" ? script : "";
    const known = this.#simulated.get(text);
    if (known !== undefined) return known;
    const file = String(agent).slice("simulated:".length);
    const executor = createSimulated(text === "" ? undefined : { text, file }, this.#config);
    this.#simulated.set(text, executor);
    return executor;
  }
}

async function createSandstorm({ settings, env }: Config): Promise<Executor> {
  const { createSandstormExecutor } = await import("../executors/agent/sandstorm/sandstorm-executor.ts");
  const { agent } = settings;
  return createSandstormExecutor({
    baseUrl: agent.sandstorm_url,
    apiKey: agent.sandstorm_api_key,
    anthropicApiKey: agent.anthropic_api_key,
    e2bApiKey: agent.e2b_api_key,
    expandEnv: (text) => resolveEnv(text, env),
    idleTimeoutMs: agent.idle_timeout_ms,
    connectTimeoutMs: agent.connect_timeout_ms,
  });
}

async function createSimulated(
  script: { readonly text: string; readonly file: string } | undefined,
  { settings }: Config,
): Promise<Executor> {
  const { createSimulatedExecutor } = await import("../executors/agent/simulated/simulated-executor.ts");
  const { simulated_delay_factor: delayFactor } = settings.agent;
  if (script === undefined) return createSimulatedExecutor({ delayFactor });
  const { readAgentScript } = await import("../executors/models/mock/agent-script.ts");
  return createSimulatedExecutor({ delayFactor, script: readAgentScript(script.text, script.file) });
}

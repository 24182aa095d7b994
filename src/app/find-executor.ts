import type { Config } from "../config/load-config.ts";
import { PawlError } from "../core/errors/pawl-error.ts";
import { resolveEnv } from "../core/expressions/resolve-env.ts";
import type { JsonObject } from "../core/json.ts";
import type { FindExecutor } from "../hosts/executors.ts";
import type { Executor } from "../ports/executor.ts";
import type { AgentParts } from "./agent-parts.ts";
import type { ExportParts } from "./export-parts.ts";
import type { TerminalParts } from "./terminal-parts.ts";
import type { ToolParts } from "./tool-parts.ts";
import type { WorkParts } from "./work-parts.ts";

interface ExecutorParts {
  readonly tools: ToolParts;
  readonly work: WorkParts;
  readonly terminals: TerminalParts;
  readonly agents: AgentParts;
  readonly exports: ExportParts;
}

/** Finds who does a step's work, by the options that its run keeps. Modules of executors are loaded when needed. */
export function createFindExecutor(
  config: Config,
  { tools, work, terminals, agents, exports }: ExecutorParts,
): FindExecutor {
  return async (kind, { options }) => {
    if (kind === "agent") return findAgent(options, config, agents);
    // Who answers is not chosen for these, except that nobody may.
    if (kind === "inline") return isSimulated(options) ? createSimulated(options, config) : agents.inline();
    if (kind === "mcp") return tools.executor();
    if (kind === "code") return work.code();
    if (kind === "llm") return work.llm();
    if (kind === "terminal") return terminals.executor();
    if (kind === "csv") return exports.csv();
    if (kind === "report") return exports.report();
    throw new PawlError("EXECUTOR_UNKNOWN", { message: `Steps of the kind \`${kind}\` arrive in a later version.` });
  };
}

async function findAgent(options: JsonObject, config: Config, agents: AgentParts): Promise<Executor> {
  const agent = agentOf(options);
  if (agent === "sandstorm") return createSandstorm(config);
  if (agent === "inline") return agents.inline();
  if (isSimulated(options)) return createSimulated(options, config);
  throw new PawlError("AGENT_NOT_CONFIGURED", {
    message: agent === "" ? "Nobody was chosen to answer agent steps." : `There is no agent \`${agent}\`.`,
  });
}

function agentOf({ agent }: JsonObject): string {
  return typeof agent === "string" ? agent : "";
}

function isSimulated(options: JsonObject): boolean {
  const agent = agentOf(options);
  return agent === "simulated" || agent.startsWith("simulated:");
}

async function createSandstorm({ settings, env }: Config): Promise<Executor> {
  const { createSandstormExecutor } = await import("../executors/agent/sandstorm/sandstorm-executor.ts");
  const { agent } = settings;
  return createSandstormExecutor({
    ...(agent.sandstorm_url === undefined ? {} : { baseUrl: agent.sandstorm_url }),
    ...(agent.sandstorm_api_key === undefined ? {} : { apiKey: agent.sandstorm_api_key }),
    ...(agent.anthropic_api_key === undefined ? {} : { anthropicApiKey: agent.anthropic_api_key }),
    ...(agent.e2b_api_key === undefined ? {} : { e2bApiKey: agent.e2b_api_key }),
    expandEnv: (text) => resolveEnv(text, env),
    idleTimeoutMs: agent.idle_timeout_ms,
    connectTimeoutMs: agent.connect_timeout_ms,
  });
}

async function createSimulated(options: JsonObject, { settings }: Config): Promise<Executor> {
  const { createSimulatedExecutor } = await import("../executors/agent/simulated/simulated-executor.ts");
  const delayFactor = settings.agent.simulated_delay_factor;
  const text = options["script"];
  if (typeof text !== "string") return createSimulatedExecutor({ delayFactor });
  const { parseAgentScript } = await import("../executors/models/mock/parse-agent-script.ts");
  const parsed = parseAgentScript(text, String(options["agent"]).slice("simulated:".length));
  if (parsed.ok) return createSimulatedExecutor({ delayFactor, script: parsed.script });
  const lines = parsed.problems.map(({ place, message }) => {
    return place === undefined ? message : `${place.file ?? "script"}:${place.line}:${place.column} ${message}`;
  });
  throw new PawlError("SCRIPT_INVALID", { message: lines.join("\n"), details: lines });
}

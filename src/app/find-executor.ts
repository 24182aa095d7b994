import type { Config } from "../config/load-config.ts";
import { PawlError } from "../core/errors/pawl-error.ts";
import type { JsonObject } from "../core/json.ts";
import type { FindExecutor } from "../hosts/executors.ts";
import type { Executor } from "../ports/executor.ts";
import { AgentExecutors } from "./agent-executors.ts";
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
  const elsewhere = new AgentExecutors(config);
  return async (kind, { options }) => {
    if (kind === "agent") return findAgent(options, elsewhere, agents);
    // Who answers is not chosen for these, except that nobody may.
    if (kind === "inline") return isSimulated(options) ? elsewhere.simulated(options) : agents.inline();
    if (kind === "mcp") return tools.executor();
    if (kind === "code") return work.code();
    if (kind === "llm") return work.llm();
    if (kind === "terminal") return terminals.executor();
    if (kind === "csv") return exports.csv();
    if (kind === "report") return exports.report();
    throw new PawlError("EXECUTOR_UNKNOWN", { message: `Steps of the kind \`${kind}\` arrive in a later version.` });
  };
}

async function findAgent(options: JsonObject, elsewhere: AgentExecutors, agents: AgentParts): Promise<Executor> {
  const agent = agentOf(options);
  if (agent === "sandstorm") return elsewhere.sandstorm();
  if (agent === "inline") return agents.inline();
  if (isSimulated(options)) return elsewhere.simulated(options);
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

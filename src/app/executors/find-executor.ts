import { findChromium } from "../../config/find-chromium.ts";
import type { Config } from "../../config/load-config.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { JsonObject } from "../../core/json.ts";
import type { CapacityPools } from "../../executors/capacity/capacity-pools.ts";
import { failExecutor } from "../../executors/fail-executor.ts";
import type { FindExecutor } from "../../hosts/executors.ts";
import type { Executor } from "../../ports/executor.ts";
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
}

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
  const validators = once(async () => new (await import("../../schemas/json-schemas.ts")).JsonSchemas());
  const checked = (open: () => Promise<Executor>) =>
    once(async () => {
      const { checkOutput } = await import("../../executors/output/check-output.ts");
      return checkOutput(await open(), await validators());
    });
  const mcp = checked(tools.executor);
  const code = checked(work.code);
  const http = checked(() => openHttp(parts));
  const terminal = checked(() => terminals.executor());
  return async (kind, { options }) => {
    if (kind === "agent") return findAgent(options, agents);
    // A step of this kind asks a model here, unless the run is simulated.
    if (kind === "inline") return isSimulated(options) ? agents.simulated(options) : agents.inline();
    if (kind === "llm") return work.llm();
    if (kind === "mcp") return mcp();
    if (kind === "code") return code();
    if (kind === "http") return http();
    if (kind === "terminal") return terminal();
    if (kind === "csv") return csv();
    if (kind === "report") return report();
    if (kind === "fail") return failExecutor;
    throw new PawlError("EXECUTOR_UNKNOWN", { message: `Steps of the kind \`${kind}\` arrive in a later version.` });
  };
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
  const agent = agentOf(options);
  if (agent === "sandstorm") return agents.sandstorm();
  if (agent === "inline") return agents.inline();
  if (isSimulated(options)) return agents.simulated(options);
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

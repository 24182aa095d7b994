import { PawlError } from "../../core/errors/pawl-error.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Application } from "../application/application.ts";
import { describeRunLimits, type RunLimitsDescription } from "../costs/use-limits.ts";
import { type PreparedRun, prepareStart, type Startable } from "../start/prepare-run.ts";
import { findCalled } from "../start/resolve-call.ts";
import { type Assumptions, USUAL_ASSUMPTIONS } from "./plan-assumptions.ts";
import { StepPlanner } from "./plan-steps.ts";
import type { PlannedCost, PlannedStep } from "./planned-step.ts";

export interface PlanRequest {
  /** The folder that paths of scripts are relative to. */
  readonly folder: string;
  readonly agent?: string;
  readonly maxCostUsd?: number;
  readonly assume?: Partial<Assumptions>;
}

/** The worst case of a run, from its definition and its input alone. */
export interface Plan {
  readonly workflow: string;
  readonly dialect: string;
  /** The provider of agent steps. `null` if no step needs one, or none is configured. */
  readonly agent: string | null;
  readonly steps: readonly PlannedStep[];
  readonly total: PlannedTotal;
  readonly budgets: readonly PlannedBudget[];
  /** Beside money. Absent: there are none. */
  readonly limits?: RunLimitsDescription;
  readonly assumptions: Assumptions;
  readonly warnings: readonly string[];
}

interface PlannedTotal extends PlannedCost {
  /** The part of the cost that is known. */
  readonly known_usd: number;
  /** The least of the worst case and the budgets: the run ends there. `null`: nothing ends it. */
  readonly at_most_usd: number | null;
}

interface PlannedBudget {
  readonly budget: "run";
  readonly limit_usd: number;
  readonly from: "request" | "definition";
  /** `at_worst`: the worst case is more than the budget. `unknown`: the worst case is not known. */
  readonly stops: "no" | "at_worst" | "unknown";
}

/**
 * Computes what a run would cost at worst. Runs nothing, sends nothing, writes nothing. Throws what a start would throw, except that
 * nobody has to be configured to answer agent steps.
 */
export async function planRun(app: Application, startable: Startable, request: PlanRequest): Promise<Plan> {
  const { folder, agent, maxCostUsd, assume = {} } = request;
  const asked = { folder, agent, maxCostUsd };
  const { prepared, warning } = await prepareAnyway(app, startable, asked);
  const { definition, input, options = {} } = prepared;
  const given = Object.entries(assume).filter(([, tokens]) => tokens !== undefined);
  const assumptions: Assumptions = { ...USUAL_ASSUMPTIONS, ...Object.fromEntries(given) };
  const chosen = typeof options["agent"] === "string" ? options["agent"] : undefined;
  const planner = new StepPlanner({
    prices: await app.prices(),
    assumptions,
    repairs: app.config.settings.models.repairs,
    agent: chosen,
    findCalled: (workflow, onlyNames) => findCalled(app, workflow, { options, onlyNames, tenantId: app.tenantId }),
  });
  await planner.plan(definition.graph, input);
  const { graph } = definition;
  const budgets = budgetsOf(prepared, planner.steps);
  const warnings = [...(warning === undefined ? [] : [warning]), ...planner.warnings];
  if (budgets.length > 0 && planner.steps.some(({ price }) => price.is === "unpriced")) {
    warnings.push("Under a budget, models without a known price are refused with PRICE_UNKNOWN before they are asked.");
  }
  return {
    workflow: graph.name,
    dialect: graph.dialect,
    agent: chosen ?? null,
    steps: planner.steps,
    total: totalOf(planner.steps, budgets),
    budgets,
    ...describeRunLimits(prepared),
    assumptions,
    warnings,
  };
}

async function prepareAnyway(
  app: Application,
  startable: Startable,
  request: Parameters<typeof prepareStart>[2],
): Promise<{ readonly prepared: PreparedRun; readonly warning?: string }> {
  try {
    return { prepared: await prepareStart(app, startable, request) };
  } catch (error) {
    if (!(error instanceof PawlError) || error.code !== "AGENT_NOT_CONFIGURED") throw error;
    // Only the choice is missing: the rest is prepared as if answers were made up, and not planned so.
    const prepared = await prepareStart(app, startable, { ...request, agent: "simulated" });
    const { agent: _, ...options } = prepared.options ?? {};
    return { prepared: { ...prepared, options: options as JsonObject }, warning: `${error.message} ${error.remedy}` };
  }
}

/** The lowest limit holds, whoever gave it. */
function budgetsOf({ definition, maxCostMicro }: PreparedRun, steps: readonly PlannedStep[]): readonly PlannedBudget[] {
  const ofDefinition = definition.graph.limits.maxCostMicro;
  const limit = maxCostMicro ?? ofDefinition;
  if (limit === undefined) return [];
  const { usd } = sumOf(steps);
  const limitUsd = limit / 1_000_000;
  const stops = usd === null ? "unknown" : usd > limitUsd ? "at_worst" : "no";
  return [{ budget: "run", limit_usd: limitUsd, from: limit === ofDefinition ? "definition" : "request", stops }];
}

function totalOf(steps: readonly PlannedStep[], budgets: readonly PlannedBudget[]): PlannedTotal {
  const sum = sumOf(steps);
  const known = steps.reduce((usd, { cost }) => usd + (cost.usd ?? 0), 0);
  const ends = [...(sum.usd === null ? [] : [sum.usd]), ...budgets.map(({ limit_usd }) => limit_usd)];
  return { ...sum, known_usd: round(known), at_most_usd: ends.length === 0 ? null : Math.min(...ends) };
}

function sumOf(steps: readonly PlannedStep[]): PlannedCost {
  const missing = steps.find(({ cost }) => cost.is === "unbounded") ?? steps.find(({ cost }) => cost.is === "unpriced");
  if (missing !== undefined)
    return { is: missing.cost.is, usd: null, because: `${missing.step}: ${missing.cost.because}` };
  const is = (["bounded", "simulated", "none"] as const).find((kind) => steps.some(({ cost }) => cost.is === kind));
  return { is: is ?? "none", usd: round(steps.reduce((usd, { cost }) => usd + (cost.usd ?? 0), 0)) };
}

/** Whole micro-dollars: sums of dollars are not. */
function round(usd: number): number {
  return Math.round(usd * 1_000_000) / 1_000_000;
}

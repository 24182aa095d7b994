import { resolveEnv } from "../../core/expressions/resolve-env.ts";
import type { JsonObject } from "../../core/json.ts";
import { grantOf } from "../../core/trust/grant.ts";
import { USUAL_TOKENS } from "../../ports/model-prices.ts";
import type { Place, StartPorts } from "../application/ports.ts";
import { describeProblem } from "../definitions/describe-problem.ts";
import { explainStarts } from "../definitions/explain/explain-graph.ts";
import { describeRunLimits } from "../limits/use-limits.ts";
import type { Startable } from "../start/preflight.ts";
import { type PreparedRun, prepareUnasked } from "../start/prepare-run.ts";
import { findCalled } from "../start/resolve-call.ts";
import type { Assumptions, Plan, PlannedCost, PlannedStep } from "./plan-schemas.ts";
import { StepPlanner } from "./plan-steps.ts";

export interface PlanRequest {
  /** The folder that paths of scripts are relative to. */
  readonly folder: string;
  readonly agent?: string;
  readonly maxCostUsd?: number;
  readonly assume?: Partial<Assumptions>;
}

const USUAL_ASSUMPTIONS: Assumptions = {
  output_tokens: USUAL_TOKENS.answer,
  value_tokens: 4_096,
  tool_tokens: USUAL_TOKENS.toolResult,
  overhead_tokens: USUAL_TOKENS.instructions,
  bytes_per_token: USUAL_TOKENS.bytesEach,
};

/**
 * Computes what a run would cost at worst. Runs nothing, sends nothing, writes nothing. What a run would lack to be answered is
 * in the plan.
 */
export async function planRun(app: StartPorts, startable: Startable, request: PlanRequest): Promise<Plan> {
  const { assume = {}, ...asked } = request;
  const { prepared, flight } = await prepareUnasked(app, startable, asked);
  const { definition, input, options = {} } = prepared;
  const given = Object.entries(assume).filter(([, tokens]) => tokens !== undefined);
  const assumptions: Assumptions = { ...USUAL_ASSUMPTIONS, ...Object.fromEntries(given) };
  const chosen = typeof options["agent"] === "string" ? options["agent"] : undefined;
  const planner = new StepPlanner({
    prices: await app.prices(),
    assumptions,
    repairs: app.config.settings.models.repairs,
    answerOf: flight.answerOf,
    findCalled: (workflow, onlyNames) => {
      const grant = grantOf(definition.graph.settings);
      return findCalled(app, workflow, { options, grant, onlyNames, tenantId: app.tenantId });
    },
  });
  await planner.plan(definition.graph, input);
  const { graph } = definition;
  const budgets = budgetsOf(prepared, planner.steps);
  const warnings = [...flight.problems.map(({ message, remedy }) => `${message} ${remedy}`), ...planner.warnings];
  if (budgets.length > 0 && planner.steps.some(({ price }) => price.is === "unpriced"))
    warnings.push("Under a budget, models without a known price are refused with PRICE_UNKNOWN before they are asked.");
  return {
    workflow: graph.name,
    dialect: graph.dialect,
    agent: chosen ?? null,
    ready: flight.isReady,
    problems: flight.problems.map(describeProblem),
    ...explainStarts(graph),
    steps: planner.steps,
    total: totalOf(planner.steps, budgets),
    budgets,
    ...describeRunLimits(prepared),
    capacity: planCapacity(app, { steps: planner.steps, agent: chosen, settings: graph.settings }),
    assumptions,
    warnings,
  };
}

/** The lowest limit holds, whoever gave it. */
function budgetsOf({ definition, maxCostMicro }: PreparedRun, steps: readonly PlannedStep[]): Plan["budgets"] {
  const ofDefinition = definition.graph.limits.maxCostMicro;
  const limit = maxCostMicro ?? ofDefinition;
  if (limit === undefined) return [];
  const { usd } = sumOf(steps);
  const limitUsd = limit / 1_000_000;
  const stops = usd === null ? "unknown" : usd > limitUsd ? "at_worst" : "no";
  return [{ budget: "run", limit_usd: limitUsd, from: limit === ofDefinition ? "definition" : "request", stops }];
}

function totalOf(steps: readonly PlannedStep[], budgets: Plan["budgets"]): Plan["total"] {
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

interface Question {
  readonly steps: readonly PlannedStep[];
  /** Who answers agent steps. */
  readonly agent: string | undefined;
  /** Of the definition. */
  readonly settings: JsonObject;
}

/** The pools in which calls of fan-outs wait for their turn, and how many calls each takes at once, where that is configured. */
function planCapacity({ config }: Pick<Place, "config">, question: Question): Plan["capacity"] {
  const { limits } = config.settings.capacity;
  const server = originOf(question, config);
  const pools = new Map<string, Plan["capacity"][number]>();
  for (const step of question.steps) {
    const pool = poolOf(step, question.agent, server);
    const asks = atOnceOf(step);
    if (pool === undefined || asks === 1) continue;
    const known = pools.get(pool);
    const most = known === undefined ? asks : known.asks === null || asks === null ? null : Math.max(known.asks, asks);
    pools.set(pool, {
      pool,
      steps: [...(known?.steps ?? []), step.step],
      asks: most,
      at_most: ceilingOf(pool, limits),
    });
  }
  return [...pools.values()];
}

/** How many calls of a step there may be at once. */
function atOnceOf({ instances, max_concurrent: window }: PlannedStep): number | null {
  const { count } = instances;
  return count === null || window === null ? (count ?? window) : Math.min(count, window);
}

function poolOf(step: PlannedStep, agent: string | undefined, server: string | undefined): string | undefined {
  if (step.tokens === null || step.price.is === "simulated") return undefined;
  if (step.executor === "agent" && agent !== "inline") return agent === "sandstorm" ? server : undefined;
  return step.model?.includes(":") === true ? step.model : undefined;
}

function originOf({ settings }: Question, config: Place["config"]): string | undefined {
  const named = settings["sandstorm_url"];
  const own = typeof named === "string" ? resolveEnv(named, config.env).trim() : "";
  return URL.parse(own === "" ? (config.settings.agent.sandstorm_url ?? "") : own)?.origin;
}

/** The lowest of the configured ones. A provider's holds for all of its models together. */
function ceilingOf(pool: string, limits: Readonly<Record<string, number>>): number | null {
  const provider = pool.slice(0, pool.indexOf(":"));
  const isOf = (name: string) => name === pool || name === provider || URL.parse(name)?.origin === pool;
  const found = Object.keys(limits).flatMap((name) => (isOf(name) ? [limits[name] ?? 0] : []));
  return found.length === 0 ? null : Math.min(...found);
}

import { resolveEnv } from "../../core/expressions/resolve-env.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Place } from "../application/ports.ts";
import type { Plan, PlannedStep } from "./plan-schemas.ts";

interface Question {
  readonly steps: readonly PlannedStep[];
  /** Who answers agent steps. */
  readonly agent: string | undefined;
  /** Of the definition. */
  readonly settings: JsonObject;
}

/** The pools in which calls of fan-outs wait for their turn, and how many calls each takes at once, where that is configured. */
export function planCapacity({ config }: Pick<Place, "config">, question: Question): Plan["capacity"] {
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

import type { Plan, PlannedStep } from "../../../../operations/plan/plan-schemas.ts";
import { formatUsd, showLimits } from "../text/formats.ts";
import type { Paint } from "../text/paint.ts";
import { sanitize } from "../text/sanitize.ts";
import { renderTable } from "../text/table.ts";
import type { Segment } from "../text/text-width.ts";
import { factsOfStart } from "./render-graph.ts";

interface PlanPage {
  readonly paint: Paint;
  readonly width?: number | undefined;
}

/** The text of `pawl plan`: a line for each step, then what they come to. */
export function renderPlan(plan: Plan, { paint, width }: PlanPage): string {
  const isFollowing = plan.steps.some(({ follows }) => follows !== undefined);
  const columns = [
    { title: "STEP" },
    ...(isFollowing ? [{ title: "ITEMS OF" }] : []),
    { title: "RUNS", align: "right" as const },
    { title: "TRIES", align: "right" as const },
    { title: "TURNS", align: "right" as const },
    { title: "MODEL" },
    { title: "IN/OUT PER M" },
    { title: "A TRY", align: "right" as const },
    { title: "AT MOST", align: "right" as const },
  ];
  const rows = plan.steps.map((step): Segment[] => [
    { text: sanitize(step.step) },
    ...(isFollowing ? [{ text: sanitize(step.follows ?? "") }] : []),
    { text: runsOf(step) },
    { text: String(step.attempts) },
    { text: step.max_turns === null ? "" : String(step.max_turns) },
    { text: sanitize(step.model ?? step.executor ?? step.kind) },
    { text: priceOf(step) },
    { text: step.attempt_usd === null ? "" : formatUsd(step.attempt_usd) },
    { text: costOf(step) },
  ]);
  const table = renderTable(columns, rows, { paint, width });
  return [
    paint("bold", sanitize(plan.workflow)),
    ...factsOfStart(plan).map((fact) => paint("dim", sanitize(fact))),
    table,
    "",
    ...totalLines(plan),
    ...plan.capacity.map(capacityLine),
    ...plan.warnings.map((warning) => paint("yellow", `! ${sanitize(warning)}`)),
    paint("dim", assumed(plan)),
  ].join("\n");
}

function runsOf({ instances }: PlannedStep): string {
  if (instances.is === "unknown") return "?";
  return instances.is === "exact" ? String(instances.count) : `<=${instances.count}`;
}

function priceOf({ price }: PlannedStep): string {
  if (price.input === null || price.output === null) return price.is === "none" ? "" : price.is;
  return `$${Number(price.input.toFixed(4))}/$${Number(price.output.toFixed(4))}`;
}

function costOf({ cost, max_concurrent: atOnce, instances, attempt_usd: attempt }: PlannedStep): string {
  if (cost.is === "none") return "";
  if (cost.usd !== null) return cost.is === "simulated" ? "simulated" : formatUsd(cost.usd);
  if (instances.is === "unknown" && attempt !== null && atOnce !== null) return `${cost.is}, ${atOnce} at once`;
  return cost.is;
}

function totalLines({ total, budgets, limits }: Plan): readonly string[] {
  const worst =
    total.usd === null
      ? `Worst case: ${total.is} (${sanitize(total.because ?? "")}); ${formatUsd(total.known_usd)} of it is known.`
      : total.is === "simulated"
        ? "Worst case: nothing is paid; all answers are made up."
        : `Worst case: ${formatUsd(total.usd)}.`;
  const stops = budgets.map(({ limit_usd: limit, from, stops }) => {
    const budget = `The run's budget of ${formatUsd(limit)} (${from})`;
    if (stops === "no") return `${budget} is enough.`;
    return stops === "at_worst" ? `${budget} would stop it in the worst case.` : `${budget} stops it at the latest.`;
  });
  return [
    worst,
    ...(budgets.length === 0 ? ["No budget would stop it: set one with --max-cost."] : stops),
    ...(limits === undefined ? [] : [`Limits: ${showLimits(limits)}.`]),
  ];
}

function capacityLine({ pool, steps, asks, at_most: most }: Plan["capacity"][number]): string {
  const name = sanitize(pool);
  const wanted = `${steps.map(sanitize).join(", ")} may ask for ${asks ?? "any number"} at once`;
  const given =
    most === null ? "how many it takes is found out while it runs" : `it is sent ${most} at most (configured)`;
  return `Capacity of ${name}: ${wanted}; ${given}. The others wait.`;
}

function assumed({ assumptions: a }: Plan): string {
  return (
    `Assumed: ${a.output_tokens} tokens an answer where no limit is set, ${a.tool_tokens} that tools add each turn, ` +
    `${a.value_tokens} of a value that is not known yet, ${a.overhead_tokens} of instructions, ` +
    `${a.bytes_per_token} bytes a token; nothing is cached. A try that a crash cuts off comes on top.`
  );
}

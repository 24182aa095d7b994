import { z } from "zod";
import type { StepFailed, StepSucceeded } from "../../core/history/events.ts";
import { toIsoDay } from "../../core/iso-time.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { Journal, RunRecord } from "../../ports/journal.ts";
import type { Driving, Place, Principal, Stores } from "../application/ports.ts";
import { boundedUsd, toUsd } from "../limits/micro-dollars.ts";
import { eachEvent, eachRun } from "../runs/each-event.ts";
import { atMostSchema, type Frozen, timeSchema } from "../schemas.ts";
import { reservedSchema } from "./budget-schema.ts";
import { describeHolds } from "./shared-budgets.ts";

export const COST_GROUPS = ["workflow", "model", "day", "tenant"] as const;

interface CostsWanted {
  readonly by: (typeof COST_GROUPS)[number];
  /** Runs that started at this time or later, in milliseconds since the epoch. Default: 30 days ago. */
  readonly since?: number;
  readonly until?: number;
}

const sumSchema = z.object({
  runs: z.number(),
  cost_usd: z.number().nullable().describe("With `unpriced_attempts` a lower bound; `null`: nothing of it is known."),
  cost_usd_at_most: atMostSchema,
  unpriced_attempts: z.number(),
  input_tokens: z.number(),
  output_tokens: z.number(),
});

const groupSchema = sumSchema.extend({ key: z.string().nullable() });

export const costsSchema = z
  .object({
    by: z.enum(COST_GROUPS),
    since: timeSchema,
    until: timeSchema.nullable(),
    items: z.array(groupSchema),
    total: sumSchema,
    reserved: reservedSchema.optional().describe("Now, by runs whose money is limited. Absent: a tenant asks."),
    counted_from: timeSchema.nullable().describe("Set where there are too many runs: the sums hold from then on."),
  })
  .meta({ id: "Costs" });

export type Costs = Frozen<z.output<typeof costsSchema>>;
export type CostGroup = Frozen<z.output<typeof groupSchema>>;

const USUAL_DAYS_MS = 30 * 24 * 3_600_000;
/**
 * Read from the histories rather than kept in a table: sums in each commit would write a second page with every step, and
 * are asked for rarely. A run of twenty steps is read in about a tenth of a millisecond.
 */
const MOST_RUNS = 20_000;

/** The cost of runs that were started in a time, whether they have ended or not. */
export async function sumCosts(
  app: Place & Principal & Stores & Driving,
  { by, since, until }: CostsWanted,
): Promise<Costs> {
  const { journal } = await app.records();
  const from = since ?? app.clock.now() - USUAL_DAYS_MS;
  const sums = new Sums();
  let last: RunRecord | undefined;
  let [read, hasMore] = [0, false];
  for await (const run of eachRun(journal, { createdFrom: from, createdBefore: until })) {
    hasMore = read === MOST_RUNS;
    if (hasMore) break;
    await addRun(sums, run, { journal, by });
    read += 1;
    last = run;
  }
  const items = sums.groups(by === "day");
  return {
    by,
    since: new Date(from).toISOString(),
    until: until === undefined ? null : new Date(until).toISOString(),
    items,
    total: sums.total(),
    ...(await describeReserved(app)),
    counted_from: hasMore && last !== undefined ? new Date(last.createdAt).toISOString() : null,
  };
}

async function describeReserved(app: Principal & Driving): Promise<Pick<Costs, "reserved">> {
  if (app.tenantId !== undefined) return {};
  const { holds } = await app.waits([]);
  return { reserved: describeHolds(holds.filter(({ budget }) => budget === undefined)) };
}

async function addRun(
  sums: Sums,
  run: RunRecord,
  { journal, by }: { readonly journal: Journal; readonly by: CostsWanted["by"] },
): Promise<void> {
  const key = by === "model" ? null : keyOf(run, by);
  let attributed = 0;
  for await (const event of outcomesOf(journal, run)) {
    const usage = event.usage ?? {};
    const model = typeof usage["model"] === "string" ? usage["model"] : null;
    const costMicro = event.costMicro ?? 0;
    if (by === "model") attributed += costMicro;
    sums.add(by === "model" ? model : key, run.no, {
      costMicro: by === "model" ? costMicro : 0,
      uncertainMicro: 0,
      unbounded: by === "model" && event.unpriced === true ? 1 : 0,
      unpriced: event.unpriced === true ? 1 : 0,
      input: tokensIn(usage, "input_tokens"),
      output: tokensIn(usage, "output_tokens"),
    });
  }
  // The run knows the cost of interrupted attempts, but no outcome says by which model.
  const rest = run.costMicro - attributed;
  const uncertainMicro = run.uncertainMicro ?? 0;
  const unbounded = by !== "model" && run.uncertainMicro === null ? 1 : 0;
  if (by !== "model" || rest !== 0 || uncertainMicro !== 0)
    sums.add(key, run.no, { costMicro: rest, uncertainMicro, unbounded, unpriced: 0, input: 0, output: 0 });
}

async function* outcomesOf(journal: Journal, run: RunRecord): AsyncGenerator<StepSucceeded | StepFailed> {
  for await (const { event } of eachEvent(journal, run.no)) {
    const isOutcome = event.type === "stepSucceeded" || event.type === "stepFailed";
    if (isOutcome && (event.usage !== undefined || event.costMicro !== undefined || event.unpriced === true))
      yield event;
  }
}

function keyOf(run: RunRecord, by: Exclude<CostsWanted["by"], "model">): string | null {
  if (by === "workflow") return run.workflow;
  return by === "tenant" ? (run.tenantId ?? null) : toIsoDay(run.createdAt);
}

function tokensIn(usage: JsonObject, name: string): number {
  const inner = isJsonObject(usage["usage"]) ? usage["usage"][name] : undefined;
  const value = usage[name] ?? inner;
  return typeof value === "number" ? value : 0;
}

interface Amount {
  readonly costMicro: number;
  readonly uncertainMicro: number;
  /** Runs with calls that nothing bounds. */
  readonly unbounded: number;
  readonly unpriced: number;
  readonly input: number;
  readonly output: number;
}

const NO_AMOUNT: Amount = { costMicro: 0, uncertainMicro: 0, unbounded: 0, unpriced: 0, input: 0, output: 0 };

class Sums {
  readonly #groups = new Map<string | null, Amount & { readonly runs: Set<number> }>();

  add(key: string | null, run: number, amount: Amount): void {
    const before = this.#groups.get(key) ?? { ...NO_AMOUNT, runs: new Set() };
    this.#groups.set(key, { ...plus(before, amount), runs: before.runs.add(run) });
  }

  groups(isOrdered: boolean): readonly CostGroup[] {
    const rows = [...this.#groups].map(([key, { runs, ...sum }]) => ({ key, ...describe(sum, runs.size) }));
    return rows.sort((a, b) => {
      if (isOrdered) return (a.key ?? "") < (b.key ?? "") ? -1 : 1;
      return (b.cost_usd ?? 0) - (a.cost_usd ?? 0);
    });
  }

  total(): Omit<CostGroup, "key"> {
    const runs = new Set<number>();
    let sum: Amount = NO_AMOUNT;
    for (const group of this.#groups.values()) {
      sum = plus(sum, group);
      for (const run of group.runs) runs.add(run);
    }
    return describe(sum, runs.size);
  }
}

function plus(a: Amount, b: Amount): Amount {
  return {
    costMicro: a.costMicro + b.costMicro,
    uncertainMicro: a.uncertainMicro + b.uncertainMicro,
    unbounded: a.unbounded + b.unbounded,
    unpriced: a.unpriced + b.unpriced,
    input: a.input + b.input,
    output: a.output + b.output,
  };
}

function describe(
  { costMicro, uncertainMicro, unbounded, unpriced, input, output }: Amount,
  runs: number,
): Omit<CostGroup, "key"> {
  return {
    runs,
    cost_usd: costMicro === 0 && unpriced > 0 ? null : toUsd(costMicro),
    cost_usd_at_most: boundedUsd({ costMicro, uncertainMicro, unbounded }),
    unpriced_attempts: unpriced,
    input_tokens: input,
    output_tokens: output,
  };
}

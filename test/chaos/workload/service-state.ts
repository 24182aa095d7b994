import { setTimeout } from "node:timers/promises";
import pg from "pg";
import type { Observation } from "../checker/observation.ts";
import { observeSchedule, unfinishedRuns } from "../checker/observe.ts";
import { MODEL_PRICES } from "../world/bill.ts";
import type { World } from "../world/start-world.ts";
import type { Client } from "./client.ts";
import { PAID } from "./uhlp-shapes.ts";

const MINUTE_MS = 60_000;
const BUDGET_USD = 0.05;
const SCHEDULES = ["first", "second"];
/** Slots that have passed before anybody serves. */
const PASSED_SLOTS = 5;
const AGAIN_MS = 1_000;

/** `pawl.yaml` of every process. */
export function settings({ host, modelUrl }: World): string {
  return JSON.stringify({
    outbound: { allow: [host] },
    // A webhook is tried for as long as everything lasts.
    webhook: { retry_delay_ms: 200, max_attempts: 30 },
    server: { rate_limit_per_minute: 0 },
    models: {
      providers: { fake: { kind: "openai-compatible", base_url: modelUrl } },
      prices: { "fake:one": MODEL_PRICES },
    },
  });
}

/** Beside runs: a budget that runs share, and schedules that are late from the beginning. */
export class ServiceState {
  readonly #client: Client;
  #schedules: readonly { readonly id: string; readonly first: number }[] = [];

  constructor(client: Client) {
    this.#client = client;
  }

  async prepare(databaseUrl: string): Promise<void> {
    const budget = { workflow: PAID, per: "total", max_cost_usd: BUDGET_USD, on_exceeded: "stop" };
    await this.#post("/budgets", budget);
    const now = Date.now();
    const first = now - (now % MINUTE_MS) - PASSED_SLOTS * MINUTE_MS;
    const ids: string[] = [];
    for (const name of SCHEDULES) {
      const schedule = {
        workflow: "tick",
        cron: "* * * * *",
        input: { schedule: name },
        overlap: "queue",
        catch_up: "all",
      };
      const { schedule_id: id } = await this.#post<{ schedule_id: string }>("/schedules", schedule);
      ids.push(id);
    }
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    // As if nobody had served for so long.
    await client.query(
      "UPDATE schedules SET next_fire_at = $1, due_at = $1, version = version + 1 WHERE id = ANY($2)",
      [first, ids],
    );
    await client.end();
    this.#schedules = ids.map((id) => ({ id, first }));
  }

  /** Resolves when every run has ended and everybody is told; with the runs that have not ended by then. */
  async settle(patienceMs: number, isEverybodyTold: () => boolean): Promise<readonly string[]> {
    const until = Date.now() + patienceMs;
    for (;;) {
      const left = await unfinishedRuns(this.#client);
      const { items } = await this.#get<{ items: readonly unknown[] }>("/webhooks?status=pending");
      // An end that was committed and not yet taken up is pending nowhere.
      if ((left.length === 0 && items.length === 0 && isEverybodyTold()) || Date.now() > until) return left;
      await setTimeout(AGAIN_MS);
    }
  }

  /** `until`: what is due by then must be there. */
  async observe(world: World, until: number): Promise<Pick<Observation, "budget" | "schedules">> {
    const schedules = this.#schedules.map((schedule) => observeSchedule(this.#client, { ...schedule, until }));
    const { items } = await this.#get<{ items: readonly { uses: readonly { of: string; used: number }[] }[] }>(
      "/budgets",
    );
    const used = items[0]?.uses.find(({ of }) => of === "cost_usd")?.used ?? 0;
    const billed = [...world.bill.byLabel].filter(([label]) => label.startsWith(`${PAID}-`));
    const budget = {
      limitMicro: BUDGET_USD * 1e6,
      billedMicro: billed.reduce((sum, [, micro]) => sum + micro, 0),
      notedMicro: Math.round(used * 1e6),
    };
    return { budget, schedules: await Promise.all(schedules) };
  }

  async #post<T>(path: string, body: unknown): Promise<T> {
    const { data, code } = await this.#client.post(path, body);
    if (code !== undefined) throw new Error(`${path} is refused: ${code}`);
    return data as T;
  }

  async #get<T>(path: string): Promise<T> {
    return (await this.#client.get(path)).data as T;
  }
}

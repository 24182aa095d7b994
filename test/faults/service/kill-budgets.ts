import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect } from "vitest";
import type { Journal } from "../../../src/ports/journal.ts";
import { openSqliteJournal } from "../../../src/storage/sqlite/sqlite-journal.ts";
import { application } from "../../end-to-end/support/application.ts";
import { pawl } from "../../end-to-end/support/pawl.ts";
import { noneIsLeft } from "../../sandbox/marked-processes.ts";
import { Random } from "../../simulation/random.ts";
import { KilledServer } from "./killed-server.ts";

export interface BudgetKillPlan {
  readonly seed: number;
  readonly kills: number;
  /** Of each of the workflows. */
  readonly runs: number;
}

const STEP_USD = 0.01;

const WIDE = `
name: wide
steps:
  - {id: find, prompt: "Find {input.n}."}
  - {id: each, depends_on: [find], parallel_over: input.items, prompt: "Do {item}."}
`;

const FILES = {
  "workflows/wide.yaml": WIDE,
  "workflows/capped.yaml": `${WIDE.replace("wide", "capped")}limits: { max_cost_usd: 0.03, on_exceeded: ask }\n`,
  "workflows/chain.yaml": `
name: chain
steps:
  - {id: one, prompt: "{input.n}"}
  - {id: two, depends_on: [one], prompt: "{steps.one.output}"}
  - {id: three, depends_on: [two], prompt: "{steps.two.output}"}
`,
  "answers.yaml": `
delay_ms: 30
steps:
  find: {reply: found, cost_usd: ${STEP_USD}}
  each: {reply: done, cost_usd: ${STEP_USD}}
  one: {reply: one, cost_usd: ${STEP_USD}}
  two: {reply: two, cost_usd: ${STEP_USD}}
  three: {reply: three, cost_usd: ${STEP_USD}}
`,
  // A fast machine asks more often than a key may.
  "pawl.yaml": `agent: { provider: "simulated:answers.yaml" }
server: { api_key: admin-of-the-test, rate_limit_per_minute: 0 }
`,
};

const WORKFLOWS = ["wide", "capped", "chain"] as const;
const ITEMS = ["a", "b", "c", "d"];
const CLIENTS = 6;

/**
 * Runs that share budgets (of everything, of a workflow each day, of a tenant) or have one of their own, on a server that is
 * killed at random moments. What is spent is what the journals say, no budget is overdrawn, nothing is done or raised twice,
 * and whoever waits for a person goes on with a yes.
 */
export async function killBudgets({ seed, kills, runs }: BudgetKillPlan): Promise<void> {
  const random = new Random(seed);
  const mark = `pawl-kill-budgets-${process.pid}-${seed}`;
  const cwd = application(FILES);
  const server = new KilledServer({ cwd, env: { PAWL_TEST_MARK: mark, LOG_LEVEL: "warn" } });
  await server.start();
  const about = `seed ${seed}`;
  const everybody = new Client(server, "admin-of-the-test");
  const tenant = new Client(server, await everybody.newTenantKey("acme"));
  // About a half of what all runs together need.
  const need = runs * 3 * 4 * STEP_USD;
  await everybody.setBudget({ per: "total", max_cost_usd: round(need), on_exceeded: "ask" });
  await everybody.setBudget({ workflow: "chain", per: "day", max_steps: 4 * runs, on_exceeded: "ask" });
  await everybody.setBudget({ tenant_id: "acme", per: "total", max_cost_usd: round(need / 4), on_exceeded: "stop" });
  // By another process, while this one serves.
  const set = await pawl(
    ["budgets", "set", "--workflow", "wide", "--max-cost", String(round(need / 4)), "--on-exceeded", "ask"],
    { cwd },
  );
  expect(set.code).toBe(0);

  const accepted = new Set<string>();
  const work = submitAll({ everybody, tenant, runs, accepted });
  for (let kill = 0; kill < kills; kill += 1) {
    await setTimeout(random.int(100, 700));
    await server.kill();
    await server.start();
  }
  await work;
  await everybody.answerAll(accepted);

  const seen = await Promise.all([...accepted].map((id) => everybody.read(id)));
  const budgets = await everybody.budgets();
  expect(await server.stop()).toBe(0);
  await noneIsLeft(mark);

  expectEnds(seen, about);
  const journal = openSqliteJournal({ path: join(cwd, ".pawl", "pawl.db"), durability: "process", readOnly: true });
  const spent = new Map<string, number>();
  for (const { run_id: id } of seen) spent.set(id, await readRun(journal, id, about));
  await journal.close();
  expectBudgets(budgets, { runs: seen, spent, about });
}

/** What a run has cost at most, in micro-dollars. Nothing of it was done twice. */
async function readRun(journal: Journal, id: string, about: string): Promise<number> {
  const record = await journal.findRun(id);
  if (record === undefined || record === "ambiguous") throw new Error(`${about}: no run ${id}.`);
  const rows = await journal.readEvents(record.no, { afterSeq: 0, limit: 10_000 });
  const done = rows.flatMap(({ event }) => (event.type === "stepSucceeded" ? [event.path] : [])).sort();
  expect({ about, id, done }).toEqual({ about, id, done: [...new Set(done)] });
  return record.costMicro + (record.uncertainMicro ?? 0);
}

interface SeenRun {
  readonly run_id: string;
  readonly workflow_name: string;
  readonly tenant_id: string | null;
  readonly status: string;
  readonly error: { readonly code: string } | null;
}

interface SeenBudget {
  readonly workflow: string | null;
  readonly tenant_id: string | null;
  readonly uses: readonly {
    readonly of: string;
    readonly limit: number;
    readonly raised_by: number;
    readonly used: number;
  }[];
}

interface Submitting {
  readonly everybody: Client;
  readonly tenant: Client;
  readonly runs: number;
  readonly accepted: Set<string>;
}

async function submitAll({ everybody, tenant, runs, accepted }: Submitting): Promise<void> {
  const wanted = WORKFLOWS.flatMap((workflow) => Array.from({ length: runs }, (_, n) => ({ workflow, n })));
  let next = 0;
  const work = async () => {
    for (let at = next++; at < wanted.length; at = next++) {
      const { workflow, n } = wanted[at] ?? { workflow: "wide", n: 0 };
      const id = await (at % 4 === 0 ? tenant : everybody).submit(workflow, n);
      if (id !== undefined) accepted.add(id);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, work));
}

/** One who uses the server, whichever process it is just then. */
class Client {
  readonly #server: KilledServer;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(server: KilledServer, key: string) {
    this.#server = server;
    this.#headers = { "x-api-key": key };
  }

  async newTenantKey(tenant: string): Promise<string> {
    const { data } = await this.#post<{ key: string }>("/keys", {
      name: tenant,
      tenant_id: tenant,
      scopes: ["run", "read"],
    });
    return data?.key ?? "";
  }

  async setBudget(budget: object): Promise<void> {
    expect((await this.#post("/budgets", budget)).code).toBeUndefined();
  }

  /** Undefined: nothing was left for it. */
  async submit(workflow: string, n: number): Promise<string | undefined> {
    const body = { workflow, input: { n, items: ITEMS } };
    for (;;) {
      const { data, code } = await this.#post<{ run_id: string }>("/workflows/run", body, {
        "idempotency-key": `${workflow}-${n}`,
      });
      if (data !== null) return data.run_id;
      if (code === "BUDGET_EXCEEDED") return undefined;
      // What a connection that broke has left behind is still being answered.
      expect(code).toBe("IDEMPOTENCY_IN_FLIGHT");
      await setTimeout(20);
    }
  }

  /** Says yes to every question until all of the runs have ended. */
  async answerAll(ids: ReadonlySet<string>): Promise<void> {
    for (;;) {
      const { items } = await this.#get<{ items: { approval_id: string }[] }>("/approvals");
      for (const { approval_id: id } of items) {
        const { code } = await this.#post(`/approvals/${encodeURIComponent(id)}/approve`, {});
        if (code !== undefined) expect(["APPROVAL_CONFLICT", "APPROVAL_NOT_OPEN", "RUN_FINISHED"]).toContain(code);
      }
      const open = await Promise.all([...ids].map(async (id) => (await this.read(id)).status));
      if (!open.some((status) => ["queued", "running", "waiting", "awaiting_approval"].includes(status))) return;
      await setTimeout(50);
    }
  }

  read(id: string): Promise<SeenRun> {
    return this.#get(`/runs/${id}?outputs=false&prompts=false`);
  }

  async budgets(): Promise<readonly SeenBudget[]> {
    return (await this.#get<{ items: SeenBudget[] }>("/budgets")).items;
  }

  async #get<T>(path: string): Promise<T> {
    const { response } = await this.#server.ask(path, { headers: this.#headers });
    const { data, error } = (await response.json()) as { data: T; error: unknown };
    expect({ path, error }).toEqual({ path, error: null });
    return data;
  }

  async #post<T>(path: string, body: object, headers: Record<string, string> = {}) {
    const { response } = await this.#server.post(path, body, { ...this.#headers, ...headers });
    const { data, error } = (await response.json()) as { data: T | null; error: { code: string } | null };
    return { data, code: error?.code };
  }
}

/** A tenant's budget stops its runs. */
function expectEnds(runs: readonly SeenRun[], about: string): void {
  for (const { run_id: id, status, tenant_id: tenant, error } of runs) {
    const isEnd = status === "completed" || (tenant !== null && status === "budget_exceeded");
    expect({ about, id, isEnd, status, error }).toEqual({ about, id, isEnd: true, status, error });
  }
}

interface Spent {
  readonly runs: readonly SeenRun[];
  /** By run, in micro-dollars. */
  readonly spent: ReadonlyMap<string, number>;
  readonly about: string;
}

/** Calls keep to what was reserved for them, and one that was cut off counts with all of it: so nothing is overdrawn. */
function expectBudgets(budgets: readonly SeenBudget[], { runs, spent, about }: Spent): void {
  expect(budgets).toHaveLength(4);
  for (const { workflow, tenant_id: tenant, uses } of budgets) {
    const bound = runs.filter(
      (run) => (workflow === null || run.workflow_name === workflow) && (tenant === null || run.tenant_id === tenant),
    );
    for (const { of, limit, raised_by: raisedBy, used } of uses) {
      const what = { about, workflow, tenant, of };
      const recorded = bound.reduce((sum, { run_id: id }) => sum + (spent.get(id) ?? 0), 0);
      if (of === "cost_usd") expect({ ...what, used: round(used) }).toEqual({ ...what, used: round(recorded / 1e6) });
      expect({ ...what, used, limit, isOver: used > limit }).toEqual({ ...what, used, limit, isOver: false });
      // A raise is as much again as was set, or as calls that were cut off may have cost. None comes before what there was is
      // used up, or nearly.
      const set = round(limit - raisedBy);
      const unit = of === "cost_usd" ? STEP_USD : set;
      expect({ ...what, raises: round(raisedBy / unit) % 1 }).toEqual({ ...what, raises: 0 });
      expect({ ...what, used, limit, isRaisedForNothing: raisedBy > 0 && used <= limit - set - 5 * STEP_USD }).toEqual({
        ...what,
        used,
        limit,
        isRaisedForNothing: false,
      });
    }
  }
}

function round(usd: number): number {
  return Math.round(usd * 1e6) / 1e6;
}

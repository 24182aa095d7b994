import { AMOUNTS, eachAmount } from "../../core/amounts.ts";
import { writeExact } from "../../core/exact-json.ts";
import type { Amounts } from "../../core/history/events.ts";
import type {
  Budget,
  BudgetDay,
  BudgetLease,
  BudgetSum,
  Budgets,
  BudgetUse,
  LeaseWish,
  NotedShare,
  Noting,
  OpenShares,
  RunShare,
} from "../../ports/service/budgets.ts";
import type { Sql, SqlValue } from "../sql/sql-database.ts";
import { takeFromLease, takeLease } from "./budget-leases.ts";
import type { RecordDatabase } from "./record-database.ts";
import { plain, RecordTable } from "./record-table.ts";
import { RememberedReads } from "./remembered-reads.ts";

/** A budget with its limits in columns. */
type BudgetRow = Omit<Budget, "limits"> & Amounts;

type UseRow = Required<Amounts> & { readonly unpriced: number };

export const BUDGETS = new RecordTable<BudgetRow>("budgets", {
  id: plain,
  workflow: plain,
  tenantId: plain,
  per: plain,
  cost: plain,
  tokens: plain,
  tries: plain,
  duration: plain,
  onExceeded: plain,
  webhook: plain,
  createdAt: plain,
  updatedAt: plain,
});

const SUMS = AMOUNTS.map((name) => `COALESCE(SUM(${name}), 0) AS ${name}`).join(", ");

const CHANGE_BUDGET = `ON CONFLICT (id) DO UPDATE SET
  cost = excluded.cost, tokens = excluded.tokens, tries = excluded.tries, duration = excluded.duration,
  on_exceeded = excluded.on_exceeded, webhook = excluded.webhook, updated_at = excluded.updated_at`;

const SUM_SHARES = `SELECT ${SUMS}, COALESCE(MAX(unpriced), 0) AS unpriced FROM budget_shares
  WHERE budget = ? AND day = ?`;

const INSERT_SHARE = `INSERT INTO budget_shares (budget, day, run, cost, tokens, tries, duration, unpriced, seq, holder)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (budget, day, run) DO`;

const REPLACE_SHARE = `${INSERT_SHARE} UPDATE SET
  cost = excluded.cost, tokens = excluded.tokens, tries = excluded.tries, duration = excluded.duration,
  unpriced = excluded.unpriced, seq = excluded.seq, holder = excluded.holder`;

const ADD_SHARE = `${INSERT_SHARE} UPDATE SET
  ${AMOUNTS.map((name) => `${name} = budget_shares.${name} + excluded.${name}`).join(", ")},
  unpriced = budget_shares.unpriced | excluded.unpriced`;

/** Runs that have ended share one row, under no name. */
const ENDED = "";

export class SqlBudgets implements Budgets {
  readonly #database: RecordDatabase;
  readonly #remembered: RememberedReads;

  constructor(database: RecordDatabase) {
    this.#database = database;
    this.#remembered = new RememberedReads(database);
  }

  async put({ limits, ...budget }: Budget): Promise<Budget> {
    await BUDGETS.insert(this.#database, { ...budget, ...limits }, CHANGE_BUDGET);
    return (await findBudget(this.#database, budget.id)) ?? { ...budget, limits };
  }

  async list(): Promise<readonly Budget[]> {
    const rest = "ORDER BY coalesce(tenant_id, ''), coalesce(workflow, ''), per, id";
    return (await BUDGETS.list(this.#database, rest)).map(toBudget);
  }

  /** Remembered, since every attempt asks for it. */
  async find(id: string): Promise<Budget | undefined> {
    return this.#remembered.get(writeExact({ id }), () => findBudget(this.#database, id));
  }

  async remove(id: string): Promise<boolean> {
    return this.#database.transaction(async (sql) => {
      await sql.run("DELETE FROM budget_shares WHERE budget = ?", id);
      await sql.run("DELETE FROM budget_raises WHERE budget = ?", id);
      await sql.run("DELETE FROM budget_leases WHERE budget = ?", id);
      return (await sql.run("DELETE FROM budgets WHERE id = ?", id)) === 1;
    });
  }

  async applying({ workflow, tenantId }: { readonly workflow: string; readonly tenantId?: string | undefined }) {
    const rest = "WHERE (workflow IS NULL OR workflow = ?) AND (tenant_id IS NULL OR tenant_id = ?) ORDER BY id";
    return this.#remembered.get(writeExact([workflow, tenantId]), async () =>
      (await BUDGETS.list(this.#database, rest, workflow, tenantId ?? null)).map(toBudget),
    );
  }

  async sum(budget: string, day: string): Promise<BudgetSum> {
    return readSum(this.#database, { budget, day });
  }

  async lease(wish: LeaseWish): Promise<BudgetLease | undefined> {
    return this.#database.transaction(async (sql) => {
      const budget = await findBudget(sql, wish.budget);
      return budget === undefined
        ? undefined
        : takeLease(sql, wish, { ...(await readSum(sql, wish)), limits: budget.limits });
    });
  }

  async holders(): Promise<readonly string[]> {
    const text = "SELECT DISTINCT holder FROM budget_leases ORDER BY holder";
    return (await this.#database.all<{ readonly holder: string }>(text)).map(({ holder }) => holder);
  }

  async wantedOf(holder: string): Promise<readonly BudgetDay[]> {
    const text =
      "SELECT DISTINCT budget, day FROM budget_leases WHERE holder <> ? AND wanted_as > 0 ORDER BY budget, day";
    return this.#database.all<BudgetDay>(text, holder);
  }

  async release(holder: string): Promise<void> {
    await this.#database.run("DELETE FROM budget_leases WHERE holder = ?", holder);
  }

  async raise(
    id: string,
    { budget, day, by }: { readonly budget: string; readonly day: string; readonly by: Amounts },
  ): Promise<void> {
    const text = "INSERT INTO budget_raises VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
    await this.#database.run(text, id, budget, day, ...AMOUNTS.map((of) => by[of] ?? 0));
  }

  async begin(run: string, shares: readonly RunShare[], holder: string): Promise<boolean> {
    return this.#database.transaction(async (sql) => {
      for (const share of shares)
        if (await isThere(sql, share)) await sql.run(`${INSERT_SHARE} NOTHING`, ...columnsOf(run, share), 0, holder);
      return (await sql.get("SELECT 1 FROM budget_shares WHERE run = ? AND holder <> ?", run, holder)) === undefined;
    });
  }

  async note(run: string, shares: readonly RunShare[], by: Noting): Promise<boolean> {
    return this.#database.transaction(async (sql) => {
      if (!(await isHeldBy(sql, run, by.ifHeldBy))) return false;
      for (const share of shares) {
        if (!(await isThere(sql, share))) continue;
        if (by.isTakenUp !== true) await takeFromLease(sql, by.holder, await sinceNoted(sql, run, share));
        await sql.run(REPLACE_SHARE, ...columnsOf(run, share), by.upToSeq, by.holder);
      }
      return true;
    });
  }

  async sharesOf(run: string): Promise<readonly NotedShare[]> {
    const text = "SELECT * FROM budget_shares WHERE run = ? AND run <> '' ORDER BY budget, day";
    const rows = await this.#database.all<UseRow & Omit<NotedShare, "use">>(text, run);
    return rows.map((row) => ({ budget: row.budget, day: row.day, use: toUse(row), holder: row.holder }));
  }

  async close(run: string, shares: readonly RunShare[], by: Partial<Noting> = {}): Promise<void> {
    await this.#database.transaction(async (sql) => {
      if (!(await isHeldBy(sql, run, by.ifHeldBy))) return;
      const added: RunShare[] = [];
      for (const share of shares) added.push(await sinceNoted(sql, run, share));
      // No row: the run was closed before, and its shares are part of the sums.
      if ((await sql.run("DELETE FROM budget_shares WHERE run = ?", run)) === 0) return;
      for (const [index, share] of shares.entries()) {
        if (!(await isThere(sql, share))) continue;
        const use = added[index];
        if (by.holder !== undefined && by.isTakenUp !== true && use !== undefined)
          await takeFromLease(sql, by.holder, use);
        await sql.run(ADD_SHARE, ...columnsOf(ENDED, share), 0, ENDED);
      }
    });
  }

  async open(holder?: string): Promise<readonly OpenShares[]> {
    const whose = holder === undefined ? "" : "AND holder = ?";
    const rows = await this.#database.all<{ readonly run: string; readonly budget: string; readonly seq: number }>(
      `SELECT run, budget, max(seq) AS seq FROM budget_shares WHERE run <> '' ${whose} GROUP BY run, budget ORDER BY run, budget`,
      ...(holder === undefined ? [] : [holder]),
    );
    return [...Map.groupBy(rows, ({ run }) => run)].map(([run, of]) => ({
      run,
      upToSeq: Math.max(...of.map(({ seq }) => seq)),
      budgets: of.map(({ budget }) => budget),
    }));
  }
}

async function readSum(sql: Sql, { budget, day }: BudgetDay): Promise<BudgetSum> {
  const use = await sql.get<UseRow>(SUM_SHARES, budget, day);
  const raises = `SELECT ${SUMS} FROM budget_raises WHERE budget = ? AND day = ?`;
  return { use: toUse(use), raised: (await sql.get<Required<Amounts>>(raises, budget, day)) ?? {} };
}

async function isHeldBy(sql: Sql, run: string, holders: readonly string[] | undefined): Promise<boolean> {
  if (holders === undefined) return true;
  const text = `SELECT 1 FROM budget_shares WHERE run = ? AND holder IN (${holders.map(() => "?").join(", ")})`;
  return (await sql.get(text, run, ...holders)) !== undefined;
}

/** What is new in a share. */
async function sinceNoted(sql: Sql, run: string, { budget, day, use }: RunShare): Promise<RunShare> {
  const text = "SELECT * FROM budget_shares WHERE budget = ? AND day = ? AND run = ?";
  const noted = toUse(await sql.get<UseRow>(text, budget, day, run));
  return { budget, day, use: { ...use, ...eachAmount((of) => use[of] - noted[of]) } };
}

async function isThere(sql: Sql, { budget }: RunShare): Promise<boolean> {
  return (await findBudget(sql, budget)) !== undefined;
}

async function findBudget(sql: Sql, id: string): Promise<Budget | undefined> {
  const row = await BUDGETS.find(sql, "WHERE id = ?", id);
  return row === undefined ? undefined : toBudget(row);
}

function columnsOf(run: string, { budget, day, use }: RunShare): readonly SqlValue[] {
  return [budget, day, run, use.cost, use.tokens, use.tries, use.duration, use.unpriced ? 1 : 0];
}

function toUse(row: UseRow | undefined): BudgetUse {
  const { cost = 0, tokens = 0, tries = 0, duration = 0, unpriced = 0 } = row ?? {};
  return { cost, tokens, tries, duration, unpriced: unpriced !== 0 };
}

function toBudget({ cost, tokens, tries, duration, ...budget }: BudgetRow): Budget {
  const limits = Object.entries({ cost, tokens, tries, duration }).filter(([, limit]) => limit !== undefined);
  return { ...budget, limits: Object.fromEntries(limits) };
}

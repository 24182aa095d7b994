import type { SQLInputValue } from "node:sqlite";
import type { Amounts } from "../../../core/history/events.ts";
import type { Budget, Budgets, BudgetUse, OpenShares, RunShare } from "../../../ports/service/budgets.ts";
import { plain, RecordTable } from "./record-table.ts";
import { RememberedReads } from "./remembered-reads.ts";
import type { ServiceDatabase } from "./service-database.ts";

/** A budget with its limits in columns. */
type BudgetRow = Omit<Budget, "limits"> & Amounts;

type UseRow = Required<Amounts> & { readonly unpriced: number };

const AMOUNTS = ["cost", "tokens", "tries", "duration"] as const satisfies readonly (keyof Amounts)[];

const SUMS = AMOUNTS.map((name) => `COALESCE(SUM(${name}), 0) AS ${name}`).join(", ");

const CHANGE_BUDGET = `ON CONFLICT (id) DO UPDATE SET
  cost = excluded.cost, tokens = excluded.tokens, tries = excluded.tries, duration = excluded.duration,
  on_exceeded = excluded.on_exceeded, webhook = excluded.webhook, updated_at = excluded.updated_at`;

const SUM_SHARES = `SELECT ${SUMS}, COALESCE(MAX(unpriced), 0) AS unpriced FROM budget_shares
  WHERE budget = ? AND day = ?`;

const INSERT_SHARE = `INSERT INTO budget_shares (budget, day, run, cost, tokens, tries, duration, unpriced, seq)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (budget, day, run) DO UPDATE SET`;

const REPLACE_SHARE = `${INSERT_SHARE}
  cost = excluded.cost, tokens = excluded.tokens, tries = excluded.tries, duration = excluded.duration,
  unpriced = excluded.unpriced, seq = excluded.seq`;

const ADD_SHARE = `${INSERT_SHARE}
  cost = cost + excluded.cost, tokens = tokens + excluded.tokens, tries = tries + excluded.tries,
  duration = duration + excluded.duration, unpriced = MAX(unpriced, excluded.unpriced)`;

/** Runs that have ended share one row, under no name. */
const ENDED = "";

export class SqliteBudgets implements Budgets {
  readonly #database: ServiceDatabase;
  readonly #budgets: RecordTable<BudgetRow>;
  readonly #remembered: RememberedReads;

  constructor(database: ServiceDatabase) {
    this.#database = database;
    this.#remembered = new RememberedReads(database);
    this.#budgets = new RecordTable<BudgetRow>(database, "budgets", {
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
  }

  async put({ limits, ...budget }: Budget): Promise<Budget> {
    this.#budgets.insert({ ...budget, ...limits }, CHANGE_BUDGET);
    return this.find(budget.id) ?? { ...budget, limits };
  }

  list(): readonly Budget[] {
    return this.#budgets.list("ORDER BY tenant_id, workflow, per, id").map(toBudget);
  }

  find(id: string): Budget | undefined {
    const row = this.#budgets.find("WHERE id = ?", id);
    return row === undefined ? undefined : toBudget(row);
  }

  async remove(id: string): Promise<boolean> {
    return this.#database.together(() => {
      this.#database.run("DELETE FROM budget_shares WHERE budget = ?", id);
      this.#database.run("DELETE FROM budget_raises WHERE budget = ?", id);
      return this.#database.run("DELETE FROM budgets WHERE id = ?", id) === 1;
    });
  }

  applying({ workflow, tenantId }: { readonly workflow: string; readonly tenantId?: string | undefined }) {
    const rest = "WHERE (workflow IS NULL OR workflow = ?) AND (tenant_id IS NULL OR tenant_id = ?) ORDER BY id";
    return this.#remembered.get(JSON.stringify([workflow, tenantId]), () =>
      this.#budgets.list(rest, workflow, tenantId ?? null).map(toBudget),
    );
  }

  sum(budget: string, day: string): { readonly use: BudgetUse; readonly raised: Amounts } {
    const use = this.#database.get<UseRow>(SUM_SHARES, budget, day);
    const raises = `SELECT ${SUMS} FROM budget_raises WHERE budget = ? AND day = ?`;
    return { use: toUse(use), raised: this.#database.get<Required<Amounts>>(raises, budget, day) ?? {} };
  }

  async raise(
    id: string,
    { budget, day, by }: { readonly budget: string; readonly day: string; readonly by: Amounts },
  ): Promise<void> {
    const text = "INSERT INTO budget_raises VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING";
    this.#database.run(text, id, budget, day, ...AMOUNTS.map((of) => by[of] ?? 0));
  }

  hasRaised(id: string): boolean {
    return this.#database.get("SELECT 1 FROM budget_raises WHERE id = ?", id) !== undefined;
  }

  async note(run: string, shares: readonly RunShare[], upToSeq: number): Promise<void> {
    this.#database.together(() => {
      for (const share of shares) this.#database.run(REPLACE_SHARE, ...columnsOf(run, share), upToSeq);
    });
  }

  sharesOf(run: string): readonly RunShare[] {
    return this.#database
      .all<UseRow & Pick<RunShare, "budget" | "day">>("SELECT * FROM budget_shares WHERE run = ? AND run <> ''", run)
      .map((row) => ({ budget: row.budget, day: row.day, use: toUse(row) }));
  }

  async close(run: string, shares: readonly RunShare[]): Promise<void> {
    this.#database.together(() => {
      // No row: the run was closed before, and its shares are part of the sums.
      if (this.#database.run("DELETE FROM budget_shares WHERE run = ?", run) === 0) return;
      for (const share of shares) {
        if (this.find(share.budget) !== undefined) this.#database.run(ADD_SHARE, ...columnsOf(ENDED, share), 0);
      }
    });
  }

  open(): readonly OpenShares[] {
    return this.#database
      .all<{ readonly run: string; readonly seq: number; readonly budgets: string }>(
        `SELECT run, MAX(seq) AS seq, group_concat(DISTINCT budget) AS budgets FROM budget_shares
          WHERE run <> '' GROUP BY run`,
      )
      .map(({ run, seq, budgets }) => ({ run, upToSeq: seq, budgets: budgets.split(",") }));
  }
}

function columnsOf(run: string, { budget, day, use }: RunShare): readonly SQLInputValue[] {
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

import type { SQLInputValue } from "node:sqlite";
import type { Amounts } from "../../../core/history/events.ts";
import type { Budget, Budgets, BudgetUse, OpenShares, RunShare } from "../../../ports/budgets.ts";
import { prepareQuery, type Query } from "../statement.ts";
import { RememberedReads } from "./remembered-reads.ts";
import type { ServiceDatabase, ServiceStatement } from "./service-database.ts";

interface BudgetRow {
  readonly id: string;
  readonly workflow: string | null;
  readonly tenant_id: string | null;
  readonly per: Budget["per"];
  readonly cost: number | null;
  readonly tokens: number | null;
  readonly tries: number | null;
  readonly duration: number | null;
  readonly on_exceeded: Budget["onExceeded"];
  readonly webhook: string | null;
  readonly created_at: number;
  readonly updated_at: number;
}

interface UseRow {
  readonly cost: number;
  readonly tokens: number;
  readonly tries: number;
  readonly duration: number;
  readonly unpriced: number;
}

interface ShareRow extends UseRow {
  readonly budget: string;
  readonly day: string;
}

const SUMS = ["cost", "tokens", "tries", "duration"].map((name) => `COALESCE(SUM(${name}), 0) AS ${name}`).join(", ");

/** The runs that have ended have one row together, under no name. */
const ENDED = "";

export class SqliteBudgets implements Budgets {
  readonly #database: ServiceDatabase;
  readonly #remembered: RememberedReads;
  readonly #put: ServiceStatement;
  readonly #remove: readonly ServiceStatement[];
  readonly #list: Query<BudgetRow>;
  readonly #find: Query<BudgetRow>;
  readonly #applying: Query<BudgetRow>;
  readonly #sum: Query<UseRow>;
  readonly #raised: Query<Omit<UseRow, "unpriced">>;
  readonly #raise: ServiceStatement;
  readonly #note: ServiceStatement;
  readonly #sharesOf: Query<ShareRow>;
  readonly #add: ServiceStatement;
  readonly #forget: ServiceStatement;
  readonly #open: Query<{ readonly run: string; readonly seq: number; readonly budgets: string }>;

  constructor(database: ServiceDatabase) {
    this.#database = database;
    this.#remembered = new RememberedReads(database);
    this.#put = database.prepare(
      `INSERT INTO budgets VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
        cost = excluded.cost, tokens = excluded.tokens, tries = excluded.tries, duration = excluded.duration,
        on_exceeded = excluded.on_exceeded, webhook = excluded.webhook, updated_at = excluded.updated_at`,
    );
    this.#remove = [
      "DELETE FROM budget_shares WHERE budget = ?",
      "DELETE FROM budget_raises WHERE budget = ?",
      "DELETE FROM budgets WHERE id = ?",
    ].map((sql) => database.prepare(sql));
    this.#list = prepareQuery(database, "SELECT * FROM budgets ORDER BY tenant_id, workflow, per, id");
    this.#find = prepareQuery(database, "SELECT * FROM budgets WHERE id = ?");
    this.#applying = prepareQuery(
      database,
      `SELECT * FROM budgets WHERE (workflow IS NULL OR workflow = ?) AND (tenant_id IS NULL OR tenant_id = ?) ORDER BY id`,
    );
    this.#sum = prepareQuery(
      database,
      `SELECT ${SUMS}, COALESCE(MAX(unpriced), 0) AS unpriced FROM budget_shares WHERE budget = ? AND day = ?`,
    );
    this.#raised = prepareQuery(database, `SELECT ${SUMS} FROM budget_raises WHERE budget = ? AND day = ?`);
    this.#raise = database.prepare("INSERT INTO budget_raises VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
    this.#note = database.prepare(
      `INSERT INTO budget_shares VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (budget, day, run) DO UPDATE SET
        cost = excluded.cost, tokens = excluded.tokens, tries = excluded.tries, duration = excluded.duration,
        unpriced = excluded.unpriced, seq = excluded.seq`,
    );
    this.#sharesOf = prepareQuery(database, "SELECT * FROM budget_shares WHERE run = ? AND run <> ''");
    this.#add = database.prepare(
      `INSERT INTO budget_shares VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0) ON CONFLICT (budget, day, run) DO UPDATE SET
        cost = cost + excluded.cost, tokens = tokens + excluded.tokens, tries = tries + excluded.tries,
        duration = duration + excluded.duration, unpriced = MAX(unpriced, excluded.unpriced)`,
    );
    this.#forget = database.prepare("DELETE FROM budget_shares WHERE run = ?");
    this.#open = prepareQuery(
      database,
      "SELECT run, MAX(seq) AS seq, group_concat(DISTINCT budget) AS budgets FROM budget_shares WHERE run <> '' GROUP BY run",
    );
  }

  put(budget: Budget): Budget {
    const { id, workflow, tenantId, per, limits, onExceeded, webhook, createdAt, updatedAt } = budget;
    const amounts = AMOUNTS.map((of) => limits[of] ?? null);
    this.#remembered.forget();
    this.#put.run(
      id,
      workflow ?? null,
      tenantId ?? null,
      per,
      ...amounts,
      onExceeded,
      webhook ?? null,
      createdAt,
      updatedAt,
    );
    return this.find(id) ?? budget;
  }

  list(): readonly Budget[] {
    return this.#list.all().map(toBudget);
  }

  find(id: string): Budget | undefined {
    const row = this.#find.get(id);
    return row === undefined ? undefined : toBudget(row);
  }

  remove(id: string): boolean {
    this.#remembered.forget();
    return this.#database.together(() => this.#remove.map((statement) => statement.run(id).changes).at(-1) === 1);
  }

  applying({ workflow, tenantId }: { readonly workflow: string; readonly tenantId?: string | undefined }) {
    return this.#remembered.get(JSON.stringify([workflow, tenantId]), () =>
      this.#applying.all(workflow, tenantId ?? null).map(toBudget),
    );
  }

  sum(budget: string, day: string): { readonly use: BudgetUse; readonly raised: Amounts } {
    const use = this.#sum.get(budget, day);
    const raised = this.#raised.get(budget, day);
    return { use: toUse(use), raised: raised ?? {} };
  }

  raise(
    id: string,
    { budget, day, by }: { readonly budget: string; readonly day: string; readonly by: Amounts },
  ): void {
    this.#raise.run(id, budget, day, ...AMOUNTS.map((of) => by[of] ?? 0));
  }

  note(run: string, shares: readonly RunShare[], upToSeq: number): void {
    this.#database.together(() => {
      for (const share of shares) this.#note.run(...columnsOf(run, share), upToSeq);
    });
  }

  sharesOf(run: string): readonly RunShare[] {
    return this.#sharesOf.all(run).map((row) => ({ budget: row.budget, day: row.day, use: toUse(row) }));
  }

  close(run: string, shares: readonly RunShare[]): void {
    this.#database.together(() => {
      // Whoever has closed it before has added it already.
      if (this.#forget.run(run).changes === 0) return;
      for (const share of shares) if (this.find(share.budget) !== undefined) this.#add.run(...columnsOf(ENDED, share));
    });
  }

  open(): readonly OpenShares[] {
    return this.#open.all().map(({ run, seq, budgets }) => ({ run, upToSeq: seq, budgets: budgets.split(",") }));
  }
}

const AMOUNTS = ["cost", "tokens", "tries", "duration"] as const satisfies readonly (keyof Amounts)[];

function columnsOf(run: string, { budget, day, use }: RunShare): readonly SQLInputValue[] {
  return [budget, day, run, use.cost, use.tokens, use.tries, use.duration, use.unpriced ? 1 : 0];
}

function toUse(row: UseRow | undefined): BudgetUse {
  const { cost = 0, tokens = 0, tries = 0, duration = 0, unpriced = 0 } = row ?? {};
  return { cost, tokens, tries, duration, unpriced: unpriced !== 0 };
}

function toBudget(row: BudgetRow): Budget {
  const { id, workflow, tenant_id: tenantId, per, on_exceeded: onExceeded, webhook } = row;
  return {
    id,
    ...(workflow === null ? {} : { workflow }),
    ...(tenantId === null ? {} : { tenantId }),
    per,
    limits: Object.fromEntries(AMOUNTS.flatMap((of) => (row[of] === null ? [] : [[of, row[of]]]))),
    onExceeded,
    ...(webhook === null ? {} : { webhook }),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

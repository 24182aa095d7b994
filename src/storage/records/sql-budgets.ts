import { AMOUNTS, eachAmount } from "../../core/amounts.ts";
import { writeExact } from "../../core/exact-json.ts";
import type { Amounts } from "../../core/history/events.ts";
import type { Budget, BudgetDay, BudgetSum, Budgets, BudgetUse, RunShare } from "../../ports/service/budgets.ts";
import type { Sql } from "../sql/sql-database.ts";
import { AMOUNT_COLUMNS, LEASES, takeFromLease, takeLease } from "./budget-leases.ts";
import type { RecordDatabase } from "./record-database.ts";
import { flag, integer, optional, placesFor, RecordTable, text } from "./record-table.ts";
import { RememberedReads } from "./remembered-reads.ts";

/** A budget with its limits in columns. */
type BudgetRow = Omit<Budget, "limits"> & Amounts;

export const BUDGETS = new RecordTable<BudgetRow>(
  "budgets",
  {
    id: text,
    workflow: optional(text),
    tenantId: optional(text),
    per: text,
    cost: optional(integer),
    tokens: optional(integer),
    tries: optional(integer),
    duration: optional(integer),
    onExceeded: text,
    webhook: optional(text),
    createdAt: integer,
    updatedAt: integer,
  },
  { key: ["id"] },
);

interface ShareRow extends BudgetDay, BudgetUse {
  readonly run: string;
  readonly seq: number;
  readonly holder: string;
}

export const SHARES = new RecordTable<ShareRow>(
  "budget_shares",
  {
    budget: text,
    day: text,
    run: text,
    ...AMOUNT_COLUMNS,
    unpriced: flag,
    seq: integer,
    holder: { ...text, byDefault: "''", added: "budgets-2" },
  },
  {
    key: ["budget", "day", "run"],
    isByKey: true,
    indexes: { budget_shares_by_run: "(run) WHERE run <> ''" },
  },
);

interface RaiseRow extends BudgetDay, Required<Amounts> {
  readonly id: string;
}

export const RAISES = new RecordTable<RaiseRow>(
  "budget_raises",
  { id: text, budget: text, day: text, ...AMOUNT_COLUMNS },
  { key: ["budget", "day", "id"], isByKey: true },
);

const SUMS = AMOUNTS.map((name) => `COALESCE(SUM(${name}), 0) AS ${name}`).join(", ");

const SUM_SHARES = `SELECT ${SUMS}, COALESCE(MAX(unpriced), 0) AS unpriced FROM budget_shares
  WHERE budget = ? AND day = ?`;

const SUM_RAISES = `SELECT ${SUMS} FROM budget_raises WHERE budget = ? AND day = ?`;

const ADDING = `ON CONFLICT (budget, day, run) DO UPDATE SET
  ${AMOUNTS.map((name) => `${name} = budget_shares.${name} + excluded.${name}`).join(", ")},
  unpriced = budget_shares.unpriced | excluded.unpriced`;

/** Runs that have ended share one row, under no name. */
const ENDED = "";

const NO_USE: BudgetUse = { ...eachAmount(() => 0), unpriced: false };

export function openBudgets(database: RecordDatabase): Budgets {
  const remembered = new RememberedReads(database);
  return {
    async put({ limits, ...budget }) {
      await BUDGETS.put(database, { ...budget, ...limits }, ["workflow", "tenantId", "per", "createdAt"]);
      return (await findBudget(database, budget.id)) ?? { ...budget, limits };
    },
    async list() {
      const rest = "ORDER BY coalesce(tenant_id, ''), coalesce(workflow, ''), per, id";
      return (await BUDGETS.list(database, {}, rest)).map(toBudget);
    },
    /** Remembered, since every attempt asks for it. */
    find: (id) => remembered.get(writeExact({ id }), () => findBudget(database, id)),
    remove: (id) =>
      database.transaction(async (sql) => {
        await SHARES.remove(sql, { budget: id });
        await RAISES.remove(sql, { budget: id });
        await LEASES.remove(sql, { budget: id });
        return (await BUDGETS.remove(sql, { id })) === 1;
      }),
    async applying({ workflow, tenantId }) {
      const rest = "WHERE (workflow IS NULL OR workflow = ?) AND (tenant_id IS NULL OR tenant_id = ?) ORDER BY id";
      return remembered.get(writeExact([workflow, tenantId]), async () =>
        (await BUDGETS.list(database, {}, rest, workflow, tenantId ?? null)).map(toBudget),
      );
    },
    sum: (budget, day) => readSum(database, { budget, day }),
    lease: (wish) =>
      database.transaction(async (sql) => {
        const budget = await findBudget(sql, wish.budget);
        return budget === undefined
          ? undefined
          : takeLease(sql, wish, { ...(await readSum(sql, wish)), limits: budget.limits });
      }),
    async holders() {
      const holders = "SELECT DISTINCT holder FROM budget_leases ORDER BY holder";
      return (await database.all<{ readonly holder: string }>(holders)).map(({ holder }) => holder);
    },
    async wantedOf(holder) {
      const wanted =
        "SELECT DISTINCT budget, day FROM budget_leases WHERE holder <> ? AND wanted_as > 0 ORDER BY budget, day";
      return database.all<BudgetDay>(wanted, holder);
    },
    release: async (holder) => void (await LEASES.remove(database, { holder })),
    async raise(id, { budget, day, by }) {
      const raise = { id, budget, day, ...eachAmount((of) => by[of] ?? 0) };
      await RAISES.insert(database, raise, "ON CONFLICT DO NOTHING");
    },
    begin: (run, shares, holder) =>
      database.transaction(async (sql) => {
        for (const share of shares)
          if (await isThere(sql, share))
            await SHARES.insert(sql, { ...toRow(run, share), seq: 0, holder }, "ON CONFLICT DO NOTHING");
        return (await SHARES.find(sql, { run }, "AND holder <> ? LIMIT 1", holder)) === undefined;
      }),
    note: (run, shares, by) =>
      database.transaction(async (sql) => {
        if (!(await isHeldBy(sql, run, by.ifHeldBy))) return false;
        for (const share of shares) {
          if (!(await isThere(sql, share))) continue;
          if (by.isTakenUp !== true) await takeFromLease(sql, by.holder, await sinceNoted(sql, run, share));
          await SHARES.put(sql, { ...toRow(run, share), seq: by.upToSeq, holder: by.holder });
        }
        return true;
      }),
    async sharesOf(run) {
      const rows = await SHARES.list(database, { run }, "AND run <> '' ORDER BY budget, day");
      return rows.map(({ budget, day, holder, run: _, seq: __, ...use }) => ({ budget, day, use, holder }));
    },
    close: (run, shares, by) =>
      database.transaction(async (sql) => {
        if (!(await isHeldBy(sql, run, by?.ifHeldBy))) return;
        const added: RunShare[] = [];
        for (const share of shares) added.push(await sinceNoted(sql, run, share));
        // No row: the run was closed before, and its shares are part of the sums.
        if ((await SHARES.remove(sql, { run })) === 0) return;
        for (const [index, share] of shares.entries()) {
          if (!(await isThere(sql, share))) continue;
          const use = added[index];
          if (by !== undefined && by.isTakenUp !== true && use !== undefined) await takeFromLease(sql, by.holder, use);
          await SHARES.insert(sql, { ...toRow(ENDED, share), seq: 0, holder: ENDED }, ADDING);
        }
      }),
    async open(holder) {
      const whose = holder === undefined ? "" : "AND holder = ?";
      const rows = await database.all<{ readonly run: string; readonly budget: string; readonly seq: number }>(
        `SELECT run, budget, max(seq) AS seq FROM budget_shares WHERE run <> '' ${whose} GROUP BY run, budget ORDER BY run, budget`,
        ...(holder === undefined ? [] : [holder]),
      );
      return [...Map.groupBy(rows, ({ run }) => run)].map(([run, of]) => ({
        run,
        upToSeq: Math.max(...of.map(({ seq }) => seq)),
        budgets: of.map(({ budget }) => budget),
      }));
    },
  };
}

async function readSum(sql: Sql, { budget, day }: BudgetDay): Promise<BudgetSum> {
  const { unpriced = 0, ...sums } =
    (await sql.get<Required<Amounts> & { readonly unpriced: number }>(SUM_SHARES, budget, day)) ?? {};
  const use = { ...NO_USE, ...sums, unpriced: unpriced !== 0 };
  return { use, raised: (await sql.get<Required<Amounts>>(SUM_RAISES, budget, day)) ?? {} };
}

async function isHeldBy(sql: Sql, run: string, holders: readonly string[] | undefined): Promise<boolean> {
  if (holders === undefined) return true;
  return (await SHARES.find(sql, { run }, `AND holder IN (${placesFor(holders)}) LIMIT 1`, ...holders)) !== undefined;
}

/** What is new in a share. */
async function sinceNoted(sql: Sql, run: string, { budget, day, use }: RunShare): Promise<RunShare> {
  const noted = (await SHARES.find(sql, { budget, day, run })) ?? NO_USE;
  return { budget, day, use: { ...use, ...eachAmount((of) => use[of] - noted[of]) } };
}

async function isThere(sql: Sql, { budget }: RunShare): Promise<boolean> {
  return (await findBudget(sql, budget)) !== undefined;
}

async function findBudget(sql: Sql, id: string): Promise<Budget | undefined> {
  const row = await BUDGETS.find(sql, { id });
  return row === undefined ? undefined : toBudget(row);
}

function toRow(run: string, { budget, day, use }: RunShare) {
  return { budget, day, run, ...use };
}

function toBudget({ cost, tokens, tries, duration, ...budget }: BudgetRow): Budget {
  const limits = Object.entries({ cost, tokens, tries, duration }).filter(([, limit]) => limit !== undefined);
  return { ...budget, limits: Object.fromEntries(limits) };
}

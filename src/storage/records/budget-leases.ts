import { AMOUNTS, eachAmount } from "../../core/amounts.ts";
import type { Amounts } from "../../core/history/events.ts";
import type { BudgetDay, BudgetLease, BudgetSum, LeaseWish, RunShare } from "../../ports/service/budgets.ts";
import type { Sql } from "../sql/sql-database.ts";
import { integer, RecordTable, text } from "./record-table.ts";

export const AMOUNT_COLUMNS = { cost: integer, tokens: integer, tries: integer, duration: integer };

interface LeaseRow extends BudgetDay, Required<Amounts> {
  readonly holder: string;
  /** The place among those that wait for more; 0 if it does not. */
  readonly wantedAs: number;
}

export const LEASES = new RecordTable<LeaseRow>(
  "budget_leases",
  { budget: text, day: text, holder: text, ...AMOUNT_COLUMNS, wantedAs: integer },
  { key: ["budget", "day", "holder"], isByKey: true, added: "budgets-2" },
);

const TAKE = `UPDATE budget_leases SET ${AMOUNTS.map((name) => `${name} = ${name} - ?`).join(", ")}
  WHERE budget = ? AND day = ? AND holder = ?`;

/** Called in a transaction. */
export async function takeLease(
  sql: Sql,
  wish: LeaseWish,
  { use, raised, limits }: BudgetSum & { readonly limits: Amounts },
): Promise<BudgetLease> {
  const { budget, day, holder } = wish;
  const rows = await LEASES.list(sql, { budget, day });
  const own = rows.find((row) => row.holder === holder);
  const others = rows.filter((row) => row !== own);
  const held = eachAmount((of) => others.reduce((sum, row) => sum + Math.max(0, row[of]), 0));
  const free = eachAmount((of) => (limits[of] ?? 0) + (raised[of] ?? 0) - use[of] - held[of]);
  const left = decideLease({ wish, own, others, free });
  const hasMore = AMOUNTS.some((of) => limits[of] !== undefined && left[of] > (own?.[of] ?? 0));
  const last = Math.max(0, ...rows.map((row) => row.wantedAs));
  const wantedAs = wish.wants && !hasMore ? own?.wantedAs || last + 1 : 0;
  await LEASES.put(sql, { budget, day, holder, ...left, wantedAs });
  const elsewhere = eachAmount((of) => held[of] + Math.max(0, free[of] - left[of]));
  return { use, raised, left, elsewhere, isWaiting: wantedAs > 0 };
}

interface Decision {
  readonly wish: LeaseWish;
  readonly own: LeaseRow | undefined;
  readonly others: readonly LeaseRow[];
  /** All that this holder may have at most: negative where a limit was set below what is used. */
  readonly free: Required<Amounts>;
}

/** Two that wait would both wait for ever if each kept what is too little for it: all goes to the one that has waited longest. */
function decideLease({ wish, own, others, free }: Decision): Required<Amounts> {
  const { inUse, wants, keepsHalf } = wish;
  const isSole = others.every((row) => row.wantedAs === 0 && AMOUNTS.every((of) => row[of] <= 0));
  if (isSole) return free;
  const waiting = others.filter((row) => row.wantedAs > 0).map((row) => row.wantedAs);
  const place = own?.wantedAs || Number.POSITIVE_INFINITY;
  const isFirst = waiting.every((other) => place < other);
  const takesMore = wants || own === undefined;
  if (takesMore && (isFirst || waiting.length === 0)) return free;
  const has = eachAmount((of) => Math.min(own?.[of] ?? 0, free[of]));
  if (waiting.length === 0) return has;
  return eachAmount((of) => {
    const unused = Math.max(0, has[of] - inUse[of]);
    const kept = keepsHalf && !wants ? Math.floor(unused / 2) : 0;
    return Math.min(has[of], inUse[of] + kept);
  });
}

/** What is used of a lease goes over into the shares. */
export async function takeFromLease(sql: Sql, holder: string, { budget, day, use }: RunShare): Promise<void> {
  await sql.run(TAKE, ...AMOUNTS.map((of) => use[of]), budget, day, holder);
}

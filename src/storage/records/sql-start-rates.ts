import type { StartRates } from "../../ports/service/start-rates.ts";
import type { RecordDatabase } from "./record-database.ts";
import { integer, json, RecordTable, text } from "./record-table.ts";

interface RateRow {
  readonly key: string;
  /** How much later than on the clock of the key it is. */
  readonly late: number;
  /** The newest slots on the clock of the key, in order. */
  readonly slots: readonly number[];
  /** When all that is remembered means nothing any more. */
  readonly until: number;
}

export const START_RATES = new RecordTable<RateRow>(
  "start_rates",
  { key: text, late: integer, slots: json, until: integer },
  { key: ["key"], indexes: { start_rates_by_end: "(until)" }, isByKey: true, added: "start-rates-1" },
);

/** A run may wait for its slot through all the time in which no process is there. */
const KEPT_MS = 30 * 86_400_000;

export function openStartRates(database: RecordDatabase): StartRates {
  return {
    take: ({ key, limit, perMs, waits }, now) =>
      database.transaction(async (sql) => {
        const { late = 0, slots = [] } = (await START_RATES.find(sql, { key })) ?? {};
        const before = slots.length < limit ? undefined : slots.at(-limit);
        const slot = Math.max(now - late, slots.at(-1) ?? 0, before === undefined ? 0 : before + perMs);
        const startsAt = slot + late;
        if (!waits && startsAt > now) return undefined;
        if (slots.length === 0) await START_RATES.remove(sql, {}, "WHERE until < ?", now);
        // Workflows that share the key may have several limits.
        const kept = [...slots, slot].slice(-Math.max(limit, slots.length));
        await START_RATES.put(sql, { key, late, slots: kept, until: startsAt + perMs + KEPT_MS });
        return { key, slot, startsAt };
      }),
    pass: ({ key, slot }, now) =>
      database.transaction(async (sql) => {
        const row = await START_RATES.find(sql, { key });
        if (row === undefined) return undefined;
        const startsAt = slot + row.late;
        if (startsAt > now) return startsAt;
        if (startsAt < now)
          await START_RATES.update(sql, { late: now - slot, until: row.until + now - startsAt }, { key });
        return undefined;
      }),
  };
}

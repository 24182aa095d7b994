import type { Journal, RunFilter, RunSelection, RunStatus } from "../../ports/journal.ts";
import { passTurn } from "../../ports/turns.ts";
import {
  countByStatusQuery,
  countRunsQuery,
  createdWithinQuery,
  listRunsQuery,
  listViolationsQuery,
  orderOf,
  type Slice,
  type StatusCount,
  sumStoredQuery,
  toViolation,
  type ViolationRow,
} from "../sql/list-queries.ts";
import { type RunRow, toRunRecord } from "../sql/run-row.ts";
import type { Statements } from "./statement.ts";

/** Those for which any number of rows may have to be looked at. */
export type Lists = Pick<Journal, "listRuns" | "countRuns" | "countRunsByStatus" | "sumStoredBytes" | "listViolations">;

/** So many rows are looked at in a few milliseconds, whatever is asked of them; the slices of a million cost nothing. */
const ROWS = 4_000;
/** Runs of a time are found by its index where they are no more than these. */
const FEW = 20_000;

/** Lists and counts, a slice of the table at a time: others get their turn between two slices. */
export function createLists(statements: Statements): Lists {
  const query = <Row>(text: string) => statements.query<Row>(text);

  return {
    async listRuns(filter) {
      const rows: RunRow[] = [];
      let offset = filter.offset ?? 0;
      for await (const slice of slicesWithRuns(filter)) {
        const skipped = offset === 0 ? 0 : countWithin(filter, slice);
        if (skipped > offset || offset === 0) {
          const rest = { ...filter, offset, limit: filter.limit - rows.length };
          const { text, parameters } = listRunsQuery(rest, slice);
          rows.push(...query<RunRow>(text).all(...parameters));
        }
        offset = Math.max(0, offset - skipped);
        if (rows.length >= filter.limit) break;
      }
      return rows.map(toRunRecord);
    },

    async countRuns(selection) {
      let count = 0;
      for await (const slice of slicesWithRuns(selection)) count += countWithin(selection, slice);
      return count;
    },

    async countRunsByStatus(selection) {
      const counts = new Map<RunStatus, number>();
      for await (const slice of slicesWithRuns(selection)) {
        const { text, parameters } = countByStatusQuery(selection, slice);
        for (const { status, count } of query<StatusCount>(text).all(...parameters))
          counts.set(status, (counts.get(status) ?? 0) + count);
      }
      return counts;
    },

    async sumStoredBytes(tenantId) {
      let total = 0;
      for await (const slice of inSlices(rangeWithRuns({ tenantId }), "ASC")) {
        const { text, parameters } = sumStoredQuery(tenantId, slice);
        total += query<{ total: number }>(text).get(...parameters)?.total ?? 0;
      }
      return total;
    },

    async listViolations(filter) {
      const last = Math.min(newestOf("violations"), (filter.beforeNo ?? Number.MAX_SAFE_INTEGER) - 1);
      const rows: ViolationRow[] = [];
      for await (const slice of inSlices({ first: 1, last }, "DESC")) {
        const { text, parameters } = listViolationsQuery({ ...filter, limit: filter.limit - rows.length }, slice);
        rows.push(...query<ViolationRow>(text).all(...parameters));
        if (rows.length >= filter.limit) break;
      }
      return rows.map(toViolation);
    },
  };

  function countWithin(selection: RunSelection, slice: Slice): number {
    const { text, parameters } = countRunsQuery(selection, slice);
    return query<{ total: number }>(text).get(...parameters)?.total ?? 0;
  }

  function slicesWithRuns(filter: RunSelection & Partial<RunFilter>): Iterable<Slice> | AsyncIterable<Slice> {
    const range = rangeWithRuns(filter);
    // Repetitions of one run are few, and asked for with every run that is shown or deleted.
    return filter.parentRunId === undefined ? inSlices(range, orderOf(filter)) : [range];
  }

  /** No run that is selected has a number outside of it. */
  function rangeWithRuns({ beforeRun, afterRun, ...selection }: RunSelection & Partial<RunFilter>): Slice {
    const first = (afterRun ?? 0) + 1;
    const last = Math.min(newestOf("runs"), (beforeRun ?? Number.MAX_SAFE_INTEGER) - 1);
    const asked = createdWithinQuery(selection, FEW);
    if (asked === undefined) return { first, last };
    const found = query<{ count: number; first: number | null; last: number | null }>(asked.text).get(
      ...asked.parameters,
    );
    if (found === undefined || found.count === FEW) return { first, last };
    return { first: Math.max(first, found.first ?? 1), last: Math.min(last, found.last ?? 0) };
  }

  function newestOf(table: "runs" | "violations"): number {
    return query<{ newest: number | null }>(`SELECT max(no) AS newest FROM ${table}`).get()?.newest ?? 0;
  }
}

/** A range of numbers in slices, from either end. */
async function* inSlices({ first, last }: Slice, order: "ASC" | "DESC"): AsyncGenerator<Slice> {
  for (let done = 0; done <= last - first; done += ROWS) {
    if (order === "ASC") yield { first: first + done, last: Math.min(last, first + done + ROWS - 1) };
    else yield { first: Math.max(first, last - done - ROWS + 1), last: last - done };
    await passTurn();
  }
}

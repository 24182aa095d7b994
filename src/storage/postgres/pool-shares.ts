import { randomUUID } from "node:crypto";
import { parseExact, writeExact } from "../../core/exact-json.ts";
import type { PoolShare, PoolShares, PoolUse } from "../../ports/pool-shares.ts";
import type { SqlDatabase } from "../sql/sql-database.ts";
import { dividePlaces, type Members } from "./divide-places.ts";
import { type Migration, migrate } from "./migrate.ts";
import { toPostgresJson } from "./postgres-text.ts";

/** A row is the state of a pool: who has how many of its places. */
const TABLES = `
CREATE TABLE pool_shares (
  name TEXT COLLATE "C" PRIMARY KEY,
  version BIGINT NOT NULL,
  members TEXT NOT NULL,
  at TIMESTAMPTZ NOT NULL
) WITH (fillfactor = 50);
`;

export const POOL_MIGRATIONS: readonly Migration[] = [{ name: "pools-1", sql: TABLES }];

const LEASE_MS = 10_000;

/** The time is the server's, so that clocks that differ harm nobody. */
const SELECT = `SELECT asked.name, pool_shares.version, pool_shares.members, (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now
  FROM json_to_recordset(?::json) AS asked (name TEXT) LEFT JOIN pool_shares ON pool_shares.name = asked.name`;

/** Only where nobody was faster. The order keeps two processes from waiting for one another. */
const WRITE = `INSERT INTO pool_shares (name, version, members, at)
  SELECT name, version + 1, members, clock_timestamp()
  FROM json_to_recordset(?::json) AS new (name TEXT, version BIGINT, members TEXT) ORDER BY name
  ON CONFLICT (name) DO UPDATE SET version = excluded.version, members = excluded.members, at = excluded.at
    WHERE pool_shares.version = excluded.version - 1
  RETURNING name`;

const SWEEP = "DELETE FROM pool_shares WHERE at < clock_timestamp() - interval '1 day'";

interface Row {
  readonly name: string;
  readonly version: number | null;
  readonly members: string | null;
  readonly now: number;
}

/** One for each process: under its name there it has its places. Pools that nobody has used for a day are forgotten. */
export function createPoolShares(database: SqlDatabase): PoolShares {
  const id = randomUUID();
  let isReady = false;

  async function prepare(): Promise<void> {
    if (isReady) return;
    await migrate(database, POOL_MIGRATIONS);
    await database.run(SWEEP);
    isReady = true;
  }

  /** Those that another process has changed in between are not among them. */
  async function exchangeOnce(uses: readonly PoolUse[]): Promise<readonly PoolShare[]> {
    const rows = await database.all<Row>(SELECT, toPostgresJson(uses.map(({ name }) => ({ name }))));
    const byName = new Map(rows.map((row) => [row.name, row]));
    const divided = uses.flatMap((use) => {
      const row = byName.get(use.name);
      if (row === undefined) return [];
      const before = parseExact(row.members ?? "{}") as Members;
      const { members, share } = dividePlaces(before, { id, use, now: row.now, leaseMs: LEASE_MS });
      return [{ share, row: { name: use.name, version: row.version ?? 0, members: writeExact(members) } }];
    });
    const written = await database.all<{ readonly name: string }>(WRITE, toPostgresJson(divided.map(({ row }) => row)));
    const names = new Set(written.map(({ name }) => name));
    return divided.map(({ share }) => share).filter(({ name }) => names.has(name));
  }

  return {
    leaseMs: LEASE_MS,
    async exchange(uses) {
      await prepare();
      const shares: PoolShare[] = [];
      for (let left = uses; left.length > 0; ) {
        const made = await exchangeOnce(left);
        shares.push(...made);
        const names = new Set(made.map(({ name }) => name));
        left = left.filter(({ name }) => !names.has(name));
      }
      return shares;
    },
  };
}

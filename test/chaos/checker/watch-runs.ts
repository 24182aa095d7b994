import { setTimeout } from "node:timers/promises";
import pg from "pg";
import type { Cluster } from "../cluster/cluster.ts";
import type { Observation, Span } from "./observation.ts";

const LOOK_EVERY_MS = 500;

/** Unfinished runs for which nobody is responsible: no living process, no timer to come, nobody who is waited for. */
const UNATTENDED = `SELECT runs.id FROM runs LEFT JOIN workers ON workers.id = runs.owner AND workers.until > now()
  WHERE status NOT IN ('completed', 'partial', 'failed', 'cancelled', 'budget_exceeded') AND workers.id IS NULL
    AND (owner IS NOT NULL OR parked = 0 OR wake_at < extract(epoch FROM now()) * 1000)`;

export interface RunWatch {
  /** For how long runs were without anybody while there was somebody who could have taken them. */
  readonly unattended: Observation["unattended"];
  /** When no process drove runs, or the database was down. */
  readonly idle: readonly Span[];
  stop(): Promise<void>;
}

/** Looks into the database all the time, past everything that is cut. */
export function watchRuns(cluster: Cluster, leaseMs: number): RunWatch {
  const unattended: { runId: string; at: number; forMs: number }[] = [];
  const idle: { at: number; until: number }[] = [];
  const since = new Map<string, number>();
  let isOver = false;
  /** When the database was away, nobody is taken for dead before it has been up for a lease. */
  let awayAt = 0;

  function close(runId: string, at: number): void {
    unattended.push({ runId, at, forMs: Date.now() - at });
    since.delete(runId);
  }

  function rest(now: number): void {
    const last = idle.at(-1);
    if (last !== undefined && now - last.until < 3 * LOOK_EVERY_MS) last.until = now;
    else idle.push({ at: now, until: now });
    // What nobody could take counts from when somebody can.
    for (const runId of since.keys()) since.set(runId, now);
  }

  async function look(client: pg.Client): Promise<void> {
    const { rows } = await client.query<{ id: string }>(UNATTENDED);
    const now = Date.now();
    const found = new Set(rows.map(({ id }) => id));
    for (const [runId, at] of since) if (!found.has(runId)) close(runId, at);
    for (const id of found) if (!since.has(id)) since.set(id, now);
    if (now - awayAt < leaseMs || !cluster.of("worker").some(({ isUp }) => isUp)) rest(now);
  }

  async function follow(): Promise<void> {
    while (!isOver) {
      const client = new pg.Client({ connectionString: cluster.databaseUrl });
      client.on("error", () => undefined);
      try {
        await client.connect();
        for (; !isOver; await setTimeout(LOOK_EVERY_MS)) await look(client);
      } catch {
        awayAt = Date.now();
        rest(awayAt);
        await setTimeout(100);
      } finally {
        await client.end().catch(() => undefined);
      }
    }
  }

  const following = follow();
  return {
    unattended,
    idle,
    async stop() {
      isOver = true;
      await following;
      for (const [runId, at] of since) close(runId, at);
    },
  };
}

import { setTimeout } from "node:timers/promises";
import { Redis } from "ioredis";
import pg from "pg";
import { refuseRows } from "../../support/refuse-rows.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { PawlProcess } from "../cluster/pawl-process.ts";
import type { Fault } from "./fault-plan.ts";
import { toStoreFault } from "./store-faults.ts";

const CUT_PATIENCE_MS = 3_000;

/** Resolves when the fault is over and everything that it has ended is back. */
export async function performFault(fault: Fault, cluster: Cluster): Promise<void> {
  switch (fault.kind) {
    case "kill": {
      const process = find(cluster, fault.process);
      await process.end("SIGKILL");
      process.clockOffsetMs = fault.clockOffsetMs;
      await setTimeout(fault.restartMs);
      return startAgain(process);
    }
    case "freeze": {
      const process = find(cluster, fault.process);
      process.signal("SIGSTOP");
      process.isUp = false;
      await setTimeout(fault.forMs);
      process.isUp = true;
      return process.signal("SIGCONT");
    }
    case "postgres":
      await cluster.postgres.stop("SIGQUIT");
      await setTimeout(fault.forMs);
      return cluster.postgres.start();
    case "full":
      await fillDisk(cluster, true);
      await setTimeout(fault.forMs);
      return fillDisk(cluster, false);
    case "cut": {
      const { way } = find(cluster, fault.process);
      for (const { after, side } of fault.cuts) {
        const before = way.cuts;
        way.cutAfter(after, side);
        const until = Date.now() + CUT_PATIENCE_MS;
        while (way.cuts === before && Date.now() < until) await setTimeout(20);
        way.heal();
      }
      return;
    }
    case "cut-all":
      return find(cluster, fault.process).way.cutAll();
    case "store":
      cluster.store.fault = toStoreFault(fault.how);
      await setTimeout(fault.forMs);
      cluster.store.fault = undefined;
      return;
    case "redis-flush":
      return flush(cluster);
    case "redis-kill":
      await cluster.redis?.kill();
      await setTimeout(fault.forMs);
      return cluster.redis?.begin();
    case "notify":
      return notify(cluster, fault.times);
    case "restart": {
      const process = find(cluster, fault.process);
      await process.end("SIGTERM");
      return startAgain(process);
    }
  }
}

async function flush({ redis }: Cluster): Promise<void> {
  if (redis === undefined) return;
  const client = new Redis(redis.url, { lazyConnect: true, retryStrategy: () => null });
  client.on("error", () => undefined);
  // It may be down just now: then it has nothing to forget.
  await client.flushall().catch(() => undefined);
  client.disconnect();
}

function find(cluster: Cluster, name: string): PawlProcess {
  const process = cluster.processes.find((one) => one.name === name);
  if (process === undefined) throw new Error(`There is no process ${name}.`);
  return process;
}

/** As whoever supervises processes does: what cannot start now is started again. */
async function startAgain(process: PawlProcess): Promise<void> {
  for (;;) {
    try {
      return await process.start();
    } catch {
      await setTimeout(500);
    }
  }
}

/** PostgreSQL may be down, and a lock may be held: it is tried until all is done. */
async function fillDisk(cluster: Cluster, isFull: boolean): Promise<void> {
  for (let isDone = false; !isDone; await setTimeout(200))
    isDone = await inDatabase(cluster, (client) => refuseRows(client, isFull));
}

async function notify(cluster: Cluster, times: number): Promise<void> {
  // If the database is down, nobody is told anything.
  await inDatabase(cluster, async (client) => {
    for (let n = 0; n < times; n += 1) await client.query("NOTIFY pawl");
  });
}

/** False if something did not work. */
async function inDatabase({ databaseUrl }: Cluster, act: (client: pg.Client) => Promise<void>): Promise<boolean> {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on("error", () => undefined);
  try {
    await client.connect();
    await act(client);
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

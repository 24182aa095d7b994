import type { Graph } from "../../../src/core/graph/graph.ts";
import type { RunHost } from "../../../src/hosts/run-host.ts";
import { readDatabaseUrl } from "../../../src/storage/postgres/database-address.ts";
import { openPostgresJournal } from "../../../src/storage/postgres/journal/postgres-journal.ts";
import { PostgresDatabase } from "../../../src/storage/postgres/postgres-database.ts";
import { fanOut, openNoOpHost, sequence } from "../../support/no-op-host.ts";
import type { OpenPeer } from "../peer.ts";
import { showPostgres } from "../show-postgres.ts";

export const open: OpenPeer = async ({ postgresUrl }) => {
  const { journal, close } = await openPostgresPeer(postgresUrl);
  const host = openNoOpHost(journal);
  return {
    sequence: (steps) => runOn(host, sequence(steps)),
    fanOut: (steps) => runOn(host, fanOut(steps)),
    settings: () => showPostgres(postgresUrl),
    async close() {
      await host.park(AbortSignal.abort());
      await close();
    },
  };
};

/** As a worker opens its journal. */
export async function openPostgresPeer(url: string) {
  const database = new PostgresDatabase({ address: readDatabaseUrl(url), connections: 10 });
  const failed = (error: unknown) => console.error(error);
  const journal = await openPostgresJournal({ database, lease: { leaseMs: 60_000, lost: () => undefined, failed } });
  return {
    journal,
    async close() {
      await journal.close();
      await database.close();
    },
  };
}

/** Returns the run's id. */
export async function runOn(host: Pick<RunHost, "startRun" | "settled">, graph: Graph): Promise<string> {
  const { id } = await host.startRun({ definition: { text: "", graph }, input: graph.input.defaults });
  const { status } = await host.settled(id);
  if (status !== "completed") throw new Error(`The run has ended as ${status}.`);
  return id;
}

import { setTimeout } from "node:timers/promises";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { openNoOpHost, sequence } from "../../../bench/support/no-op-host.ts";
import { openTestJournal } from "../../support/open-test-journal.ts";
import { PostgresServer } from "../../support/postgres-server.ts";

async function startServer(): Promise<PostgresServer> {
  const server = new PostgresServer();
  onTestFinished(() => server.remove());
  await server.start({ fsync: "off" });
  return server;
}

/** Ended as a crash ends it. */
async function restart(server: PostgresServer, outageMs: number): Promise<void> {
  await server.stop("SIGQUIT");
  await setTimeout(outageMs);
  await server.start({ fsync: "off" });
}

test("a run goes on by itself when the server is back, and every step of it is recorded once", async () => {
  const server = await startServer();
  const journal = await openTestJournal(server.url("postgres"));
  const host = openNoOpHost(journal);
  const { id, no } = await host.startRun({ definition: { text: "", graph: sequence(2_000) }, input: {} });
  await restart(server, 1_000);
  expect((await journal.readRun(no))?.completedAt).toBeUndefined();
  expect((await host.settled(id)).status).toBe("completed");
  const rows = await journal.readEvents(no, { afterSeq: 0, limit: 10_000 });
  const paths = rows.flatMap(({ event }) => (event.type === "stepSucceeded" ? [event.path] : []));
  expect(paths).toEqual(Array.from({ length: 2_000 }, (_, n) => `s${n}`));
  await journal.close();
});

test("nobody is taken for dead before the server has been up for a lease: no sign of life could be given while it was down", async () => {
  const server = await startServer();
  const url = server.url("postgres");
  const open = async (leaseMs: number) => {
    const journal = await openTestJournal(url, { leaseMs });
    onTestFinished(() => journal.close());
    return journal;
  };
  const patient = await open(60_000);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("INSERT INTO workers (id, seen_at, until) VALUES ('silent', now(), now() - interval '1 second')");
  await client.end();
  await open(60_000);
  expect(await patient.listWorkers()).toContain("silent");
  await open(100);
  await expect.poll(() => patient.listWorkers()).not.toContain("silent");
});

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Append } from "../../../src/ports/journal.ts";
import { openSqliteJournal } from "../../../src/storage/sqlite/sqlite-journal.ts";
import { reserveRuns } from "../../contracts/journal-samples.ts";
import { application } from "../../end-to-end/support/application.ts";
import { startServer } from "../../end-to-end/support/server.ts";
import { watchHealth } from "../../support/watch-health.ts";

const RUNS = 20_000;
const AT = 1_700_000_000_000;

/** A table of runs that have ended, without running any. */
async function fill(data: string): Promise<void> {
  mkdirSync(data, { recursive: true });
  const journal = openSqliteJournal({ path: join(data, "pawl.db"), durability: "process" });
  for (let begun = 0; begun < RUNS; begun += 500) {
    const runs = await reserveRuns(journal, 500);
    const results = await journal.append(runs.map((run, n) => ended(run, begun + n)));
    expect(results.every(({ ok }) => ok)).toBe(true);
  }
  await journal.close();
}

function ended(run: number, n: number): Append {
  const at = AT + n * 1_000;
  const id = `018bcfe5-6800-7000-8000-${n.toString(16).padStart(12, "0")}`;
  return {
    run,
    afterSeq: 0,
    create: { id, workflow: `w${n % 7}`, dialect: "sandcastle", graph: "g", definition: "d", createdAt: at },
    events: [
      { event: { type: "runStarted", at, inputNames: [], runId: id, workflow: "w" }, value: "{}" },
      { event: { type: "stepSucceeded", at, path: "answer", attempt: 1, costMicro: 1_200 }, value: "1" },
      { event: { type: "runFinished", at, status: "completed" }, value: "1" },
    ],
    patch: { status: "completed", startedAt: at, completedAt: at, costMicro: 1_200 },
    pins: [
      { hash: "g", text: "{}" },
      { hash: "d", text: "x" },
    ],
  };
}

test("sums over all runs and pages of them keep no other request waiting", async () => {
  const cwd = application({ "pawl.yaml": "{}\n" });
  await fill(join(cwd, ".pawl"));
  const { url } = await startServer([], { cwd, env: {} });
  const health = await watchHealth(async () => (await fetch(`${url}/healthz`)).text());
  for (const path of ["/costs?since=2023-11-01T00:00:00Z", "/runs?offset=19000", "/runs?status=failed", "/metrics"])
    expect((await fetch(url + path)).status).toBe(200);
  const costs = (await (await fetch(`${url}/costs?since=2023-11-01T00:00:00Z&by=model`)).json()) as {
    readonly data: { readonly total: { readonly cost_usd: number; readonly runs: number } };
  };
  expect(costs.data.total).toMatchObject({ runs: RUNS, cost_usd: 24 });
  const { p99 } = health.take();
  await health.end();
  // One sum took more than a second, in which nobody was answered.
  expect(p99).toBeLessThan(health.limitMs());
});

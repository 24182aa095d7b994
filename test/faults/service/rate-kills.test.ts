import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { application } from "../../end-to-end/support/application.ts";
import { type RunningServer, startServer } from "../../end-to-end/support/server.ts";
import { newTestDatabase } from "../../support/test-database.ts";
import { KilledServer } from "./killed-server.ts";

const KEY = { PAWL_SECRETS__KEY: "0123456789abcdef0123456789abcdef" };
const LIMIT = 4;
const PER_MS = 1_000;
const RUNS = 20;
const KILLS = 3;
const RATED = `
name: rated
rate: { key: "{input.customer}", limit: ${LIMIT}, per: 1s }
steps:
  - id: work
    prompt: Work for {input.customer}.
`;

interface Listed {
  readonly status: string;
  readonly created_at: string;
  readonly started_at: string;
}

test.each([
  ["SQLite", 1, async () => ({})],
  ["two processes on PostgreSQL", 2, async () => ({ DATABASE_URL: await newTestDatabase() })],
])(
  "whenever a server is killed, and for however long, no more runs of a key begin within the time: %s",
  async (_, processes, settings) => {
    const cwd = application({ "workflows/rated.yaml": RATED, "answers.yaml": "delay_ms: 20\n" });
    const env = {
      ...KEY,
      ...(await settings()),
      PAWL_AGENT__PROVIDER: "simulated:answers.yaml",
      PAWL_DATABASE__LEASE_MS: "2000",
    };
    const server = new KilledServer({ cwd, env });
    onTestFinished(() => void server.stop());
    const others: RunningServer[] = [];
    onTestFinished(() => {
      for (const other of others) other.kill("SIGKILL");
    });
    await server.start();
    for (let more = 1; more < processes; more += 1) others.push(await startServer([], { cwd, env }));
    for (let n = 0; n < RUNS; n += 1)
      await server.post(
        "/workflows/run",
        { workflow: "rated", input: { customer: "c" } },
        { "idempotency-key": `${n}` },
      );
    for (let kill = 0; kill < KILLS; kill += 1) {
      await setTimeout(Math.random() * PER_MS);
      await server.kill();
      // Some turns pass while no process is there.
      await setTimeout(2 * PER_MS);
      await server.start();
    }
    const open = async () => (await server.get("/runs/counts")) as { readonly by_status: object };
    await expect.poll(open, { timeout: 60_000, interval: 200 }).toMatchObject({ by_status: { completed: RUNS } });

    const { items } = (await server.get(`/runs?limit=${RUNS}`)) as { readonly items: readonly Listed[] };
    const begun = items.toReversed().map(({ started_at: at }) => Date.parse(at));
    const inTime = begun.toSorted((a, b) => a - b);
    for (const [n, at] of inTime.slice(LIMIT).entries()) expect(at - (inTime[n] ?? 0)).toBeGreaterThanOrEqual(PER_MS);
    for (const [n, at] of begun.slice(LIMIT).entries()) expect(at).toBeGreaterThan(begun[n] ?? 0);
  },
);

import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { application } from "../../end-to-end/support/application.ts";
import { rounds } from "../../properties/rounds.ts";
import { newTestDatabase } from "../../support/test-database.ts";
import { KilledServer } from "./killed-server.ts";

const ORDER = `
workflowId: order
startAt: pay
steps:
  pay:
    type: control
    subtype: wait
    event: paid
    match: { order_id: trigger.payload.id }
    transitions: { onSuccess: done }
  done: { type: control, subtype: formatResponse, data: { sum: steps.pay.output.sum } }
`;

const KILLS = Math.min(rounds(3), 21);
const ORDERS_PER_KILL = 6;
const KEY = { PAWL_SECRETS__KEY: "0123456789abcdef0123456789abcdef" };

test.each([
  ["SQLite", async () => ({})],
  ["PostgreSQL", async () => ({ DATABASE_URL: await newTestDatabase() })],
])("whenever a server is killed, each waiting run has its event once: %s", async (_, settings) => {
  const cwd = application({ "workflows/order.yaml": ORDER });
  const server = new KilledServer({ cwd, env: { ...KEY, ...(await settings()) } });
  onTestFinished(() => void server.stop());
  await server.start();
  const runs = new Map<number, string>();
  const begin = async (id: number) => {
    const asked = { workflow: "order", input: { id } };
    const { response } = await server.post("/workflows/run", asked, { "idempotency-key": `order ${id}` });
    const { data } = (await response.json()) as { readonly data: { readonly run_id: string } };
    runs.set(id, data.run_id);
  };
  const pay = async (id: number) => {
    const event = { payload: { order_id: id, sum: id * 10 }, messageId: `paid ${id}` };
    // Nobody waits by this field before the first run does.
    for (;;) {
      const { response } = await server.post("/triggers/paid", event);
      if (response.ok) return;
      expect(response.status).toBe(404);
      await setTimeout(10);
    }
  };
  for (let kill = 0; kill < KILLS; kill += 1) {
    const ids = Array.from({ length: ORDERS_PER_KILL }, (_each, n) => kill * ORDERS_PER_KILL + n);
    // Of half of them the event comes first.
    const asked = ids.map((id) => Promise.all(id % 2 === 0 ? [pay(id), begin(id)] : [begin(id), pay(id)]));
    await setTimeout(Math.random() * 80);
    await server.kill();
    await server.start();
    await Promise.all(asked);
  }
  for (const [id, runId] of runs) {
    const run = () => server.get(`/runs/${runId}`);
    await expect.poll(run).toMatchObject({ status: "completed" });
    expect(JSON.stringify(await run())).toContain(`"sum":${id * 10}}`);
    const { items } = (await server.get(`/runs/${runId}/events`)) as {
      readonly items: readonly { readonly event: { readonly type: string } }[];
    };
    expect(items.filter(({ event }) => event.type === "signalReceived")).toHaveLength(1);
  }
  expect(runs.size).toBe(KILLS * ORDERS_PER_KILL);
});

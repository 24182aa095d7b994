import { expect, onTestFinished, test } from "vitest";
import { application } from "../../end-to-end/support/application.ts";
import { newTestDatabase } from "../../support/test-database.ts";
import { KilledServer } from "./killed-server.ts";

const PAY = `
workflowId: pay
startAt: ask
steps:
  ask:
    type: control
    subtype: approval
    message: "'Pay?'"
    approvers: [alice, bob, carol]
    quorum: 3
    transitions: { onSuccess: done }
  done: { type: control, subtype: formatResponse, data: { paid: steps.ask.output.approved } }
`;

const KILLS = 2;
const ADMIN = { "x-api-key": "configured" };

test.each([
  ["SQLite", async () => ({})],
  ["PostgreSQL", async () => ({ DATABASE_URL: await newTestDatabase() })],
])("between two answers a server is killed, and each counts once: %s", async (_, settings) => {
  const cwd = application({ "workflows/pay.yaml": PAY });
  const server = new KilledServer({
    cwd,
    env: { API_KEY: "configured", PAWL_SECRETS__KEY: "0123456789abcdef0123456789abcdef", ...(await settings()) },
  });
  onTestFinished(() => void server.stop());
  await server.start();
  const dataOf = async (path: string, body?: object, headers: Record<string, string> = ADMIN) => {
    const { response } = await (body === undefined ? server.ask(path, { headers }) : server.post(path, body, headers));
    const { data, error } = (await response.json()) as { readonly data: Record<string, unknown>; error: unknown };
    expect(error).toBeNull();
    return data;
  };
  const keys: Record<string, string>[] = [];
  for (const name of ["alice", "bob", "carol"])
    keys.push({ "x-api-key": String((await dataOf("/keys", { name }))["key"]) });
  const [alice = {}, bob = {}, carol = {}] = keys;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const { run_id: run } = await dataOf("/workflows/run", { workflow: "pay" });
    const open = () => dataOf(`/approvals/${run}`);
    await expect.poll(async () => (await dataOf(`/runs/${run}`))["status"]).toBe("awaiting_approval");
    const approve = (key: Record<string, string>) => dataOf(`/approvals/${run}/approve`, {}, key);
    await approve(alice);
    await server.kill();
    await server.start();
    expect(await open()).toMatchObject({ approved_by: ["alice"] });
    // Asked again until it is answered, as by who has not heard of the first answer.
    const asked = approve(bob);
    await server.kill();
    await server.start();
    await asked;
    expect(await approve(alice)).toMatchObject({ missing: 1 });
    await approve(carol);
    await expect.poll(async () => (await dataOf(`/runs/${run}`))["status"]).toBe("completed");
    const { items } = (await dataOf(`/runs/${run}/events`)) as unknown as {
      readonly items: readonly {
        readonly event: { readonly type: string; readonly who?: { readonly name: string } };
      }[];
    };
    const said = items.flatMap(({ event: { who } }) => (who === undefined ? [] : [who.name]));
    expect(said).toEqual(["alice", "bob", "carol"]);
  }
});

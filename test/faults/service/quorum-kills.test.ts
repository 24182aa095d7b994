import { expect, onTestFinished, test } from "vitest";
import { application } from "../../end-to-end/support/application.ts";
import { WebhookReceiver } from "../../fakes/webhook-receiver.ts";
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

test("a server is killed after a reminder and after the escalation, and each is on record and told once", async () => {
  const receiver = await WebhookReceiver.listen();
  const rules =
    "approvers: [alice], escalation: { after: 2s, to: boss, replaces: true }, reminder: { after: 1s, times: 1 }";
  const ask = `{ type: control, subtype: approval, message: "'Pay?'", ${rules}, end: true }`;
  const cwd = application({
    "workflows/pay.yaml": `workflowId: pay\nstartAt: ask\nsteps:\n  ask: ${ask}\n`,
    "pawl.yaml": `outbound: { allow: ["${receiver.host}"] }\n`,
  });
  const server = new KilledServer({
    cwd,
    env: { API_KEY: "configured", PAWL_SECRETS__KEY: "0123456789abcdef0123456789abcdef" },
  });
  onTestFinished(() => void server.stop());
  await server.start();
  const dataOf = async (path: string, body?: object, headers: Record<string, string> = ADMIN) => {
    const { response } = await (body === undefined ? server.ask(path, { headers }) : server.post(path, body, headers));
    return ((await response.json()) as { readonly data: Record<string, unknown> }).data;
  };
  const keys = Object.fromEntries(
    await Promise.all(["alice", "boss"].map(async (name) => [name, (await dataOf("/keys", { name }))["key"]] as const)),
  );
  const answer = (name: string) =>
    server.post(`/approvals/${run}/approve`, {}, { "x-api-key": String(keys[name]) }).then(({ response }) => response);
  const { run_id: run } = await dataOf("/workflows/run", { workflow: "pay", callback_url: receiver.url() });
  for (const seen of [{ reminded: 1 }, { escalated_to: ["boss"] }]) {
    await expect.poll(() => dataOf(`/approvals/${run}`), { timeout: 20_000 }).toMatchObject(seen);
    await server.kill();
    await server.start();
  }
  expect((await answer("alice")).status).toBe(403);
  expect((await answer("boss")).status).toBe(200);
  await expect.poll(async () => (await dataOf(`/runs/${run}`))["status"], { timeout: 20_000 }).toBe("completed");
  const { items } = (await dataOf(`/runs/${run}/events`)) as {
    readonly items: readonly { event: { timer?: string } }[];
  };
  expect(items.flatMap(({ event: { timer } }) => timer ?? [])).toEqual(["ask#1@remind", "ask#1@escalate"]);
  // A delivery that a kill has cut off is tried again, with the same id.
  const told = () =>
    new Set(receiver.received.map(({ body, headers }) => `${headers["webhook-id"]} ${JSON.parse(body).event}`));
  await expect
    .poll(() => [...told()].map((each) => each.split(" ")[1]).toSorted(), { timeout: 20_000 })
    .toEqual(["approval.escalated", "approval.reminded", "approval.requested", "workflow.completed"]);
});

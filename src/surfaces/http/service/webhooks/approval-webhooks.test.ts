import { createHmac } from "node:crypto";
import { expect, test, vi } from "vitest";
import { ADMIN, Hooks, PATIENT, SECRET } from "../../../../../test/fakes/hooks-world.ts";
import { WebhookReceiver } from "../../../../../test/fakes/webhook-receiver.ts";
import { ask, journalWith, succeed } from "../../../../../test/faults/world.ts";
import { MemoryJournal } from "../../../../../test/support/memory/memory-journal.ts";
import type { JsonObject } from "../../../../core/json.ts";

function gate(more = ""): string {
  return `
name: gate
steps:
  - id: work
    prompt: "Work"
  - id: review
    type: approval
    depends_on: [work]
    approval_config: { message: "Send it?", show_data: steps.work.output, timeout_hours: 1 }
${more}`;
}

test("a question is told to the callback address and to that of the definition, with what it takes to answer", async () => {
  const receiver = await WebhookReceiver.listen();
  const hooks = new Hooks({ plays: { work: () => succeed("for the reviewer's eyes only") } });
  const runId = await hooks.run({
    workflow: gate(`on_approval: { webhook: "${receiver.url("/questions")}" }`),
    callback_url: receiver.url("/callback"),
  });
  const asked = await hooks.world.world.journal.readOutbox({ kind: "webhook", limit: 10 });
  expect(asked).toHaveLength(2);

  await hooks.newest({ status: "delivered", event: "approval.requested", run_id: runId });
  await vi.waitFor(() => expect(receiver.received).toHaveLength(2), PATIENT);
  expect(receiver.received.map(({ path }) => path).sort()).toEqual(["/callback", "/questions"]);
  const { body, headers } = receiver.first;
  const told = JSON.parse(body) as { readonly approval: { readonly links: { readonly approve: string } } & JsonObject };
  expect(told).toMatchObject({
    event: "approval.requested",
    run_id: runId,
    workflow: "gate",
    status: "awaiting_approval",
    approval: { approval_id: `${runId}:review`, path: "review", message: "Send it?" },
  });
  expect(told.approval["times_out_at"]).toBe(new Date(hooks.clock.now() - 500 + 3_600_000).toISOString());
  expect(body).not.toContain("eyes only");
  expect(headers).toMatchObject({
    "x-sandcastle-event": "approval.requested",
    "x-sandcastle-signature": createHmac("sha256", SECRET).update(body).digest("hex"),
  });
  const { status } = await hooks.world.post(told.approval.links.approve, {}, ADMIN);
  expect(status).toBe(200);
  await hooks.newest({ status: "delivered", event: "workflow.completed" });
});

test("a question that an agent asks is told with an id that answers it and no later one", async () => {
  const receiver = await WebhookReceiver.listen();
  const hooks = new Hooks({ plays: { work: () => ask("deploy") } });
  const runId = await hooks.run({ callback_url: receiver.url() });
  await hooks.newest({ status: "delivered", event: "approval.requested" });
  const { approval } = JSON.parse(receiver.first.body) as { readonly approval: JsonObject };
  expect(approval).toMatchObject({ approval_id: `${runId}:work#1@${approval["asked"]}`, message: "May deploy be?" });
  expect(await hooks.get(`/approvals/${encodeURIComponent(String(approval["approval_id"]))}`)).toMatchObject({
    key: "deploy",
  });
});

test("a reminder and an escalation are told as the question was, each once", async () => {
  const receiver = await WebhookReceiver.listen();
  const hooks = new Hooks();
  await hooks.world.post("/keys", { name: "boss" }, ADMIN);
  const rules = "reminder: { after: 10m, every: 20m, times: 2 }, escalation: { after: 20m, to: boss, replaces: true }";
  const workflow = gate().replace("timeout_hours: 1", `timeout_hours: 1, ${rules}`);
  const runId = await hooks.run({ workflow, callback_url: receiver.url() });
  await hooks.newest({ status: "delivered", event: "approval.requested" });
  for (const event of ["approval.reminded", "approval.escalated", "approval.reminded"]) {
    await hooks.clock.advance(10 * 60_000);
    await hooks.newest({ status: "delivered", event });
  }
  const told = receiver.received.map(({ body }) => JSON.parse(body) as { readonly approval: JsonObject } & JsonObject);
  expect(told.map(({ event, approval }) => [event, approval["reminded"], approval["escalated_to"]])).toEqual([
    ["approval.requested", undefined, undefined],
    ["approval.reminded", 1, null],
    ["approval.escalated", 1, ["boss"]],
    ["approval.reminded", 2, ["boss"]],
  ]);
  expect(told[2]).toMatchObject({
    run_id: runId,
    approval: { approval_id: `${runId}:review`, message: "Send it?", times_out_at: told[0]?.approval["times_out_at"] },
  });
  expect(Date.parse(String(told[2]?.["timestamp"])) - Date.parse(String(told[0]?.["timestamp"]))).toBe(20 * 60_000);
});

test("a rerun that answers a question as before tells nobody that it was asked", async () => {
  const receiver = await WebhookReceiver.listen();
  const hooks = new Hooks({ plays: { work: () => succeed("same") } });
  const runId = await hooks.run({ workflow: gate(), callback_url: receiver.url() });
  await hooks.world.post(`/approvals/${runId}/approve`, {}, ADMIN);
  await hooks.newest({ status: "delivered", event: "workflow.completed" });
  await vi.waitFor(() => expect(receiver.received).toHaveLength(2), PATIENT);

  const again = await hooks.world.post(`/runs/${runId}/rerun`, { from_step: "review" }, ADMIN);
  expect(again.status).toBe(202);
  await hooks.newest({ event: "approval.requested", status: "delivered" });
  const { data } = (await again.json()) as { readonly data: JsonObject };
  await hooks.world.post(`/approvals/${String(data["run_id"])}/approve`, {}, ADMIN);
  await hooks.newest({ event: "workflow.completed", status: "delivered" });
  const reuse = `${gate()}  - id: send\n    depends_on: [review]\n    prompt: "Send"\n`;
  const third = await hooks.run({ workflow: reuse, callback_url: receiver.url() });
  await hooks.world.post(`/approvals/${third}/approve`, {}, ADMIN);
  await hooks.newest({ event: "workflow.completed", run_id: third, status: "delivered" });
  const before = (await hooks.webhooks()).length;
  const repeated = await hooks.world.post(`/runs/${third}/rerun`, { from_step: "send" }, ADMIN);
  const { run_id: repeatedId } = ((await repeated.json()) as { readonly data: JsonObject }).data;
  await hooks.newest({ event: "workflow.completed", run_id: String(repeatedId), status: "delivered" });
  expect(await hooks.webhooks()).toHaveLength(before + 1);
});

test("the wish to tell is in the commit that opens the question", async () => {
  const receiver = await WebhookReceiver.listen();
  const commits: { readonly asks: boolean; readonly tells: boolean }[] = [];
  const journal = journalWith(new MemoryJournal(), (entries, append) => {
    for (const { events, outbox = [] } of entries) {
      const asks = events.some(({ event }) => event.type === "approvalAsked");
      commits.push({ asks, tells: outbox.some(({ body }) => body.includes("approval.requested")) });
    }
    return append(entries);
  });
  const hooks = new Hooks({ journal, plays: { work: () => succeed("x") } });
  await hooks.run({ workflow: gate(), callback_url: receiver.url() });
  expect(commits.filter(({ asks, tells }) => asks && tells)).toHaveLength(1);
  expect(commits.filter(({ asks, tells }) => asks !== tells)).toEqual([]);
});

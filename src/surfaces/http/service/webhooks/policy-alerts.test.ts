import { expect, test } from "vitest";
import { Hooks } from "../../../../../test/fakes/hooks-world.ts";
import { WebhookReceiver } from "../../../../../test/fakes/webhook-receiver.ts";
import { succeed } from "../../../../../test/faults/world.ts";

test("an alert is delivered to its own address: counted, not quoted, and without the headers of the client's callback", async () => {
  const receiver = await WebhookReceiver.listen();
  const hooks = new Hooks({ plays: { work: () => succeed({ to: "ada@example.com" }) } });
  const workflow = `
name: desk
policies:
  - { id: mail, patterns: [email], action: alert, webhook: "${receiver.url("/alerts")}" }
steps:
  - id: work
    prompt: Work.
`;
  const runId = await hooks.run({ workflow, callback_headers: { "x-auth": "for the client's own" } });
  const violation = { policy: "mail", action: "alert", found: { email: 1 }, why: "it contains email (1)" };
  expect(await hooks.get(`/runs/${runId}`)).toMatchObject({
    status: "completed",
    steps: [{ output_data: { to: "ada@example.com" }, violations: [violation] }],
  });

  await hooks.newest({ status: "delivered", event: "policy.alert", run_id: runId });
  const { path, body, headers } = receiver.first;
  expect(path).toBe("/alerts");
  expect(JSON.parse(body)).toMatchObject({
    event: "policy.alert",
    run_id: runId,
    workflow: "desk",
    path: "work",
    policy: "mail",
    found: { email: 1 },
  });
  expect(body).not.toContain("ada@");
  expect(headers["x-auth"]).toBeUndefined();
});

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { answerWith, WebhookReceiver } from "../../fakes/webhook-receiver.ts";
import { AT_ONCE, application, QUESTION } from "../support/application.ts";
import { pawl } from "../support/pawl.ts";
import { startServer } from "../support/server.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

test("a webhook arrives with one id, though the server is killed while it is on its way", async () => {
  const receiver = await WebhookReceiver.listen();
  const app = application({
    "workflows/question.yaml": `${QUESTION}\non_complete:\n  webhook: \${HOOK_URL}\n`,
    "answers.yaml": AT_ONCE,
    "pawl.yaml": `outbound: { allow: ["${receiver.host}"] }\nwebhook: { timeout_ms: 5000 }\nagent: { provider: "simulated:answers.yaml" }\n`,
  });
  const env = { HOOK_URL: receiver.url(), WEBHOOK_SECRET: SECRET };
  const first = await startServer([], { cwd: app, env });
  // It has been received and is not answered: nobody on the other side can know.
  receiver.replies.push(() => first.kill("SIGKILL"), answerWith(200, {}, "thanks"));
  const body = JSON.stringify({ workflow: "question", input: { question: "?" } });
  await fetch(`${first.url}/workflows/run`, { method: "POST", headers: { "content-type": "application/json" }, body });
  await first.ended;

  const second = await startServer([], { cwd: app, env });
  // Over a database the claim of the dead process lasts for the time-out and 30 s.
  await vi.waitFor(() => expect(receiver.received).toHaveLength(2), { timeout: 60_000, interval: 50 });
  expect(new Set(receiver.ids).size).toBe(1);
  expect(new Set(receiver.received.map(({ body: sent }) => sent)).size).toBe(1);

  const [, latest = receiver.first] = receiver.received;
  writeFileSync(join(app, "body.json"), latest.body);
  const given = ["x-sandcastle-signature", "webhook-id", "webhook-timestamp", "webhook-signature"];
  const headers = given.flatMap((name) => ["-H", `${name}: ${String(latest.headers[name])}`]);
  await vi.waitFor(
    async () => {
      const answer = await fetch(`${second.url}/webhooks/${String(receiver.ids[0])}`);
      expect(await answer.json()).toMatchObject({ data: { status: "delivered", attempt: 1 } });
    },
    { timeout: 60_000 },
  );
  const [verified, forged, shown] = await Promise.all([
    pawl(["webhooks", "verify", "body.json", ...headers], { cwd: app, env }),
    pawl(["webhooks", "verify", "pawl.yaml", ...headers, "--json"], { cwd: app, env }),
    pawl(["webhooks", "show", String(receiver.ids[0])], { cwd: app, env }),
  ]);
  expect(verified).toMatchObject({
    code: 0,
    stdout: "x-sandcastle-signature is right.\nwebhook-signature is right.\n",
  });
  expect(forged.code).toBe(1);
  expect(JSON.parse(forged.stdout)).toMatchObject({ error: { code: "WEBHOOK_SIGNATURE_WRONG" } });
  expect(shown.stdout).toContain("thanks");
  second.kill("SIGTERM");
  expect((await second.ended).code).toBe(0);
  // It waits for that claim.
});

import { expect, test, vi } from "vitest";
import { FakeClock, quiet } from "../../../../../test/fakes/fake-clock.ts";
import { ADMIN, Hooks, PATIENT } from "../../../../../test/fakes/hooks-world.ts";
import { schedulerOf } from "../../../../../test/fakes/schedule-world.ts";
import { SmtpReceiver } from "../../../../../test/fakes/smtp-receiver.ts";
import { task, uhlpGraph } from "../../../../../test/fakes/uhlp-graph.ts";
import { answerWith, WebhookReceiver } from "../../../../../test/fakes/webhook-receiver.ts";
import { fail, type Play, succeed } from "../../../../../test/faults/world.ts";
import type { JsonObject } from "../../../../core/json.ts";

/** As somebody might call a workflow who wants more than to be told of it. */
const NASTY = "a\rBcc: all@example.org\u2028<b>&";

interface NotifyWorld {
  readonly play?: Play;
  readonly smtpUrl?: string;
  readonly maxAttempts?: number;
}

/** A schedule each minute, and a process that fires it. */
async function schedule(
  notify: JsonObject,
  { play = () => succeed("for nobody's eyes"), smtpUrl, maxAttempts = 3 }: NotifyWorld = {},
) {
  const hooks = new Hooks({
    graphs: [uhlpGraph({ name: NASTY, steps: [task("work")] })],
    clock: new FakeClock(Date.UTC(2026, 0, 2, 3)),
    plays: { work: play },
    webhook: { max_attempts: maxAttempts },
    notify: smtpUrl === undefined ? {} : { smtp_url: smtpUrl },
  });
  await schedulerOf(hooks.world).start([]);
  const body = { workflow: NASTY, cron: "* * * * *", notify };
  const created = await hooks.world.post("/schedules", body, ADMIN);
  expect(created.status).toBe(201);
  const { data } = (await created.json()) as { readonly data: JsonObject };
  return { hooks, id: String(data["schedule_id"]), shown: data };
}

async function fire(hooks: Hooks): Promise<void> {
  await hooks.clock.advance(60_000);
  await quiet();
}

test("a webhook, a channel and people by mail are told that a run has ended, each in its way", async () => {
  const receiver = await WebhookReceiver.listen();
  const smtp = await SmtpReceiver.listen();
  const { hooks, id, shown } = await schedule(
    {
      webhook: receiver.url("/hook?key=abcdefgh"),
      slack: { url: receiver.url("/services/T0/B0/secret-of-the-channel") },
      email: { to: ["ops@example.org", "boss@example.org"] },
    },
    { smtpUrl: smtp.url("pawl:smtp-password@") },
  );
  expect(shown["notify"]).toEqual({
    on: "always",
    webhook: { url: `${receiver.url("/hook")}?key=[redacted]` },
    slack: { url: `http://${receiver.host}/[redacted]` },
    email: { to: ["ops@example.org", "boss@example.org"] },
  });
  await fire(hooks);
  await vi.waitFor(async () => expect(await hooks.webhooks("?status=delivered")).toHaveLength(4), PATIENT);

  const hook = receiver.received.find(({ path }) => path.startsWith("/hook"));
  expect(hook?.headers).toMatchObject({ "x-sandcastle-event": "workflow.completed" });
  expect(hook?.headers).toHaveProperty("x-sandcastle-signature");
  const told = JSON.parse(hook?.body ?? "") as JsonObject;
  expect(told).toMatchObject({ event: "workflow.completed", schedule_id: id, status: "completed", workflow: NASTY });

  const slack = receiver.received.find(({ path }) => path.startsWith("/services"));
  expect(slack?.headers).not.toHaveProperty("x-sandcastle-signature");
  const { text, blocks } = JSON.parse(slack?.body ?? "") as { readonly text: string; readonly blocks: unknown };
  expect(text.split("\n")[0]).toBe("a Bcc: all@example.org &lt;b&gt;&amp;: completed");
  expect(blocks).toMatchObject([{ text: { type: "plain_text" } }]);

  expect(smtp.received.map(({ to }) => to).sort()).toEqual([["<boss@example.org>"], ["<ops@example.org>"]]);
  const [mail] = smtp.received;
  const [head = "", content = ""] = (mail?.raw ?? "").split(/\n\n(.*)/s);
  expect(head).not.toMatch(/^Bcc:/im);
  expect(head).toMatch(/^Subject: \[Pawl\] a Bcc: all@example\.org <b>&: completed$/m);
  expect(head).toMatch(/^Message-ID: <msg_[0-9a-f]{24}@pawl>$/m);
  expect(content).toContain("<strong>a Bcc: all@example.org &lt;b&gt;&amp;: completed</strong>");
  expect(content).toContain(String(told["run_id"]));
  expect(smtp.logins).toContain("\0pawl\0smtp-password");

  const people = JSON.stringify([slack?.body, smtp.received]);
  expect(people).not.toContain("nobody's eyes");
  const listed = JSON.stringify(await hooks.webhooks());
  for (const secret of ["secret-of-the-channel", "smtp-password", "abcdefgh"]) expect(listed).not.toContain(secret);
});

test("only the outcomes that are wanted are told, and a definition that is gone is a failure", async () => {
  const receiver = await WebhookReceiver.listen();
  let fails = false;
  const { hooks, id } = await schedule(
    { on: "failure", slack: { url: receiver.url() } },
    { play: () => (fails ? fail("BROKEN", { message: "<!channel> it broke" }) : succeed(1)) },
  );
  await fire(hooks);
  await fire(hooks);
  expect(receiver.received).toEqual([]);
  fails = true;
  await fire(hooks);
  await hooks.newest({ status: "delivered", event: "workflow.failed", channel: "slack" });
  expect(receiver.first.body).toContain("BROKEN: &lt;!channel&gt; it broke");

  const changed = await hooks.world.request(`/schedules/${id}`, {
    method: "PATCH",
    headers: { ...ADMIN, "content-type": "application/json" },
    body: JSON.stringify({ notify: null }),
  });
  expect(((await changed.json()) as { readonly data: JsonObject }).data["notify"]).toBeNull();
  await fire(hooks);
  expect(receiver.received).toHaveLength(1);
});

test("a slot that could not be started is told once", async () => {
  const receiver = await WebhookReceiver.listen();
  const { hooks, id } = await schedule({ on: "failure", webhook: { url: receiver.url() } });
  const { schedules } = await hooks.world.parts.app.service();
  const stored = await schedules.find(id);
  if (stored === undefined) throw new Error("It is stored.");
  await schedules.remove(id);
  await schedules.add({ ...stored, workflow: "gone" });
  await fire(hooks);
  await hooks.newest({ status: "delivered", event: "schedule.refused", workflow_name: "gone", run_id: null });
  expect(JSON.parse(receiver.first.body)).toMatchObject({ schedule_id: id, error: { code: "WORKFLOW_NOT_FOUND" } });
  expect(receiver.received).toHaveLength(1);
});

test("mail that a server cannot take now is sent again with the same id, and not to a mailbox that is not there", async () => {
  const smtp = await SmtpReceiver.listen();
  smtp.replies.push("451 later", "250 ok");
  const { hooks } = await schedule({ email: { to: "ops@example.org" } }, { smtpUrl: smtp.url() });
  await fire(hooks);
  await vi.waitFor(() => expect(smtp.replies).toHaveLength(1), PATIENT);
  const first = await hooks.newest({ status: "pending", attempt: 1, url: "mailto:ops@example.org" });
  await hooks.almost(first);
  const { webhook_id: id } = await hooks.newest({ status: "delivered", attempt: 2, channel: "email" });
  expect(smtp.received).toHaveLength(1);
  expect(smtp.received[0]?.raw).toContain(`Message-ID: <${String(id)}@pawl>`);
  expect((await hooks.get(`/webhooks/${String(id)}`))["attempts"]).toMatchObject([
    { status: null, error: expect.stringContaining("451") },
    { status: null, error: null, excerpt: "250 taken" },
  ]);
  smtp.replies.push("550 no such mailbox");
  await fire(hooks);
  await hooks.newest({ status: "failed", attempt: 1, error: { message: expect.stringContaining("550") } as never });
});

test("a password is not told to a mail server elsewhere that offers no encryption", async () => {
  const smtp = await SmtpReceiver.listen();
  // This machine, by a name that does not say so.
  const smtpUrl = smtp.url("mailer:secret@").replace("127.0.0.1", "0.0.0.0");
  const { hooks } = await schedule({ email: { to: "ops@example.org" } }, { smtpUrl, maxAttempts: 1 });
  await fire(hooks);
  await hooks.newest({ status: "failed" });
  expect(smtp.logins).toEqual([]);
  expect(smtp.received).toEqual([]);
});

test("a mail server that hangs holds nobody up when the service stops, and the next one sends it", async () => {
  const smtp = await SmtpReceiver.listen();
  smtp.replies.push("hang");
  const { hooks } = await schedule({ email: { to: "ops@example.org" } }, { smtpUrl: smtp.url() });
  await fire(hooks);
  await hooks.clock.advance(500);
  await vi.waitFor(() => expect(smtp.replies).toEqual([]), PATIENT);
  await hooks.dispatcher.stop(AbortSignal.abort());
  expect(await hooks.webhooks()).toMatchObject([{ status: "pending", attempt: 0 }]);
  hooks.restart();
  await hooks.newest({ status: "delivered", attempt: 1 });
});

test("a rerun of a scheduled run is nobody's news", async () => {
  const receiver = await WebhookReceiver.listen();
  receiver.replies.push(answerWith(200));
  const { hooks } = await schedule({ slack: { url: receiver.url() } });
  await fire(hooks);
  const { run_id: runId } = await hooks.newest({ status: "delivered" });
  const again = await hooks.world.post(`/runs/${String(runId)}/rerun`, {}, ADMIN);
  const { data } = (await again.json()) as { readonly data: JsonObject };
  await hooks.world.world.host.settled(String(data["run_id"]));
  await hooks.clock.advance(1_000);
  expect(await hooks.webhooks()).toHaveLength(1);
});

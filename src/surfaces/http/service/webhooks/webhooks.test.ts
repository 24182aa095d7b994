import { createHmac } from "node:crypto";
import type { ServerResponse } from "node:http";
import { describe, expect, test, vi } from "vitest";
import { FakeClock } from "../../../../../test/fakes/fake-clock.ts";
import { ADMIN, HELLO, Hooks, PATIENT, SECRET } from "../../../../../test/fakes/hooks-world.ts";
import { answerWith, WebhookReceiver } from "../../../../../test/fakes/webhook-receiver.ts";
import { fail, succeed } from "../../../../../test/faults/world.ts";
import type { Graph } from "../../../../core/graph/graph.ts";
import type { JsonObject } from "../../../../core/json.ts";

describe("the end of a run", () => {
  test("is told to the callback address, with both signatures over the same bytes", async () => {
    const receiver = await WebhookReceiver.listen();
    const hooks = new Hooks({ clock: new FakeClock(Date.now()) });
    const runId = await hooks.run({
      callback_url: receiver.url(),
      callback_headers: { "X-Mine": "yes", Host: "elsewhere", "webhook-id": "forged", "content-length": "1" },
    });
    const shown = await hooks.newest({ status: "delivered", attempt: 1 });

    const { headers, body } = receiver.first;
    expect(JSON.parse(body)).toEqual({
      event: "workflow.completed",
      run_id: runId,
      workflow: "hello",
      status: "completed",
      outputs: expect.anything(),
      costs: { total_usd: 0.0125, at_most_usd: 0.0125, breakdown: [{ step_id: "work", cost_usd: 0.0125 }] },
      duration_seconds: 0,
      timestamp: new Date(hooks.clock.now() - 500).toISOString(),
    });
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "x-mine": "yes",
      "x-sandcastle-event": "workflow.completed",
      "x-sandcastle-signature": createHmac("sha256", SECRET).update(body).digest("hex"),
      "webhook-id": shown["webhook_id"],
      host: receiver.host,
    });
    const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
    expect(headers["webhook-signature"]).toBe(`v1,${createHmac("sha256", SECRET).update(signed).digest("base64")}`);
    expect(shown).toMatchObject({ run_id: runId, workflow_name: "hello", error: null, next_attempt_at: null });
    expect(await hooks.world.world.journal.readOutbox({ kind: "webhook", limit: 10 })).toEqual([]);
  });

  test("is told as a failure with its error, to both addresses that are there", async () => {
    const receiver = await WebhookReceiver.listen();
    const failing: Graph = { ...HELLO, ending: { ...HELLO.ending, failureWebhook: receiver.url("/failure") } };
    const hooks = new Hooks({ graphs: [failing], plays: { work: () => fail("BROKEN") }, webhook: { max_attempts: 1 } });
    await hooks.run({ callback_url: receiver.url("/callback") });
    await hooks.newest({ status: "delivered" });
    await vi.waitFor(() => expect(receiver.received).toHaveLength(2), PATIENT);
    expect(receiver.received.map(({ path }) => path).sort()).toEqual(["/callback", "/failure"]);
    expect(new Set(receiver.ids).size).toBe(2);
    for (const { body } of receiver.received) {
      expect(JSON.parse(body)).toMatchObject({ event: "workflow.failed", status: "failed", error: { code: "BROKEN" } });
    }
  });

  test.each([
    ["breaks off", (answer: ServerResponse) => answer.writeHead(200, { "content-length": "100" }).end("Thank")],
    ["never ends", (answer: ServerResponse) => answer.writeHead(200).write("Thank")],
    [
      "is packed as nobody knows",
      (answer: ServerResponse) => answer.writeHead(200, { "content-encoding": "zstd" }).end("x"),
    ],
    [
      "is not what it says it is",
      (answer: ServerResponse) => answer.writeHead(200, { "content-encoding": "gzip" }).end("x"),
    ],
  ])("is told once to a receiver that answers 200 with a body that %s", async (_, reply) => {
    const receiver = await WebhookReceiver.listen();
    receiver.replies.push(reply);
    const hooks = new Hooks({ webhook: { timeout_ms: 500 } });
    await hooks.run({ callback_url: receiver.url() });
    await hooks.newest({ status: "delivered", attempt: 1 });
    expect(receiver.received).toHaveLength(1);
  });

  test("is sent unsigned where there is no secret, and that is said once", async () => {
    const receiver = await WebhookReceiver.listen();
    const hooks = new Hooks({ webhook: { secret: undefined } });
    for (let n = 0; n < 2; n += 1) {
      await hooks.run({ callback_url: receiver.url() });
      await hooks.newest({ status: "delivered" });
    }
    expect(receiver.received[0]?.headers).not.toHaveProperty("x-sandcastle-signature");
    expect(receiver.received[0]?.headers).not.toHaveProperty("webhook-signature");
    expect(hooks.said.filter((line) => line.includes("WEBHOOK_SECRET"))).toHaveLength(1);
  });

  test("whose outputs are large says where they are", async () => {
    const receiver = await WebhookReceiver.listen();
    const hooks = new Hooks({ plays: { work: () => succeed("x".repeat(1_200_000)) } });
    const runId = await hooks.run({ callback_url: receiver.url() });
    await hooks.newest({ status: "delivered" });
    expect(JSON.parse(receiver.received[0]?.body ?? "")).toMatchObject({
      outputs: null,
      outputs_ref: `/runs/${runId}?whole=true&steps=false&prompts=false`,
    });
  });

  test("with outputs that lie beside the table is sent whole", async () => {
    const receiver = await WebhookReceiver.listen();
    const hooks = new Hooks({ plays: { work: () => succeed("x".repeat(100_000)) } });
    await hooks.run({ callback_url: receiver.url() });
    await hooks.newest({ status: "delivered" });
    expect(receiver.received[0]?.body).toContain("x".repeat(100_000));
  });
});

describe("a webhook that does not arrive", () => {
  test("is sent again later and later, the same bytes with the same id, and not before its receiver wants", async () => {
    const receiver = await WebhookReceiver.listen();
    receiver.replies.push(answerWith(500, {}, "down"), answerWith(503, { "retry-after": "60" }));
    const hooks = new Hooks({ webhook: { max_attempts: 4 } });
    await hooks.run({ callback_url: receiver.url() });
    const first = await hooks.newest({ status: "pending", attempt: 1 });
    expect(await hooks.pauseOf(first)).toBe(1_000);
    await hooks.almost(first);
    expect(receiver.received).toHaveLength(1);
    const second = await hooks.newest({ status: "pending", attempt: 2 });
    expect(await hooks.pauseOf(second)).toBe(60_000);
    await hooks.almost(second);
    expect(receiver.received).toHaveLength(2);
    const { webhook_id: id } = await hooks.newest({ status: "delivered", attempt: 3 });

    expect(new Set(receiver.ids)).toEqual(new Set([id]));
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-signature"])).size).toBe(3);
    expect((await hooks.get(`/webhooks/${id}`))["attempts"]).toMatchObject([
      { status: 500, excerpt: "down", error: null },
      { status: 503 },
      { status: 204, excerpt: "" },
    ]);
  });

  test("is given up after as many tries as there may be, and a person can have it sent again", async () => {
    const receiver = await WebhookReceiver.listen();
    receiver.replies.push(answerWith(404), answerWith(502), answerWith(400));
    const hooks = new Hooks();
    const runId = await hooks.run({ callback_url: receiver.url() });
    await hooks.almost(await hooks.newest({ attempt: 1 }));
    await hooks.almost(await hooks.newest({ attempt: 2 }));
    const { webhook_id: id } = await hooks.newest({
      status: "failed",
      attempt: 3,
      error: { code: "WEBHOOK_NOT_DELIVERED", message: "It was answered with 400." },
    });
    expect(hooks.said.join()).toContain("was not delivered: It was answered with 400.");
    expect(await hooks.webhooks(`?run=${runId}&status=failed`)).toHaveLength(1);
    expect(await hooks.webhooks("?status=delivered")).toHaveLength(0);

    const again = await hooks.world.post(`/webhooks/${id}/resend`, "", ADMIN);
    expect(again.status).toBe(202);
    await hooks.newest({ webhook_id: id ?? "", status: "delivered", attempt: 4, error: null });
    expect(new Set(receiver.ids).size).toBe(1);
  });

  test("says why: nobody answers in time, the line breaks, a redirect leads elsewhere, the answer is endless", async () => {
    const inner = await WebhookReceiver.listen();
    const receiver = await WebhookReceiver.listen();
    const hooks = new Hooks({ webhook: { max_attempts: 1, timeout_ms: 300 } });
    const cases = [
      [() => undefined, "There was no answer within 0.3 s."],
      [(answer: { destroy(): unknown }) => answer.destroy(), "It cannot be reached: ECONNRESET."],
      [answerWith(307, { location: inner.url() }), "It was answered with 307: redirects are not followed."],
      [answerWith(500, {}, "z".repeat(1_000_000)), "It was answered with 500."],
      [answerWith(500, { "retry-after": "never", "content-encoding": "gzip" }, "no gzip"), "It was answered with 500."],
    ] as const;
    for (const [reply, message] of cases) {
      receiver.replies.push(reply);
      await hooks.run({ callback_url: receiver.url() });
      const { error } = await hooks.newest({ status: "failed", attempt: 1 });
      expect(error).toMatchObject({ message });
    }
    expect(inner.received).toEqual([]);
    const [, { webhook_id: large } = {}] = await hooks.webhooks();
    const [{ excerpt } = {}] = (await hooks.get(`/webhooks/${large}`))["attempts"] as readonly JsonObject[];
    expect(excerpt).toBe("z".repeat(2_048));
    expect(hooks.defects).toEqual([]);
  });

  test("to a private address, by its number or by its name, is never sent and not tried again", async () => {
    const hooks = new Hooks({ outbound: { allow: [], resolve: async () => [{ address: "10.0.0.7", family: 4 }] } });
    for (const url of ["http://127.0.0.1:9/", "http://intranet.example/", "http://169.254.169.254/latest"]) {
      await hooks.run({ callback_url: url });
      const { error } = await hooks.newest({ status: "failed", attempt: 1 });
      expect(error).toMatchObject({ message: expect.stringContaining("is not a public address") });
    }
  });

  test("to a receiver that hangs keeps no other waiting", async () => {
    const [dead, alive] = [await WebhookReceiver.listen(), await WebhookReceiver.listen()];
    for (let n = 0; n < 40; n += 1) dead.replies.push(() => undefined);
    const hooks = new Hooks({ webhook: { timeout_ms: 60_000 } });
    for (let n = 0; n < 40; n += 1) await hooks.run({ callback_url: dead.url() });
    await hooks.run({ callback_url: alive.url() });
    await hooks.newest({ status: "delivered" });
    expect(alive.received).toHaveLength(1);
    expect(dead.received).toHaveLength(4);
  });
});

describe("an address that answers 410", () => {
  test("gets nothing more of this workflow, until it takes a message that a person sends again", async () => {
    const receiver = await WebhookReceiver.listen();
    receiver.replies.push(answerWith(410));
    const hooks = new Hooks({ graphs: [HELLO, { ...HELLO, name: "other" }] });
    const callback = { callback_url: receiver.url() };
    await hooks.run(callback);
    await hooks.newest({ status: "failed", attempt: 1 });
    await hooks.run(callback);
    const { webhook_id: id } = await hooks.newest({ status: "skipped", attempt: 0 });
    expect(receiver.received).toHaveLength(1);
    await hooks.run({ ...callback, workflow: "other" });
    await hooks.newest({ status: "delivered", workflow_name: "other" });

    await hooks.world.post(`/webhooks/${id}/resend`, "", ADMIN);
    await hooks.clock.advance(500);
    await vi.waitFor(
      async () => expect(await hooks.get(`/webhooks/${id}`)).toMatchObject({ status: "delivered" }),
      PATIENT,
    );
    await hooks.run(callback);
    await hooks.newest({ status: "delivered", workflow_name: "hello" });
  });
});

describe("after a crash", () => {
  test("between storing a delivery and marking the end as told, there is one delivery", async () => {
    const receiver = await WebhookReceiver.listen();
    const hooks = new Hooks();
    const { journal } = hooks.world.world;
    const finish = vi.spyOn(journal, "finishOutbox").mockRejectedValueOnce(new Error("The process is gone."));
    await hooks.run({ callback_url: receiver.url() });
    await hooks.clock.advance(500);
    expect(finish).toHaveBeenCalledOnce();
    await hooks.dispatcher.stop(AbortSignal.abort());
    hooks.restart();
    await hooks.newest({ status: "delivered", attempt: 1 });
    expect(await hooks.webhooks()).toHaveLength(1);
    expect(receiver.received).toHaveLength(1);
  });

  test("between a try and its record, it is sent again with the same id, at its time", async () => {
    const receiver = await WebhookReceiver.listen();
    const hooks = new Hooks();
    const { deliveries } = await hooks.world.parts.app.service();
    vi.spyOn(deliveries, "record").mockRejectedValueOnce(new Error("The process is gone."));
    await hooks.run({ callback_url: receiver.url() });
    await hooks.clock.advance(500);
    await vi.waitFor(() => expect(hooks.defects).toHaveLength(1), PATIENT);
    await hooks.dispatcher.stop(AbortSignal.abort());
    hooks.restart();
    await hooks.newest({ status: "delivered", attempt: 1 });
    expect(receiver.received).toHaveLength(2);
    expect(new Set(receiver.ids).size).toBe(1);
  });

  test("or a stop, what flew is sent again, and a pause goes on where it was", async () => {
    const receiver = await WebhookReceiver.listen();
    receiver.replies.push(() => undefined, answerWith(500));
    const hooks = new Hooks();
    await hooks.run({ callback_url: receiver.url() });
    await hooks.clock.advance(500);
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1), PATIENT);
    await hooks.dispatcher.stop(AbortSignal.abort());
    expect(await hooks.webhooks()).toMatchObject([{ status: "pending", attempt: 0 }]);
    hooks.restart();
    const waiting = await hooks.newest({ status: "pending", attempt: 1 });
    await hooks.dispatcher.stop(new AbortController().signal);
    hooks.restart();
    await hooks.almost(waiting);
    expect(receiver.received).toHaveLength(2);
    await hooks.newest({ status: "delivered", attempt: 2 });
  });
});

test("what cannot be recorded is sent again later and later, and soon again once it could be", async () => {
  const receiver = await WebhookReceiver.listen();
  const hooks = new Hooks();
  const { deliveries } = await hooks.world.parts.app.service();
  const record = vi.spyOn(deliveries, "record").mockRejectedValue(new Error("The disk is full."));
  await hooks.run({ callback_url: receiver.url() });
  for (const [before, pauseMs] of [500, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000].entries()) {
    await hooks.clock.advance(pauseMs - 1);
    expect(receiver.received).toHaveLength(before);
    await hooks.clock.advance(1);
    await vi.waitFor(() => expect(hooks.defects).toHaveLength(before + 1), PATIENT);
  }
  record.mockRestore();
  await hooks.clock.advance(9_500);
  await hooks.newest({ status: "delivered", attempt: 1 });
  expect(new Set(receiver.ids).size).toBe(1);
  vi.spyOn(hooks.world.world.journal, "readOutbox").mockRejectedValueOnce(new Error("The connection was cut."));
  await hooks.clock.advance(500);
  expect(hooks.defects).toHaveLength(9);
  await hooks.run({ callback_url: receiver.url() });
  await hooks.newest({ status: "delivered", attempt: 1 });
  expect(receiver.received).toHaveLength(10);
});

describe("what is nobody else's business", () => {
  test("deliveries of a tenant do not exist for another", async () => {
    const receiver = await WebhookReceiver.listen();
    const hooks = new Hooks();
    const keyFor = async (tenant: string) => {
      const made = await hooks.world.post("/keys", { name: "k", tenant_id: tenant, scopes: ["run"] }, ADMIN);
      const { data } = (await made.json()) as { readonly data: JsonObject };
      return { "x-api-key": String(data["key"]) };
    };
    const [a, b] = [await keyFor("a"), await keyFor("b")];
    const runId = await hooks.run({ callback_url: receiver.url() }, a);
    const { webhook_id: id } = await hooks.newest({ status: "delivered", tenant_id: "a" });
    expect(await hooks.get(`/webhooks/${id}`, a)).toMatchObject({ webhook_id: id });
    expect(await hooks.get("/webhooks", b)).toEqual({ items: [], next_cursor: null });
    for (const request of [
      hooks.world.request(`/webhooks/${id}`, { headers: b }),
      hooks.world.request(`/webhooks?run=${runId}`, { headers: b }),
      hooks.world.request(`/webhooks?cursor=${id}`, { headers: b }),
      hooks.world.post(`/webhooks/${id}/resend`, "", b),
    ]) {
      expect((await request).status).toBe(404);
    }
    await hooks.clock.advance(1_000);
    expect(receiver.received).toHaveLength(1);
  });

  test("variables are put into addresses of the application's own workflows, at each try, and stored nowhere", async () => {
    const receiver = await WebhookReceiver.listen();
    const env = { HOOK_KEY: "planted-in-the-environment" };
    const graph: Graph = {
      ...HELLO,
      ending: { ...HELLO.ending, completionWebhook: `${receiver.url()}?key=\${HOOK_KEY}` },
    };
    const hooks = new Hooks({ graphs: [graph], env, host: { env: (name: string) => env[name as keyof typeof env] } });
    receiver.replies.push((answer, { path }) => answer.writeHead(200).end(`you asked for ${path}`));
    await hooks.run({});
    const { webhook_id: id, url } = await hooks.newest({ status: "delivered" });
    expect(receiver.received[0]?.path).toBe("/hook?key=planted-in-the-environment");
    expect(url).toBe(`${receiver.url()}?key=\${HOOK_KEY}`);
    const shown = await hooks.get(`/webhooks/${id}`);
    expect(shown["attempts"]).toMatchObject([{ excerpt: "you asked for /hook?key=[redacted]" }]);
    const { deliveries } = await hooks.world.parts.app.service();
    const stored = await Promise.all([deliveries.find(String(id)), deliveries.readTries(String(id))]);
    expect(JSON.stringify(stored)).not.toContain("planted");
  });

  test("variables in what a client sends are not", async () => {
    const receiver = await WebhookReceiver.listen();
    const env = { HOOK_KEY: "planted-in-the-environment" };
    const server = { api_key: "configured", grant: "variables:HOOK_KEY" };
    const hooks = new Hooks({ env, server, host: { env: (name: string) => env[name as keyof typeof env] } });
    await hooks.run({ callback_url: `${receiver.url()}?key=\${HOOK_KEY}` });
    await hooks.newest({ status: "skipped", attempt: 0 });
    const text = `name: sent\nsteps:\n  - {id: a, prompt: hello}\non_complete:\n  webhook: ${receiver.url()}?key=\${HOOK_KEY}\n`;
    await hooks.run({ workflow: text });
    await hooks.newest({ status: "skipped", workflow_name: "sent" });
    const saved = await hooks.world.post("/workflows", { text: text.replace("name: sent", "name: saved") }, ADMIN);
    expect(await saved.json()).toMatchObject({
      data: {
        problems: [
          {
            code: "VARIABLE_NOT_READ",
            severity: "warning",
            message: expect.stringContaining(`\`on_complete.webhook\` is not called: \${HOOK_KEY}`),
          },
        ],
      },
    });
    await hooks.run({ workflow: "saved" });
    await hooks.newest({ status: "skipped", workflow_name: "saved" });
    expect(receiver.received).toEqual([]);
  });

  test("a user and a password in the address are sent as such and not shown, nor is a header that comes back", async () => {
    const receiver = await WebhookReceiver.listen();
    receiver.replies.push((answer, { headers }) => answer.writeHead(200).end(JSON.stringify(headers)));
    const hooks = new Hooks();
    await hooks.run({
      callback_url: receiver.url("/hook?token=t").replace("http://", "http://anna:pass%40word@"),
      callback_headers: { "x-token": "given-by-the-client" },
    });
    const { webhook_id: id, url } = await hooks.newest({ status: "delivered" });
    expect(url).toBe(`http://[redacted]@${receiver.host}/hook?token=[redacted]`);
    expect(receiver.received[0]?.headers).toMatchObject({
      authorization: `Basic ${Buffer.from("anna:pass@word").toString("base64")}`,
      "x-token": "given-by-the-client",
    });
    const shown = JSON.stringify(await hooks.get(`/webhooks/${id}`));
    expect(shown).not.toContain("given-by-the-client");
    expect(shown).not.toContain(Buffer.from("anna:pass@word").toString("base64"));
  });
});

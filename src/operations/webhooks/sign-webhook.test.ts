import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { checkSignatures, signWebhook } from "./sign-webhook.ts";

const BODY = JSON.stringify({ event: "workflow.completed", note: "Zürich, 東京" });
const WHSEC = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

test.each([
  ["as it is written", "your-webhook-signing-secret", { format: "raw" } as const],
  ["made for Standard Webhooks", WHSEC, undefined],
])("who uses the package of Standard Webhooks can check what a secret %s has signed", (_, secret, options) => {
  const atMs = Date.now();
  const headers = { ...signWebhook({ secret, id: "msg_1", atMs, body: BODY }) };
  expect(new Webhook(secret, options).verify(BODY, headers)).toEqual(JSON.parse(BODY));
  expect(() => new Webhook(secret, options).verify(`${BODY} `, headers)).toThrow();
  expect(checkSignatures({ secrets: [secret], headers, body: BODY, nowMs: atMs })).toEqual([
    { scheme: "x-sandcastle-signature", is: "right" },
    { scheme: "webhook-signature", is: "right" },
  ]);
});

test("what the package has signed is right here", () => {
  const at = new Date();
  const signature = new Webhook(WHSEC).sign("msg_2", at, BODY);
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const headers = {
    "webhook-id": "msg_2",
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1a,other ${signature}`,
  };
  const checks = checkSignatures({ secrets: [WHSEC], headers, body: BODY, nowMs: at.getTime() });
  expect(checks.map(({ is }) => is)).toEqual(["absent", "right"]);
});

test("another secret, other bytes, another id and another day are told apart", () => {
  const atMs = Date.UTC(2026, 0, 2);
  const headers = signWebhook({ secret: "right secret", id: "msg_3", atMs, body: BODY });
  const check = (change: Partial<Parameters<typeof checkSignatures>[0]>) =>
    checkSignatures({ secrets: ["right secret"], headers, body: BODY, nowMs: atMs, ...change }).map(({ is }) => is);
  expect(check({ secrets: ["wrong secret"] })).toEqual(["wrong", "wrong"]);
  expect(check({ body: BODY.replace("completed", "failed") })).toEqual(["wrong", "wrong"]);
  expect(check({ headers: { ...headers, "webhook-id": "msg_4" } })).toEqual(["right", "wrong"]);
  expect(check({ nowMs: atMs + 5 * 60_000 + 1 })).toEqual(["right", "wrong"]);
  expect(check({ headers: { "webhook-signature": headers["webhook-signature"] ?? "" } })).toEqual(["absent", "wrong"]);
});

test("while a secret is being replaced, a receiver with either of the two can check what is sent", () => {
  const atMs = Date.now();
  const headers = signWebhook({ secret: WHSEC, previousSecret: "the old one", id: "msg_5", atMs, body: BODY });
  for (const receiver of [new Webhook(WHSEC), new Webhook("the old one", { format: "raw" })]) {
    expect(receiver.verify(BODY, { ...headers })).toEqual(JSON.parse(BODY));
  }
  const check = (secrets: readonly string[]) =>
    checkSignatures({ secrets, headers, body: BODY, nowMs: atMs }).map(({ is }) => is);
  expect(check([WHSEC])).toEqual(["right", "right"]);
  expect(check(["the old one"])).toEqual(["wrong", "right"]);
  expect(check(["a new one", WHSEC])).toEqual(["right", "right"]);
});

test.each(["whsec_", "whsec_no base64!"])(
  "a secret `%s`, which is nobody's key, is taken as it is written",
  (secret) => {
    const atMs = Date.now();
    const headers = signWebhook({ secret, id: "msg_6", atMs, body: BODY });
    expect(new Webhook(secret, { format: "raw" }).verify(BODY, { ...headers })).toEqual(JSON.parse(BODY));
  },
);

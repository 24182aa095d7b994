import { expect, test } from "vitest";
import { mcpTask } from "../../../test/fakes/mcp-server/mcp-task.ts";
import { answerWith, WebhookReceiver } from "../../../test/fakes/webhook-receiver.ts";
import { SystemClock } from "../../app/system-clock.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Outcome } from "../../ports/executor.ts";
import { CapacityPools } from "../capacity/capacity-pools.ts";
import { createOutbound } from "../outbound/outbound.ts";
import { createHttpExecutor, type HttpOptions } from "./http-executor.ts";

const NEVER = new AbortController().signal;
const JSON_ANSWER = { "content-type": "application/json; charset=utf-8" };

function ask(input: JsonObject, over: Partial<HttpOptions> = {}): Promise<Outcome> {
  const outbound = createOutbound({ allow: ["127.0.0.1"] });
  const executor = createHttpExecutor({ outbound, timeoutMs: 5_000, maxBytes: 10_000, ...over });
  return executor.run(mcpTask(input).task, NEVER);
}

test("what a step says is sent, and a JSON answer is its output", async () => {
  const server = await WebhookReceiver.listen();
  server.replies.push(answerWith(201, { ...JSON_ANSWER, "x-total": "7", "set-cookie": "a=b" }, '{"id": 1}'));
  const outcome = await ask({
    method: "POST",
    url: `${server.url("/items")}?a=1`,
    headers: { "X-Count": 3, Absent: null },
    query: { name: "Ada & Bob", tags: ["x", "y"], none: null },
    body: { items: [1] },
  });
  expect(outcome).toMatchObject({
    status: "succeeded",
    output: { status: 201, headers: { "x-total": "7" }, body: { id: 1 } },
    costMicro: 0,
  });
  expect(JSON.stringify(outcome)).not.toContain("cookie");
  expect(server.first).toMatchObject({
    method: "POST",
    path: "/items?a=1&name=Ada+%26+Bob&tags=x&tags=y",
    headers: { "x-count": "3", "content-type": "application/json", "idempotency-key": expect.any(String) },
    body: '{"items":[1]}',
  });
});

test("a text is sent as it is, and an answer that is no JSON is a text", async () => {
  const server = await WebhookReceiver.listen();
  server.replies.push(answerWith(200, { "content-type": "text/plain" }, "17"));
  const outcome = await ask({
    method: "PUT",
    url: server.url(),
    body: "<a/>",
    headers: { "Content-Type": "text/xml" },
  });
  expect(outcome).toMatchObject({ output: { body: "17" } });
  expect(server.first).toMatchObject({ body: "<a/>", headers: { "content-type": "text/xml" } });
});

test.each([
  ["application/json", "<html>Back soon</html>", "is not valid JSON: <html>Back soon</html>"],
  ["application/problem+json", '{"x": ', "is not valid JSON"],
  ["application/vnd.shop+json; charset=utf-8", '{"x": NaN}', "is not valid JSON"],
  ["application/json", '{"x": 1e400}', "cannot be kept: The number 1e400 in JSON at position 6"],
  ["application/json", `"${"x".repeat(300)}`, `: "${"x".repeat(199)}...`],
])("an answer under %s that is none fails the step: %s", async (type, body, said) => {
  const server = await WebhookReceiver.listen();
  server.replies.push(answerWith(200, { "content-type": type }, body), answerWith(200, { "content-type": type }, body));
  const failed = { status: "failed", code: "HTTP_FAILED", message: expect.stringContaining(said) };
  expect(await ask({ url: server.url() })).toMatchObject({ ...failed, retryable: true, effect: "none" });
  expect(await ask({ url: server.url(), method: "POST" })).toMatchObject({ ...failed, effect: "unknown" });
});

test.each([
  ["GET", 204],
  ["HEAD", 200],
  ["POST", 200],
])("nothing at all under a type of JSON is null: %s %i", async (method, status) => {
  const server = await WebhookReceiver.listen();
  server.replies.push(answerWith(status, { "content-type": "application/json" }, ""));
  expect(await ask({ url: server.url(), method })).toMatchObject({ output: { status, body: null } });
});

test("a request that only reads bears no idempotency key", async () => {
  const server = await WebhookReceiver.listen();
  expect(await ask({ url: server.url() })).toMatchObject({ output: { status: 204, body: "" } });
  expect(server.first.headers["idempotency-key"]).toBeUndefined();
});

test.each([
  ["GET", 500, {}, { retryable: true, effect: "none", isAnswered: true }],
  ["POST", 500, {}, { retryable: true, effect: "unknown", isAnswered: true }],
  ["POST", 502, {}, { retryable: true, effect: "unknown" }],
  ["POST", 503, {}, { retryable: true, effect: "unknown" }],
  ["POST", 503, { "retry-after": "2" }, { retryable: true, effect: "none" }],
  ["POST", 429, {}, { retryable: true, effect: "none" }],
  ["POST", 404, {}, { retryable: false, effect: "none", isAnswered: true }],
  ["POST", 302, { location: "/elsewhere" }, { retryable: false, effect: "none" }],
] as const)("%s answered with %i %o is a failure that says what it did", async (method, status, headers, facts) => {
  const server = await WebhookReceiver.listen();
  server.replies.push(answerWith(status, headers, "Not today."));
  expect(await ask({ method, url: server.url() })).toMatchObject({
    status: "failed",
    code: "HTTP_FAILED",
    details: { status, answer: "Not today." },
    ...facts,
  });
});

test("a status that is expected is an answer, and each other one a failure", async () => {
  const server = await WebhookReceiver.listen();
  server.replies.push(answerWith(404), answerWith(200));
  const input = { url: server.url(), expected_status: [404] };
  expect(await ask(input)).toMatchObject({ output: { status: 404 } });
  expect(await ask(input)).toMatchObject({ code: "HTTP_FAILED" });
});

test("what a header holds as a secret is shown nowhere", async () => {
  const server = await WebhookReceiver.listen();
  server.replies.push(
    (answer, { headers }) => answer.writeHead(200, JSON_ANSWER).end(JSON.stringify({ token: headers.authorization })),
    (answer, { headers }) => answer.writeHead(400).end(`No key ${headers["x-api-key"]}`),
  );
  const told = await ask({ url: server.url(), headers: { Authorization: "Bearer hunter-2-hunter" } });
  const failed = await ask({ url: server.url(), headers: { "X-Api-Key": "hunter-2-hunter" } });
  expect(told).toMatchObject({ output: { body: { token: "[redacted]" } } });
  expect(JSON.stringify([told, failed])).not.toContain("hunter-2");
});

test("an answer that is too large, or no text, is a failure", async () => {
  const server = await WebhookReceiver.listen();
  server.replies.push(answerWith(200, {}, "x".repeat(10_001)));
  expect(await ask({ url: server.url() })).toMatchObject({ code: "OUTPUT_TOO_LARGE", retryable: false });
  server.replies.push((answer) =>
    answer.writeHead(200, { "content-type": "image/png" }).end(Buffer.from([0x89, 0xff])),
  );
  expect(await ask({ url: server.url() })).toMatchObject({
    code: "HTTP_FAILED",
    message: expect.stringContaining("no text"),
  });
});

test("where nobody listens, nothing was done", async () => {
  expect(await ask({ method: "POST", url: "http://127.0.0.1:1/" })).toMatchObject({
    code: "HTTP_UNREACHABLE",
    retryable: true,
    effect: "none",
  });
});

test("a server that hangs up, or says nothing, may have done it", async () => {
  const server = await WebhookReceiver.listen();
  server.replies.push(
    (answer) => answer.destroy(),
    () => undefined,
  );
  const input = { method: "POST", url: server.url() };
  expect(await ask(input)).toMatchObject({ code: "HTTP_UNREACHABLE", effect: "unknown" });
  expect(await ask(input, { timeoutMs: 100 })).toMatchObject({ code: "TIMEOUT", retryable: true, effect: "unknown" });
});

test("an address that is not public is not asked unless it is allowed", async () => {
  const server = await WebhookReceiver.listen();
  const outcome = await ask({ url: server.url() }, { outbound: createOutbound({ allow: [] }) });
  expect(outcome).toMatchObject({ code: "HTTP_NOT_ALLOWED", retryable: false, effect: "none" });
  expect(server.received).toEqual([]);
});

test("a header that cannot be sent is refused", async () => {
  expect(await ask({ url: "https://example.com", headers: { "X-Name": "a\nb" } })).toMatchObject({
    code: "HTTP_REQUEST_INVALID",
    effect: "none",
  });
});

test("a server that refuses for the moment is asked again, as soon as it says", async () => {
  const server = await WebhookReceiver.listen();
  server.replies.push(
    answerWith(429, { "retry-after": "0" }),
    answerWith(503, { "retry-after": "0" }),
    answerWith(200),
  );
  const capacity = new CapacityPools({ clock: new SystemClock(), limits: {}, patienceMs: 60_000 });
  expect(await ask({ url: server.url() }, { capacity })).toMatchObject({ output: { status: 200 } });
  expect(server.received).toHaveLength(3);
});

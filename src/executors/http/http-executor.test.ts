import { describe, expect, test } from "vitest";
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

test.each([429, 503])(
  "a server that answers %i and names no time has failed an attempt of the step",
  async (status) => {
    const server = await WebhookReceiver.listen();
    server.replies.push(answerWith(status));
    const capacity = new CapacityPools({ clock: new SystemClock(), limits: {}, patienceMs: 60_000 });
    const failed = { code: "HTTP_FAILED", retryable: true, details: { status } };
    expect(await ask({ url: server.url() }, { capacity })).toMatchObject(failed);
    expect(server.received).toHaveLength(1);
  },
);

test.each([".", "..", ""])("a value in the address that leads to another path sends nothing: '%s'", async (value) => {
  const server = await WebhookReceiver.listen();
  const outcome = await ask({ url: [server.url("/orders/"), value, "/lines"] });
  expect(outcome).toMatchObject({ status: "failed", message: expect.stringContaining("is missing or `..`") });
  expect(server.received).toEqual([]);
});

test("a form is sent encoded", async () => {
  const server = await WebhookReceiver.listen();
  server.replies.push(answerWith(200));
  await ask({ method: "POST", url: server.url(), form: { name: "Ada & Bob", tags: ["x", "y"], none: null } });
  expect(server.first).toMatchObject({
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: "name=Ada+%26+Bob&tags=x&tags=y",
  });
});

test("an answer becomes a file of the run, whatever its bytes are", async () => {
  const server = await WebhookReceiver.listen();
  const bytes = Buffer.from([0x89, 0xff]);
  server.replies.push((answer) => answer.writeHead(200, { "content-type": "image/png" }).end(bytes));
  expect(await ask({ url: server.url(), response: "file" })).toMatchObject({
    output: { status: 200, body: { file: "response.png", bytes: 2, type: "image/png" } },
    files: [{ name: "response.png", content: bytes }],
  });
});

describe("pages", () => {
  const json = (body: unknown, headers: Record<string, string> = {}) =>
    answerWith(200, { ...JSON_ANSWER, ...headers }, JSON.stringify(body));
  const read = async (pages: JsonObject, ...replies: (readonly [unknown, Record<string, string>?])[]) => {
    const server = await WebhookReceiver.listen();
    const url = server.url("/items");
    for (const [body, headers] of replies) server.replies.push(json(body, headers));
    const outcome = await ask({ url, query: { q: "a b" }, pages });
    return { outcome, paths: server.received.map(({ path }) => path), origin: new URL(url).origin };
  };

  test.each([
    [
      "offset",
      { offset: "start", items: "data" },
      [{ data: [1, 2] }, { data: [3] }, { data: [] }],
      ["", "&start=2", "&start=3"],
    ],
    ["page", { page: "p" }, [[1, 2], [3], []], ["&p=1", "&p=2", "&p=3"]],
    [
      "cursor",
      { cursor: { path: "meta.next", parameter: "after" }, items: "a.b" },
      [
        { a: { b: [1, 2] }, meta: { next: "x/y" } },
        { a: { b: [3] }, meta: { next: null } },
      ],
      ["", "&after=x%2Fy"],
    ],
  ])("by %s are one list", async (_, pages, bodies, queries) => {
    const { outcome, paths } = await read(pages, ...bodies.map((body) => [body] as const));
    expect(outcome).toMatchObject({ output: { status: 200, body: [1, 2, 3], pages: queries.length, hasMore: false } });
    expect(paths).toEqual(queries.map((query) => `/items?q=a+b${query}`));
  });

  test("by an address, in the body or in the header `Link`, are one list", async () => {
    const link = '</items?page=0>; rel="prev", </items?page=2&x=1>; rel="last next"';
    const { outcome, paths } = await read({}, [[1], { link }], [[2], { link: '</items?page=1>; rel="prev"' }]);
    expect(outcome).toMatchObject({ output: { body: [1, 2], pages: 2, hasMore: false } });
    expect(paths).toEqual(["/items?q=a+b", "/items?page=2&x=1"]);
    const byBody = await read({ next: "next", items: "data" }, [{ data: [1], next: "/more" }], [{ data: [2] }]);
    expect([byBody.paths, byBody.outcome]).toMatchObject([["/items?q=a+b", "/more"], { output: { body: [1, 2] } }]);
  });

  test("end at the most that the step wants, and say that there are more", async () => {
    const { outcome } = await read({ page: "p", max: 2 }, [[1]], [[2]]);
    expect(outcome).toMatchObject({ output: { body: [1, 2], pages: 2, hasMore: true } });
  });

  test.each([
    [
      "leads to another server",
      { next: "next", items: "data" },
      { data: [1], next: "http://127.0.0.1:1/x" },
      "is at another server",
    ],
    ["has no list", { page: "p", items: "data" }, { data: { of: "others" } }, "has no list at `data`"],
  ])("one that %s fails the step", async (_, pages, body, said) => {
    const { outcome, paths } = await read(pages, [body]);
    expect(outcome).toMatchObject({ code: "HTTP_FAILED", message: expect.stringContaining(said), retryable: false });
    expect(paths).toHaveLength(1);
  });

  test("that are larger together than an answer may be fail the step", async () => {
    const { outcome } = await read({ page: "p" }, [["x".repeat(6_000)]], [["y".repeat(6_000)]]);
    expect(outcome).toMatchObject({ code: "OUTPUT_TOO_LARGE" });
  });
});

describe("OAuth client credentials", () => {
  const oauth = (url: string, more: JsonObject = {}): JsonObject => ({
    oauth: { token_url: url, client_id: "shop app", client_secret: "s3cr3t-of-shop", scope: "orders", ...more },
  });
  const token = (access_token: string, expires_in?: unknown) =>
    answerWith(200, JSON_ANSWER, JSON.stringify({ access_token, token_type: "Bearer", expires_in }));
  const worldOf = async () => {
    const [issuer, api] = [await WebhookReceiver.listen(), await WebhookReceiver.listen()];
    const executor = createHttpExecutor({
      outbound: createOutbound({ allow: ["127.0.0.1"] }),
      timeoutMs: 5_000,
      maxBytes: 10_000,
    });
    const run = (more: JsonObject = {}) =>
      executor.run(mcpTask({ url: api.url(), auth: oauth(issuer.url("/token"), more) }).task, NEVER);
    return { issuer, api, run };
  };

  test("one token is fetched, kept while it lasts, and shown nowhere", async () => {
    const { issuer, api, run } = await worldOf();
    issuer.replies.push(token("token-one-4711", 3600));
    api.replies.push(
      (answer, { headers }) => answer.writeHead(200, JSON_ANSWER).end(JSON.stringify({ got: headers.authorization })),
      answerWith(200),
    );
    const outcomes = [await run(), await run()];
    expect(outcomes).toMatchObject([{ output: { body: { got: "Bearer [redacted]" } } }, { output: { status: 200 } }]);
    expect(JSON.stringify(outcomes)).not.toMatch(/4711|s3cr3t/);
    expect(issuer.received).toMatchObject([
      {
        method: "POST",
        headers: { authorization: `Basic ${Buffer.from("shop%20app:s3cr3t-of-shop").toString("base64")}` },
        body: "grant_type=client_credentials&scope=orders",
      },
    ]);
    expect(api.received.map(({ headers }) => headers.authorization)).toEqual(Array(2).fill("Bearer token-one-4711"));
  });

  test("a token that is refused, or ends at once, is fetched anew", async () => {
    const { issuer, api, run } = await worldOf();
    issuer.replies.push(token("old", 3600), token("new", 1), token("newer"));
    api.replies.push(answerWith(200), answerWith(401), answerWith(200), answerWith(200));
    for (let turn = 1; turn <= 3; turn += 1)
      expect(await run({ send_in: "body" })).toMatchObject({ status: "succeeded" });
    const sent = api.received.map(({ headers }) => headers.authorization);
    expect(sent).toEqual(["Bearer old", "Bearer old", "Bearer new", "Bearer newer"]);
    expect(issuer.first.body).toContain("client_id=shop+app&client_secret=s3cr3t-of-shop");
  });

  test.each([
    ["says no", answerWith(401, {}, "No client s3cr3t-of-shop"), { details: { status: 401 }, retryable: false }],
    ["is busy", answerWith(503), { details: { status: 503 }, retryable: true }],
    [
      "gives none",
      answerWith(200, JSON_ANSWER, "{}"),
      { message: expect.stringContaining("without an `access_token`") },
    ],
  ])("an issuer that %s fails the step, and nothing was done", async (_, reply, said) => {
    const { issuer, api, run } = await worldOf();
    issuer.replies.push(reply, reply);
    const outcome = await run();
    expect(outcome).toMatchObject({ code: "HTTP_FAILED", effect: "none", ...said });
    expect(JSON.stringify(outcome)).not.toContain("s3cr3t");
    expect(api.received).toEqual([]);
  });
});

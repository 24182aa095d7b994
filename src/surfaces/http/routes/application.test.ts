import { describe, expect, test } from "vitest";
import { HttpWorld, type HttpWorldOptions } from "../../../../test/fakes/http-world.ts";
import { http, input, literal, respond, shaped, task, to, uhlpGraph } from "../../../../test/fakes/uhlp-graph.ts";
import { fail, succeed } from "../../../../test/faults/world.ts";
import type { Expr } from "../../../core/expressions/expr.ts";
import type { Trigger } from "../../../core/graph/graph.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import type { Task } from "../../../ports/executor.ts";

const SEEN = uhlpGraph({
  name: "seen",
  trigger: http("POST", "/seen/{id}"),
  steps: [respond(shaped("generic", input("requestData")))],
});

function answering(value: Expr, method = "GET"): HttpWorld {
  return new HttpWorld([uhlpGraph({ trigger: http(method, "/it"), steps: [respond(value)] })]);
}

async function sendShaped(data: JsonObject): Promise<Response> {
  return answering(shaped("httpResponse", literal(data))).request("/it");
}

async function detailsOf(path: string, init: RequestInit, options: HttpWorldOptions = {}): Promise<JsonObject> {
  const response = await new HttpWorld([SEEN], options).request(path, { method: "POST", ...init });
  const { httpDetails } = (await response.json()) as { readonly httpDetails: JsonObject };
  return httpDetails;
}

describe("what a workflow sees of a request", () => {
  test("is the whole request, in the words of the protocol", async () => {
    const init = { body: '{"a":1}', headers: { "X-One": "1", "content-type": "application/json" } };
    expect(await detailsOf("/seen/a%20b/?x=1&y=2&x=3&__proto__=4", init)).toEqual({
      method: "POST",
      path: "/seen/a%20b/?x=1&y=2&x=3&__proto__=4",
      routePattern: "/seen/{id}",
      pathParameters: { id: "a b" },
      queryParameters: Object.fromEntries([
        ["x", ["1", "3"]],
        ["y", "2"],
        ["__proto__", "4"],
      ]),
      headers: { "x-one": "1", "content-type": "application/json" },
      body: '{"a":1}',
      bodyEncoding: "utf8",
    });
  });

  test("has a body that is no text as base64", async () => {
    const { body, bodyEncoding } = await detailsOf("/seen/1", { body: new Uint8Array([0, 255, 1]) });
    expect([body, bodyEncoding]).toEqual(["AP8B", "base64"]);
  });

  test("has the ids and the context that the server knows", async () => {
    const graph = uhlpGraph({
      name: "all",
      trigger: http("GET", "/all"),
      steps: [respond(shaped("generic", input()))],
    });
    const world = new HttpWorld([graph], { server: { context: { headers: { "userInfo.id": "x-user" } } } });
    const headers = { "x-request-id": "r", "x-trace-id": "t", "x-user": "ada" };
    expect(await (await world.request("/all", { headers })).json()).toMatchObject({
      requestId: "r",
      requestData: { source: "http" },
      context: { workflowInfo: { workflowId: "all" }, traceId: "t", userInfo: { id: "ada" } },
    });
  });
});

describe("a form", () => {
  const read = (body: string | FormData | URLSearchParams, type?: string) =>
    new HttpWorld([
      uhlpGraph({ name: "seen", trigger: http("POST", "/seen"), steps: [respond(input("requestData", "payload"))] }),
    ]).request("/seen", {
      method: "POST",
      body,
      ...(type === undefined ? {} : { headers: { "content-type": type } }),
    });

  test("is its fields, with a list where a name comes more than once", async () => {
    const body = new URLSearchParams([
      ["a", "1 & 2"],
      ["b", "x"],
      ["b", "y"],
      ["__proto__", "z"],
    ]);
    expect(await (await read(body)).json()).toEqual(JSON.parse('{"a": "1 & 2", "b": ["x", "y"], "__proto__": "z"}'));
  });

  test("has its files with their names, types and contents", async () => {
    const form = new FormData();
    form.append("title", "Photos");
    form.append("file", new Blob(["plain"], { type: "text/plain" }), "a.txt");
    form.append("file", new Blob([new Uint8Array([0, 255])], { type: "image/png" }), "../b.png");
    expect(await (await read(form)).json()).toEqual({
      title: "Photos",
      file: [
        { filename: "a.txt", type: "text/plain", size: 5, content: "plain", encoding: "utf8" },
        { filename: "../b.png", type: "image/png", size: 2, content: "AP8=", encoding: "base64" },
      ],
    });
  });

  test.each([
    ["multipart/form-data", "no boundary"],
    ["multipart/form-data; boundary=x", "--x\r\nno headers"],
    ["application/x-www-form-urlencoded", `a=${"[".repeat(50_000)}`],
  ])("that is none, or nests without end, is refused: %s", async (type, body) => {
    const response = await read(body, type);
    expect([response.status, await response.json()]).toMatchObject([400, { error: { code: "REQUEST_INVALID" } }]);
  });

  test("must fit the input's schema", async () => {
    const schema: JsonObject = { type: "object", properties: { pin: { type: "string", maxLength: 4 } } };
    const world = new HttpWorld([uhlpGraph({ trigger: http("POST", "/it"), schema, steps: [respond(literal(1))] })]);
    const send = (pin: string) => world.request("/it", { method: "POST", body: new URLSearchParams({ pin }) });
    expect([(await send("12345")).status, (await send("1234")).status]).toEqual([400, 200]);
  });
});

describe("whoever does not want to wait", () => {
  test("is told where the run is, and that it goes on", async () => {
    const world = new HttpWorld([SEEN]);
    const headers = { prefer: "wait=5, respond-async", "idempotency-key": "k" };
    const first = await world.request("/seen/1", { method: "POST", headers });
    const { run_id, status } = (await first.json()) as { readonly run_id: string; readonly status: string };
    expect([first.status, status, first.headers.get("preference-applied")]).toEqual([202, "queued", "respond-async"]);
    expect(first.headers.get("location")).toBe(`/runs/${run_id}`);
    await world.world.host.settled(run_id);
    expect(await (await world.request(`/runs/${run_id}`)).json()).toMatchObject({ data: { status: "completed" } });
    const again = await world.request("/seen/1", { method: "POST", headers });
    expect(await again.json()).toMatchObject({ run_id, status: "completed" });
  });
});

describe("a route that streams", () => {
  const ask = (more: object) => {
    const steps = [task("speak", [to("respond")]), respond(shaped("generic", literal("Rain.")))];
    const trigger = { ...http("GET", "/say"), ...more } as Trigger;
    const speak = (asked: Task) => {
      const content = [{ type: "tool_result", tool_use_id: "t", content: "18" }];
      asked.emit({ type: "live", event: { type: "text", text: "Ra" } });
      asked.emit({ type: "log", event: { type: "user", message: { content } } });
      return succeed(null);
    };
    const world = new HttpWorld([uhlpGraph({ trigger, steps })], { plays: { speak } });
    return world.request("/say", { headers: { accept: "text/event-stream" } });
  };

  test("tells texts, and nothing of the inside, then what it would have answered", async () => {
    const response = await ask({ streams: true });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    const told = [...(await response.text()).matchAll(/^event: (.*)\ndata: (.*)$/gm)];
    expect(told.map(([, event, data = ""]) => [event, JSON.parse(data)])).toEqual([
      ["status", { run_id: response.headers.get("x-run-id"), status: "running" }],
      ["text", { step: 1, name: "speak", text: "Ra" }],
      ["result", { status: 200, body: "Rain." }],
      ["end", {}],
    ]);
  });

  test("does so only where its file says it", async () => {
    const response = await ask({});
    expect([response.headers.get("content-type"), await response.json()]).toEqual(["application/json", "Rain."]);
  });
});

describe("what a route answers", () => {
  test("has the status, the headers and the body that formatResponse shaped", async () => {
    const response = await sendShaped({ statusCode: 201, headers: { Location: "/it/1", "X-N": 3 }, body: { id: 1 } });
    expect(response.status).toBe(201);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      location: "/it/1",
      "x-n": "3",
      "content-type": "application/json",
      "x-run-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect(await response.json()).toEqual({ id: 1 });
  });

  const bodies: readonly (readonly [JsonObject, number, string | null, string])[] = [
    [{ body: "plain" }, 200, "text/plain; charset=utf-8", "plain"],
    [{ body: "<p>", headers: { "Content-Type": "text/html" } }, 200, "text/html", "<p>"],
    [{ body: [1, 2] }, 200, "application/json", "[1,2]"],
    [{ body: "aGk=", bodyEncoding: "base64" }, 200, "application/octet-stream", "hi"],
    [{ statusCode: 204, body: "nothing of it" }, 204, null, ""],
    [{ statusCode: "404" }, 404, null, ""],
    [{}, 200, null, ""],
  ];
  test.each(bodies)("%j", async (data, status, type, text) => {
    const response = await sendShaped(data);
    expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
      status,
      type,
      text,
    ]);
  });

  test("leaves out headers that belong to the connection", async () => {
    const headers = {
      Connection: "close",
      "Transfer-Encoding": "chunked",
      "Content-Length": "7",
      TE: "x",
      "X-Own": "1",
    };
    const response = await sendShaped({ headers, body: "x" });
    expect(response.headers.get("x-own")).toBe("1");
    for (const name of ["connection", "transfer-encoding", "te"]) expect(response.headers.has(name)).toBe(false);
    expect(await response.text()).toBe("x");
  });

  test("has a cookie for each in a list", async () => {
    const response = await sendShaped({ headers: { "Set-Cookie": ["a=1", "b=2"] } });
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  });

  const invalid: readonly Json[] = [
    { statusCode: 99 },
    { statusCode: 600 },
    { statusCode: "ok" },
    { headers: { "X-A": "b\r\nSet-Cookie: evil=1" } },
    { headers: { "X A": "b" } },
    { headers: { "X-A": { b: 1 } } },
    { headers: "X-A: b" },
    "text",
  ];
  test.each(invalid)("is 500 where it cannot be sent: %j", async (data) => {
    const response = await answering(shaped("httpResponse", literal(data))).request("/it");
    expect(response.status).toBe(500);
    expect(response.headers.has("set-cookie")).toBe(false);
    expect(await response.json()).toMatchObject({ error: { code: "RESPONSE_INVALID", run_id: expect.any(String) } });
  });

  test("is JSON where the workflow shaped no response", async () => {
    const response = await answering(literal({ any: "thing" })).request("/it");
    expect([response.status, await response.json()]).toEqual([200, { any: "thing" }]);
  });

  const errors: readonly (readonly [JsonObject, number])[] = [
    [{ code: "NOT_FOUND", message: "No such task." }, 404],
    [{ code: "VALIDATION_ERROR", message: "x", details: { a: 1 } }, 400],
    [{ code: "ODD", message: "x" }, 500],
    [{ code: "ODD", statusCode: 418, message: "x" }, 418],
    [{ code: "constructor", message: "x" }, 500],
  ];
  test.each(errors)("of an error has a status: %j", async (data, status) => {
    const response = await answering(shaped("error", literal(data))).request("/it");
    const { statusCode: _, ...shown } = data;
    expect([response.status, await response.json()]).toMatchObject([status, { error: shown }]);
  });

  test.each([
    [{ code: "OUT_OF_STOCK", message: "None is left.", details: { statusCode: 409, left: 0 } }, 409],
    [{ code: "NOT_FOUND", message: "No such order." }, 404],
    [{ code: "ODD", message: "x" }, 500],
  ])("of a run that its author fails is what the author says: %j", async (said, status) => {
    const graph = uhlpGraph({
      trigger: http("GET", "/it"),
      steps: [{ id: "no", kind: "task", executor: "fail", input: literal(null) }],
    });
    const { code, ...more } = said;
    const response = await new HttpWorld([graph], { plays: { no: () => fail(code, more) } }).request("/it");
    expect([response.status, await response.json()]).toMatchObject([status, { data: null, error: said }]);
  });

  test.each(["error", "httpResponse"])("with a `statusCode` that is no number fails: %s", async (type) => {
    const world = answering(shaped(type, literal({ code: "ODD", message: "x", statusCode: "teapot" })));
    const response = await world.request("/it");
    expect([response.status, await response.json()]).toMatchObject([500, { error: { code: "RESPONSE_INVALID" } }]);
  });

  test("of a failed run says nothing of the inside", async () => {
    const graph = uhlpGraph({ trigger: http("GET", "/it"), steps: [task("work")] });
    const world = new HttpWorld([graph], { plays: { work: () => fail("DB_DOWN", { details: { secret: 1 } }) } });
    const response = await world.request("/it", { headers: { "x-request-id": "r" } });
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({
      data: null,
      error: {
        code: "DB_DOWN",
        message: "The request could not be completed.",
        remedy: "",
        details: null,
        request_id: "r",
        run_id: response.headers.get("x-run-id"),
      },
    });
  });

  test("of a run that waits is 202 with its id", async () => {
    const wait = { id: "wait", kind: "wait", wait: { for: "event", name: literal("paid") } } as const;
    const response = await new HttpWorld([uhlpGraph({ trigger: http("GET", "/it"), steps: [wait] })]).request("/it");
    expect([response.status, await response.json()]).toMatchObject([
      202,
      { run_id: response.headers.get("x-run-id"), status: "waiting" },
    ]);
  });
});

describe("before a workflow begins", () => {
  const schema = { type: "object", required: ["title"], properties: { title: { type: "string" } } } as const;
  const graph = uhlpGraph({ trigger: http("POST", "/it"), schema, steps: [task("work")] });

  test.each([
    [
      "a body that does not fit",
      '{"title": 7}',
      { code: "INPUT_INVALID", details: { violations: [{ path: "/title" }] } },
    ],
    ["a body that is no JSON", "title", { code: "INPUT_INVALID" }],
    ["no body", "", { code: "INPUT_INVALID" }],
    ["a body that nests without end", "[".repeat(50_000), { code: "REQUEST_INVALID" }],
  ])("%s is answered with 400", async (_, body, error) => {
    const world = new HttpWorld([graph]);
    const response = await world.request("/it", { method: "POST", body });
    expect([response.status, await response.json()]).toMatchObject([400, { error }]);
    expect(await world.world.journal.listRuns({ limit: 1 })).toEqual([]);
  });

  test("a request without a body needs none where its method has none", async () => {
    const get = uhlpGraph({ trigger: http("GET", "/it"), schema, steps: [respond(literal(1))] });
    expect((await new HttpWorld([get]).request("/it")).status).toBe(200);
  });

  test("a body that is too large is answered with 413", async () => {
    const world = new HttpWorld([graph], { server: { max_body_bytes: 1_024 } });
    expect((await world.request("/it", { method: "POST", body: "x".repeat(1_025) })).status).toBe(413);
  });

  test("a path that is not encoded as it should be is answered with 400", async () => {
    expect((await new HttpWorld([SEEN]).request("/seen/%E0%A4%A", { method: "POST" })).status).toBe(400);
  });
});

describe("methods", () => {
  const graph = uhlpGraph({ trigger: http("GET", "/it"), steps: [respond(shaped("generic", literal("body")))] });

  test("HEAD is GET without its body", async () => {
    const response = await new HttpWorld([graph]).request("/it", { method: "HEAD" });
    expect([response.status, await response.text()]).toEqual([200, ""]);
  });

  test("OPTIONS and what is not taken name those that are", async () => {
    const world = new HttpWorld([graph]);
    const options = await world.request("/it", { method: "OPTIONS" });
    expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
    const put = await world.request("/it", { method: "PUT" });
    expect([put.status, put.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  });
});

test("the document of the application names its routes, their parameters and bodies", async () => {
  const schema = { type: "object" } as const;
  const put = uhlpGraph({ name: "put", trigger: http("PUT", "/it/{id}"), schema, steps: [respond(literal(1))] });
  const response = await new HttpWorld([put]).request("/app/openapi.json");
  expect(await response.json()).toMatchObject({
    openapi: "3.1.0",
    paths: {
      "/it/{id}": {
        put: {
          operationId: "put_put",
          parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
          requestBody: { required: true, content: { "application/json": { schema } } },
        },
      },
    },
  });
});

test("the document says who may ask a route: a key, a signature or anybody", async () => {
  const of = (name: string, auth: object) =>
    uhlpGraph({ name, trigger: { ...http("POST", `/${name}`), ...auth }, steps: [respond(literal(1))] });
  const graphs = [
    of("usual", {}),
    of("keyed", { auth: "key" }),
    of("signed", { auth: "hmac" }),
    of("open", { auth: "open" }),
  ];
  const { paths, components } = (await (await new HttpWorld(graphs).request("/app/openapi.json")).json()) as JsonObject;
  const key = [{ key: [] }, { bearer: [] }];
  const headers = ["webhook-id", "webhook-timestamp"].map((name) => ({ name, in: "header", required: true }));
  expect(paths).toMatchObject({
    "/usual": { post: { security: key, responses: { "401": {} } } },
    "/keyed": { post: { security: key } },
    "/signed": { post: { security: [{ hmac: [] }], parameters: headers, responses: { "401": {} } } },
    "/open": { post: { security: [] } },
  });
  expect(components).toMatchObject({
    securitySchemes: {
      key: { type: "apiKey", in: "header", name: "X-API-Key" },
      bearer: { type: "http", scheme: "bearer" },
      hmac: { type: "apiKey", in: "header", name: "webhook-signature" },
    },
  });
});

test("a request is logged with the pattern of its route, without its path and query", async () => {
  const world = answering(literal(1));
  await world.request("/it?token=secret");
  await world.request("/runs/an-id?token=secret");
  await world.request("/api/storage/a/path?token=secret");
  await world.request("/nothing/here?token=secret");
  const entry = { method: "GET", durationMs: expect.any(Number), requestId: expect.any(String), runId: undefined };
  expect(world.logged).toEqual([
    { ...entry, route: "/it", status: 200, runId: expect.any(String) },
    { ...entry, route: "/runs/:id", status: 404 },
    { ...entry, route: "/api/storage/:path{.+}", status: 404 },
    { ...entry, route: "(none)", status: 404 },
  ]);
});

test("two requests at the same moment have a run each", async () => {
  const graph = uhlpGraph({ trigger: http("GET", "/it"), steps: [task("work")] });
  const world = new HttpWorld([graph], { plays: { work: () => succeed(1) } });
  const responses = await Promise.all(Array.from({ length: 200 }, () => world.request("/it")));
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(responses.map(({ headers }) => headers.get("x-run-id"))).size).toBe(200);
});

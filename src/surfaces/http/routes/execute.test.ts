import { describe, expect, test } from "vitest";
import { HttpWorld, type HttpWorldOptions } from "../../../../test/fakes/http-world.ts";
import { input, literal, object, respond, shaped, task, to, uhlpGraph } from "../../../../test/fakes/uhlp-graph.ts";
import { fail, journalWith, succeed, untilAborted } from "../../../../test/faults/world.ts";
import { compileSteps } from "../../../../test/simulation/uhlp.ts";
import { MemoryJournal } from "../../../../test/support/memory/memory-journal.ts";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import { liftControls } from "../../../core/graph/lift-controls.ts";
import type { JsonObject } from "../../../core/json.ts";
import { newKeySecret } from "../../../operations/keys/api-keys.ts";
import type { Executor } from "../../../ports/executor.ts";

const ECHO = uhlpGraph({ name: "echo", steps: [respond(shaped("generic", input()))] });
const GREET = uhlpGraph({
  name: "greet",
  schema: { type: "object", required: ["name"], properties: { name: { type: "string" }, age: { type: "number" } } },
  steps: [
    task("work", [to("respond"), to("sorry", { on: "failure", written: "step.output.error.code == 'SORRY'" })]),
    respond(shaped("generic", object({ hello: input("requestData", "payload", "name") }))),
    {
      id: "sorry",
      kind: "respond",
      value: shaped("error", object({ code: literal("SORRY"), message: literal("No.") })),
    },
  ],
});

const INTERNAL = { source: "internal", payload: { name: "Ada" } };

function ask(workflowId: string, more: JsonObject = {}): JsonObject {
  return { requestId: "r-1", requestData: INTERNAL, context: { workflowInfo: { workflowId } }, ...more };
}

async function bodyOf(response: Response): Promise<{ readonly [name: string]: unknown }> {
  return (await response.json()) as { readonly [name: string]: unknown };
}

async function runsOf({ world }: HttpWorld): Promise<number> {
  return (await world.journal.listRuns({ limit: 100 })).length;
}

describe("a request that is carried out", () => {
  test("is answered with what formatResponse shaped, and with metrics", async () => {
    const world = new HttpWorld([GREET]);
    const response = await world.post("/execute", ask("greet"));
    expect(response.status).toBe(200);
    const { metrics, ...rest } = await bodyOf(response);
    expect(rest).toEqual({ requestId: "r-1", resultType: "generic", data: { hello: "Ada" } });
    expect(metrics).toEqual({ run_id: response.headers.get("x-run-id"), execution_time_ms: 0, mcp_calls: [] });
  });

  test("may name its workflow in taskDetails", async () => {
    const context = { handlerType: "WORKFLOW", taskDetails: { workflowId: "greet" }, requestId: "r-2" };
    const response = await new HttpWorld([GREET]).post("/execute", { requestData: INTERNAL, context });
    expect(await bodyOf(response)).toMatchObject({ requestId: "r-2", data: { hello: "Ada" } });
  });

  const order = { sku: "a-1" };
  const text = JSON.stringify(order);
  const http = { method: "POST", path: "/orders", headers: {} };
  test.each<[string, JsonObject]>([
    ["a call", { source: "internal", payload: order }],
    ["a message", { source: "queue", queueDetails: { queueName: "q", messageId: "m", payload: order } }],
    ["an event", { source: "trigger", triggerDetails: { sourceAppId: "a", triggerEvent: "e", payload: order } }],
    ["a body", { source: "http", httpDetails: { ...http, body: text } }],
    [
      "an encoded body",
      { source: "http", httpDetails: { ...http, body: Buffer.from(text).toString("base64"), bodyEncoding: "base64" } },
    ],
    ["a callback", { source: "callback", callbackDetails: { callbackUrl: "http://x/", headers: {}, body: text } }],
  ])("has the payload of %s under one name", async (_, requestData) => {
    const graph = await compileSteps(`steps:
  answer: { type: control, subtype: formatResponse, data: { whole: trigger.payload, sku: trigger.payload.sku } }
`);
    const world = new HttpWorld([liftControls(graph)]);
    const { data } = await bodyOf(await world.post("/execute", ask(graph.name, { requestData })));
    expect(data).toEqual({ whole: order, sku: "a-1" });
  });

  test("counts what tools and models did", async () => {
    const usage = { tool: "core.state.getRuntimeValue", calls: 1, duration_ms: 5 };
    const model = { model: "small", input_tokens: 7, output_tokens: 3, calls: 2 };
    const steps = [task("one", [to("two")]), task("two", [to("three")]), task("three", [to("respond")])];
    const world = new HttpWorld([uhlpGraph({ steps: [...steps, respond(literal(1))] })], {
      plays: {
        one: () => ({ ...succeed(1), usage }),
        two: () => ({ ...succeed(1), usage }),
        three: () => ({ ...succeed(1), usage: model }),
      },
    });
    const { metrics, data } = await bodyOf(await world.post("/execute", ask("flow")));
    expect(data).toEqual({ value: 1 });
    expect(metrics).toMatchObject({
      mcp_calls: [
        { tool: "core.state.getRuntimeValue", count: 2, total_duration_ms: 10 },
        { tool: "core.llm.generate", count: 2, token_usage: { prompt: 7, completion: 3 } },
      ],
    });
  });

  const shapes: readonly (readonly [string, JsonObject, string, JsonObject])[] = [
    ["generic", { kept: null, items: [1] }, "generic", { kept: null, items: [1] }],
    ["generic", { body: null, code: null }, "generic", {}],
    ["generic", { status: "paid", output: [] }, "generic", { value: { status: "paid", output: [] } }],
    ["success", { ok: true }, "generic", { ok: true }],
    [
      "httpResponse",
      { statusCode: "201", headers: { "x-n": 1 }, body: { a: 1 }, bodyEncoding: null },
      "httpResponse",
      { statusCode: 201, headers: { "x-n": "1" }, body: '{"a":1}' },
    ],
    ["application_error", { code: 7, message: null, details: [1] }, "error", { code: "7", details: { value: [1] } }],
    ["workflowStep", { output: 1, status: "completed" }, "workflowStep", { output: { value: 1 }, status: "completed" }],
  ];
  test.each(shapes)("of the kind %s, %j, keeps the types of the protocol", async (kind, data, resultType, expected) => {
    const world = new HttpWorld([uhlpGraph({ steps: [respond(literal({ resultType: kind, data }))] })]);
    const { metrics: _, ...answer } = await bodyOf(await world.post("/execute", ask("flow")));
    expect(answer).toEqual({ requestId: "r-1", resultType, data: expected });
  });

  test("answers a failed workflow with 200 and an error that has its code", async () => {
    const world = new HttpWorld([uhlpGraph({ steps: [task("work")] })], {
      plays: { work: () => fail("CARD_DECLINED", { details: { reason: "funds" } }) },
    });
    const response = await world.post("/execute", ask("flow"));
    expect(response.status).toBe(200);
    expect(await bodyOf(response)).toMatchObject({
      resultType: "error",
      data: { code: "CARD_DECLINED", message: "CARD_DECLINED happened.", details: { reason: "funds" } },
    });
  });

  test("starts at another step where it says so", async () => {
    const world = new HttpWorld([GREET]);
    const context = { workflowInfo: { workflowId: "greet", startAt: "sorry" } };
    expect(await bodyOf(await world.post("/execute", ask("greet", { context })))).toMatchObject({
      resultType: "error",
      data: { code: "SORRY" },
    });
    expect(world.world.calls).toEqual([]);
    const [record] = await world.world.journal.listRuns({ limit: 1 });
    const pinned = await world.world.journal.readPinned(record?.graph ?? "");
    expect(JSON.parse(pinned ?? "")).toMatchObject({ flow: { start: "sorry" } });
  });

  test("that waits for an event is answered with 202 and its run", async () => {
    const wait = { id: "wait", kind: "wait", wait: { for: "event", name: literal("paid") } } as const;
    const response = await new HttpWorld([uhlpGraph({ steps: [wait] })]).post("/execute", ask("flow"));
    expect(response.status).toBe(202);
    expect(await bodyOf(response)).toEqual({
      requestId: "r-1",
      run_id: response.headers.get("x-run-id"),
      status: "waiting",
    });
  });

  test("that waits for a time that is far away is answered with 202", async () => {
    const wait = { id: "wait", kind: "wait", wait: { for: "duration", durationMs: literal(3_600_000) } } as const;
    const response = await new HttpWorld([uhlpGraph({ steps: [wait] })]).post("/execute", ask("flow"));
    expect(response.status).toBe(202);
  });
});

describe("ids", () => {
  test("a request without an id gets one", async () => {
    const { requestId: _, ...body } = ask("echo");
    const response = await new HttpWorld([ECHO]).post("/execute", body);
    expect(await bodyOf(response)).toMatchObject({ requestId: response.headers.get("x-request-id") });
  });

  test("the header is sent back, and is the request's id where the body has none", async () => {
    const world = new HttpWorld([ECHO]);
    const { requestId: _, ...body } = ask("echo");
    const unnamed = await world.post("/execute", body, { "x-request-id": "h-1" });
    expect([unnamed.headers.get("x-request-id"), (await bodyOf(unnamed))["requestId"]]).toEqual(["h-1", "h-1"]);
    const named = await world.post("/execute", ask("echo"), { "x-request-id": "h-2", "x-trace-id": "t" });
    expect([named.headers.get("x-request-id"), (await bodyOf(named))["requestId"]]).toEqual(["h-2", "r-1"]);
  });

  test("an id in the body that fits neither into a header nor into a log line is answered in the body alone", async () => {
    for (const requestId of ["数字", "a\nb", "x".repeat(100_000)]) {
      const world = new HttpWorld([ECHO]);
      const response = await world.post("/execute", { ...ask("echo"), requestId });
      const sentBack = response.headers.get("x-request-id");
      expect([response.status, sentBack]).toEqual([200, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
      expect(world.logged).toMatchObject([{ requestId: sentBack }]);
      expect(await bodyOf(response)).toMatchObject({ requestId });
    }
  });

  test("a header that does not fit into a log line is replaced", async () => {
    const response = await new HttpWorld([ECHO]).request("/healthz", { headers: { "x-request-id": "a b" } });
    expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("who the caller is", () => {
  const claimed = { userInfo: { id: "root" }, sessionId: "s", configuration: { x: 1 }, appId: "a", other: 1 };

  async function contextSeen(options: HttpWorldOptions, headers = {}): Promise<unknown> {
    const context = { ...claimed, workflowInfo: { workflowId: "echo" } };
    const response = await new HttpWorld([ECHO, KNOWS], options).post("/execute", ask("echo", { context }), headers);
    const { data } = (await response.json()) as { readonly data: { readonly context: JsonObject } };
    const { workflowInfo: _, ...rest } = data.context;
    return rest;
  }

  const KNOWS = uhlpGraph({
    name: "who",
    steps: [
      respond(
        object({ userInfo: object({ id: input("requestData", "payload", "headers", "x-key") }), other: literal(2) }),
      ),
    ],
  });

  test("is never taken from the body", async () => {
    expect(await contextSeen({})).toEqual({ appId: "a", other: 1 });
  });

  test("is taken from it with a key whose word an operator believes", async () => {
    const world = new HttpWorld([ECHO], { server: { context: { configuration: { y: 2 } } } });
    const contextWith = async (key: string) => {
      const context = { ...claimed, workflowInfo: { workflowId: "echo" } };
      const response = await world.post("/execute", ask("echo", { context }), { "x-api-key": key });
      const { data } = (await response.json()) as { readonly data: { readonly context: JsonObject } };
      return data.context;
    };
    const make = async (tells: boolean) => {
      const { id, secretHash, key } = newKeySecret();
      const { keys } = await world.parts.app.service();
      const flag = tells ? { tellsContext: true as const } : {};
      await keys.add({ id, name: "router", secretHash, scopes: ["run"], createdAt: 0, ...flag });
      return key;
    };
    const [router, stranger] = [await make(true), await make(false)];
    expect(await contextWith(router)).toMatchObject({ ...claimed, configuration: { x: 1, y: 2 } });
    expect(await contextWith(stranger)).not.toHaveProperty("userInfo");
    const wrong = ask("echo", { context: { workflowInfo: { workflowId: "echo" }, userInfo: "root" } });
    expect((await world.post("/execute", wrong, { "x-api-key": router })).status).toBe(400);
  });

  test.each([true, false])("is taken from it with the configured key where that is set: %s", async (isSet) => {
    const server = { api_key: "k-1", context: { from_api_key: isSet } };
    expect(await contextSeen({ server }, { "x-api-key": "k-1" })).toEqual(isSet ? claimed : { appId: "a", other: 1 });
  });

  test("comes from headers and fixed values, as configured", async () => {
    const context = {
      headers: { "userInfo.id": "X-User", "userInfo.roles": "X-Roles", sessionId: "X-Session", appId: "X-User" },
      configuration: { currency: "EUR" },
    };
    const headers = { "x-user": "ada", "x-roles": "admin, cook" };
    expect(await contextSeen({ server: { context } }, headers)).toEqual({
      appId: "a",
      other: 1,
      userInfo: { id: "ada", roles: ["admin", "cook"] },
      configuration: { currency: "EUR" },
    });
  });

  test("comes from a workflow, as configured", async () => {
    expect(await contextSeen({ server: { context: { workflow: "who" } } }, { "x-key": "k-7" })).toEqual({
      appId: "a",
      other: 1,
      userInfo: { id: "k-7" },
    });
  });

  test("is not guessed where that workflow fails", async () => {
    const broken = uhlpGraph({ name: "who", steps: [task("work")] });
    const world = new HttpWorld([ECHO, broken], {
      server: { context: { workflow: "who" } },
      plays: { work: () => fail("NO_SERVER") },
    });
    const response = await world.post("/execute", ask("echo"));
    expect(response.status).toBe(500);
    expect(await bodyOf(response)).toMatchObject({ details: { code: "CONTEXT_UNAVAILABLE" } });
  });
});

describe("a request that cannot be carried out starts nothing", () => {
  const details = { httpDetails: { method: "POST", path: "/", body: "{}" } };
  const bad: readonly (readonly [string, unknown, number, unknown])[] = [
    ["no JSON", "{", 400, { error: expect.stringMatching(/^The body is not valid JSON \(line 1, column \d+\): /) }],
    ["no body", "", 400, { error: "The request has no body." }],
    ["a list", [], 400, { details: { violations: [{ path: "", message: "must be an object" }] } }],
    ["null", null, 400, {}],
    ["nesting without end", "[".repeat(100_000), 400, { error: "The body nests more than 100 levels deep." }],
    ["no request data", { context: { workflowInfo: { workflowId: "greet" } } }, 400, {}],
    ["an unknown source", ask("greet", { requestData: { source: "mail" } }), 400, {}],
    ["a source without its details", ask("greet", { requestData: { source: "http" } }), 400, {}],
    [
      "a body that is an object",
      ask("greet", { requestData: { source: "http", httpDetails: { ...details.httpDetails, body: {} } } }),
      400,
      { details: { violations: [{ path: "/requestData/httpDetails/body", message: "must be a string" }] } },
    ],
    ["a context that is a text", ask("greet", { context: "x" }), 400, {}],
    ["no work", ask("greet", { context: {} }), 400, {}],
    ["an unknown handler", ask("greet", { context: { handlerType: "MAGIC" } }), 400, {}],
    ["an id that is a number", ask("greet", { requestId: 7 }), 400, {}],
    [
      "an unknown workflow",
      ask("greeet"),
      400,
      {
        error: 'There is no workflow "greeet".',
        details: { code: "WORKFLOW_NOT_FOUND", remedy: 'Did you mean "greet"?' },
      },
    ],
    [
      "an unknown first step",
      ask("greet", { context: { workflowInfo: { workflowId: "greet", startAt: "respont" } } }),
      400,
      { details: { code: "STEP_NOT_FOUND", remedy: 'Did you mean "respond"?' } },
    ],
    [
      "a payload that does not fit",
      ask("greet", { requestData: { source: "internal", payload: { age: "old" } } }),
      400,
      {
        details: {
          violations: [
            { path: "", message: "must have required property 'name'" },
            { path: "/age", message: "must be number" },
          ],
        },
      },
    ],
    [
      "an http body that is no JSON",
      ask("greet", { requestData: { source: "http", httpDetails: { method: "POST", body: "hello" } } }),
      400,
      { error: "The body is not valid JSON." },
    ],
  ];
  test.each(bad)("%s", async (_, body, status, expected) => {
    const world = new HttpWorld([GREET]);
    const response = await world.post("/execute", body);
    expect([response.status, await bodyOf(response)]).toMatchObject([status, expected]);
    expect(await runsOf(world)).toBe(0);
    expect(world.defects).toEqual([]);
  });

  test("a body that is no UTF-8", async () => {
    const response = await new HttpWorld([]).request("/execute", {
      method: "POST",
      body: new Uint8Array([0xff, 0xfe]),
    });
    expect([response.status, await bodyOf(response)]).toMatchObject([400, { error: "The body is not valid UTF-8." }]);
  });

  test("a body that is too large, announced or not", async () => {
    const world = new HttpWorld([GREET], { server: { max_body_bytes: 1_024 } });
    const large = "x".repeat(2_000);
    expect((await world.post("/execute", large)).status).toBe(413);
    const stream = new ReadableStream({ pull: (controller) => controller.enqueue(new TextEncoder().encode(large)) });
    const init: RequestInit & { duplex: "half" } = { method: "POST", body: stream, duplex: "half" };
    expect((await world.request("/execute", init)).status).toBe(413);
  });

  test("another method", async () => {
    const response = await new HttpWorld([]).request("/execute");
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
  });

  test("a host or an origin that is not this machine", async () => {
    const world = new HttpWorld([GREET]);
    const forged: Record<string, string>[] = [
      { host: "evil.example:8080" },
      { origin: "https://evil.example" },
      { origin: "null" },
      // Another program of this machine shows it.
      { host: "localhost:8080", origin: "http://localhost:3000" },
      { host: "localhost:8080", origin: "https://localhost:8080" },
    ];
    for (const headers of forged) {
      const response = await world.post("/execute", ask("greet"), headers);
      expect(response.status).toBe(403);
    }
    const near = { host: "localhost:8080", origin: "http://localhost:8080" };
    expect((await world.post("/execute", ask("greet"), near)).status).toBe(200);
  });
});

describe("a server that cannot take more", () => {
  const SLOW = uhlpGraph({ name: "slow", steps: [task("work")] });

  test("answers 429 beyond its bound, and takes requests again afterwards", async () => {
    const gate = Promise.withResolvers<void>();
    const world = new HttpWorld([SLOW], {
      server: { max_in_flight: 2 },
      plays: { work: () => gate.promise.then(() => succeed(1)) },
    });
    const first = [world.post("/execute", ask("slow")), world.post("/execute", ask("slow"))];
    await expect.poll(() => world.world.calls.length).toBe(2);
    const refused = await world.post("/execute", ask("slow"));
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    gate.resolve();
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await world.post("/execute", ask("slow"))).status).toBe(200);
  });

  test("answers 503 with the run's id when it stops meanwhile", async () => {
    const world = new HttpWorld([SLOW], {
      plays: { work: (_, signal) => untilAborted(signal).then(() => succeed(1)) },
    });
    const waiting = world.post("/execute", ask("slow"));
    await expect.poll(() => world.world.calls.length).toBe(1);
    await world.runner.stop(10, new AbortController().signal);
    const response = await waiting;
    expect(response.status).toBe(503);
    expect(await bodyOf(response)).toMatchObject({
      details: { code: "SERVER_STOPPING", run_id: response.headers.get("x-run-id"), requestId: "r-1" },
    });
    expect((await world.post("/execute", ask("slow"))).status).toBe(503);
  });

  test("answers 503 while nothing can be written", async () => {
    const journal = journalWith(new MemoryJournal(), () =>
      Promise.reject(new PawlError("JOURNAL_FULL", { message: "The disk is full." })),
    );
    const world = new HttpWorld([ECHO], { journal });
    const first = await world.post("/execute", ask("echo"));
    expect([first.status, await bodyOf(first)]).toMatchObject([503, { error: "The disk is full." }]);
    expect((await world.post("/execute", ask("echo"))).status).toBe(503);
  });
});

describe("a definition behind an endpoint", () => {
  const remote = { workflowInfo: { workflowId: "far" }, appId: "shop", mcp_endpoint: "http://127.0.0.1:1/mcp" };

  test("is asked for by its path, for the application that the request names", async () => {
    const asked: unknown[] = [];
    const world = new HttpWorld([ECHO], {
      remote: async (wanted) => {
        asked.push(wanted);
        return "name: far\nsteps: [{id: a, prompt: hi}]\n";
      },
    });
    await world.post("/execute", ask("far", { context: remote }));
    expect(asked).toEqual([
      { endpoint: remote.mcp_endpoint, appId: "shop", path: "workflows/far.yaml", requestId: "r-1" },
    ]);
  });

  test("is not asked for with a path that leads out", async () => {
    const context = { ...remote, workflowInfo: { workflowId: "../../etc/passwd" } };
    const response = await new HttpWorld([]).post("/execute", ask("x", { context }));
    expect(response.status).toBe(400);
  });
});

describe("a trace", () => {
  const plays: HttpWorldOptions["plays"] = { work: () => fail("SORRY") };

  test("shows each step and why the next one came, where the server allows it", async () => {
    const world = new HttpWorld([GREET], { plays, server: { debug: true }, recordsInput: true });
    const { debug } = await bodyOf(await world.post("/execute", ask("greet"), { "x-debug": "1" }));
    expect(debug).toMatchObject({
      steps: [
        {
          path: "work#1",
          status: "failed",
          error: { code: "SORRY" },
          transition: { to: "sorry", on: "failure", condition: "step.output.error.code == 'SORRY'" },
        },
        { path: "sorry#1", status: "completed", output: { resultType: "error" } },
      ],
    });
  });

  test("is not shown where the server does not allow it, or nobody asks", async () => {
    const closed = new HttpWorld([GREET], { plays });
    expect(await bodyOf(await closed.post("/execute", ask("greet"), { "x-debug": "1" }))).not.toHaveProperty("debug");
    const open = new HttpWorld([GREET], { plays, server: { debug: true } });
    expect(await bodyOf(await open.post("/execute", ask("greet")))).not.toHaveProperty("debug");
  });
});

describe("one script or one prompt", () => {
  test("runs as a workflow of one step", async () => {
    const seen: unknown[] = [];
    const executor: Executor = {
      recordsInput: true,
      run: async (given) => {
        seen.push(given.input);
        return succeed({ n: 1 });
      },
    };
    const world = new HttpWorld([], { host: { findExecutor: async () => executor } });
    const context = {
      handlerType: "LLM",
      taskDetails: { prompt: "Hi {{ name }}", model: "haiku", params: { name: "Ada" } },
    };
    const response = await world.post("/execute", ask("x", { context }));
    expect(await bodyOf(response)).toMatchObject({ resultType: "generic", data: { n: 1 } });
    expect(seen).toEqual([
      { prompt: "Hi {{ name }}", model: "haiku", input: { name: "Ada" }, context: { requestId: "r-1" } },
    ]);
  });

  test.each([
    ["JIT", { language: "cobol", script: "a.py" }],
    ["JIT", { language: "python" }],
    ["JIT", { script: "../../etc/passwd" }],
    ["LLM", {}],
    ["LLM", { prompt: "a", promptTemplate: "b" }],
    ["LLM", { prompt: "a", parameters: 7 }],
  ])("is refused where it is incomplete: %s %j", async (handlerType, taskDetails) => {
    const world = new HttpWorld([]);
    const response = await world.post("/execute", ask("x", { context: { handlerType, taskDetails } }));
    expect(response.status).toBe(400);
    expect(await runsOf(world)).toBe(0);
  });
});

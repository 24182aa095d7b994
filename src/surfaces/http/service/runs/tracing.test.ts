import { expect, onTestFinished, test, vi } from "vitest";
import { ADMIN, Hooks, PATIENT } from "../../../../../test/fakes/hooks-world.ts";
import { answerWith, WebhookReceiver } from "../../../../../test/fakes/webhook-receiver.ts";
import { fail, type Play, succeed, type World } from "../../../../../test/faults/world.ts";
import { isJsonObject, type JsonObject } from "../../../../core/json.ts";
import { RunObservers } from "../../../../operations/events/run-observers.ts";
import { openTracing } from "../../../../telemetry/spans/open-tracing.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const TRACEPARENT = `00-${TRACE_ID}-${CALLER}-01`;
const TWO_STEPS = `
name: two
steps:
  - id: first
    prompt: "PLANTED-prompt"
    retry: { max_attempts: 2, backoff: fixed }
  - id: gate
    type: approval
    depends_on: [first]
    approval_config: { message: "Go on?" }
  - id: second
    depends_on: [gate]
    prompt: "Again"
`;

/** A collector over real HTTP, and what it was sent. */
async function openCollector() {
  const receiver = await WebhookReceiver.listen();
  const observers = new RunObservers((error) => {
    throw error;
  });
  const told: string[] = [];
  const tracing = openTracing({
    endpoint: receiver.url("/collector/"),
    headers: "authorization=Bearer%20for-the-collector, x-team = blue",
    serviceName: "test",
    version: "1.2.3",
    mask: (text) => text.replaceAll("hunter 4711", "[redacted]"),
    tell: (line) => told.push(line),
  });
  observers.add(tracing.observer);
  onTestFinished(() => tracing.close());
  const spans = () =>
    receiver.received.flatMap(({ body }) => {
      const { resourceSpans } = JSON.parse(body) as { readonly resourceSpans: readonly JsonObject[] };
      return resourceSpans
        .flatMap(({ scopeSpans }) => (scopeSpans as readonly JsonObject[]).flatMap(({ spans: own }) => own))
        .filter(isJsonObject);
    });
  return { receiver, observers, tracing, told, spans };
}

function attributesOf(span: JsonObject | undefined): Readonly<Record<string, unknown>> {
  const pairs = (span?.["attributes"] ?? []) as readonly { readonly key: string; readonly value: JsonObject }[];
  return Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]));
}

function tracedWorld(observers: RunObservers, play: Play): Hooks {
  return new Hooks({
    plays: { first: play, second: play, work: play },
    host: { observer: observers, isTracing: true },
    telemetry: { otlp_endpoint: "http://127.0.0.1:9" },
  });
}

test("a run, its attempts and what they call are spans of the trace that it was asked with, across a restart", async () => {
  const { receiver, observers, tracing, spans } = await openCollector();
  const seen: (string | undefined)[] = [];
  let calls = 0;
  const hooks = tracedWorld(observers, (task) => {
    seen.push(task.traceParent);
    const at = { startedAt: 1_000, endedAt: 2_000 };
    task.emit({ type: "call", call: { kind: "model", name: "acme:one", ...at, inputTokens: 11, outputTokens: 3 } });
    task.emit({
      type: "call",
      call: { kind: "tool", name: "files.read", callId: "c1", ...at, errorCode: "TOOL_FAILED" },
    });
    calls += 1;
    return calls === 1
      ? fail("PLANTED_CODE", { retryable: true, message: "PLANTED-message" })
      : succeed("PLANTED-output");
  });
  const asked = await hooks.world.post(
    "/workflows/run",
    { workflow: TWO_STEPS },
    { ...ADMIN, traceparent: TRACEPARENT },
  );
  const { run_id: runId } = ((await asked.json()) as { readonly data: { readonly run_id: string } }).data;
  await vi.waitFor(() => expect(calls).toBe(1), PATIENT);
  await hooks.clock.advance(60_000);
  await vi.waitFor(
    async () => expect(await hooks.world.world.recordOf(runId)).toMatchObject({ status: "awaiting_approval" }),
    PATIENT,
  );
  // Another process goes on with it.
  const { world } = hooks.world;
  await world.host.park(AbortSignal.abort());
  const next: World = world.next({ host: { observer: observers, isTracing: true } });
  await next.host.request(runId, { type: "answer", path: "gate", answer: { answer: "approve" } });
  expect(await next.host.settled(runId)).toMatchObject({ status: "completed" });
  await tracing.close();

  expect(receiver.first).toMatchObject({
    path: "/collector/v1/traces",
    headers: { authorization: "Bearer for-the-collector", "x-team": "blue", "content-type": "application/json" },
  });
  const all = spans();
  expect(new Set(all.map(({ traceId }) => traceId))).toEqual(new Set([TRACE_ID]));
  const [run] = all.filter(({ name }) => name === "invoke_workflow two");
  expect(run).toMatchObject({ parentSpanId: CALLER, kind: 2, status: {} });
  expect(attributesOf(run)).toMatchObject({
    "pawl.run.id": runId,
    "pawl.run.status": "completed",
    "gen_ai.workflow.name": "two",
  });
  const attempts = all.filter(({ name }) => String(name).startsWith("invoke_agent"));
  expect(attempts.map(({ name }) => name)).toEqual(["invoke_agent first", "invoke_agent first", "invoke_agent second"]);
  for (const attempt of attempts) expect(attempt).toMatchObject({ parentSpanId: run?.["spanId"] });
  expect(attempts.map((span) => attributesOf(span)["pawl.step.attempt"])).toEqual(["1", "2", "1"]);
  expect(attempts[0]).toMatchObject({ status: { code: 2, message: "PLANTED_CODE" } });
  expect(seen).toEqual(attempts.map(({ spanId }) => `00-${TRACE_ID}-${String(spanId)}-01`));
  const models = all.filter(({ name }) => name === "chat one");
  expect(models.map(({ parentSpanId }) => parentSpanId)).toEqual(attempts.map(({ spanId }) => spanId));
  expect(attributesOf(models[0])).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "acme",
    "gen_ai.request.model": "one",
    "gen_ai.usage.input_tokens": "11",
    "gen_ai.usage.output_tokens": "3",
  });
  const [tool] = all.filter(({ name }) => name === "execute_tool files.read");
  expect(attributesOf(tool)).toMatchObject({ "gen_ai.tool.name": "files.read", "error.type": "TOOL_FAILED" });
  expect(new Set(all.map(({ spanId }) => spanId)).size).toBe(all.length);
  for (const { spanId, startTimeUnixNano: from, endTimeUnixNano: to } of all) {
    expect(spanId).toMatch(/^[0-9a-f]{16}$/);
    expect(BigInt(String(to)) >= BigInt(String(from))).toBe(true);
  }
  expect(JSON.stringify(all)).not.toMatch(/PLANTED-(prompt|message|output)/);
});

test("a webhook bears the run's span, and a run that nobody asked to trace has its own id as its trace", async () => {
  const { observers, tracing, spans } = await openCollector();
  const receiver = await WebhookReceiver.listen();
  const hooks = tracedWorld(observers, () => succeed(1));
  const runId = await hooks.run({ callback_url: receiver.url(), callback_headers: { traceparent: "theirs" } });
  await hooks.newest({ status: "delivered" });
  await tracing.close();
  const [run] = spans().filter(({ name }) => name === "invoke_workflow hello");
  expect(run).toMatchObject({ traceId: runId.replaceAll("-", ""), kind: 1 });
  expect(run).not.toHaveProperty("parentSpanId");
  expect(receiver.first.headers["traceparent"]).toBe(`00-${String(run?.["traceId"])}-${String(run?.["spanId"])}-01`);
});

test("with no collector a run's trace is passed on as it came, and none is made up", async () => {
  const receiver = await WebhookReceiver.listen();
  const seen: (string | undefined)[] = [];
  const hooks = new Hooks({
    plays: {
      work: ({ traceParent }) => {
        seen.push(traceParent);
        return succeed(1);
      },
    },
  });
  for (const traceparent of [TRACEPARENT, `00-${"0".repeat(32)}-${CALLER}-01`, "junk\u00e9", undefined]) {
    const headers = traceparent === undefined ? ADMIN : { ...ADMIN, traceparent };
    const runId = await hooks.run({ callback_url: receiver.url() }, headers);
    await hooks.newest({ status: "delivered", run_id: runId });
  }
  expect(seen).toEqual([TRACEPARENT, undefined, undefined, undefined]);
  expect(receiver.received.map(({ headers }) => headers["traceparent"])).toEqual([
    TRACEPARENT,
    undefined,
    undefined,
    undefined,
  ]);
});

test("each try with an idempotency key may have a trace of its own: the request is the same", async () => {
  const hooks = new Hooks();
  const send = (spanId: string) =>
    hooks.world.post(
      "/workflows/run",
      { workflow: "hello" },
      { ...ADMIN, "idempotency-key": "k", traceparent: `00-${TRACE_ID}-${spanId}-01` },
    );
  const [first, second] = [await send(CALLER), await send("b7ad6b7169203331")];
  expect([first.status, second.status]).toEqual([202, 202]);
  expect(first.headers.get("x-run-id")).toBe(second.headers.get("x-run-id"));
});

test("a collector that fails is asked again, and what it refuses is told once, without holding anything up", async () => {
  const { receiver, observers, tracing, told, spans } = await openCollector();
  receiver.replies.push(answerWith(503), answerWith(200));
  const hooks = tracedWorld(observers, () => succeed("hunter 4711"));
  await hooks.run({});
  await tracing.close();
  expect(receiver.received.map(({ body }) => body === receiver.first.body)).toEqual([true, true]);
  expect(spans().filter(({ name }) => name === "invoke_workflow hello")).toHaveLength(2);
  receiver.replies.push(answerWith(400), answerWith(401));
  for (let n = 0; n < 2; n += 1) {
    await hooks.run({});
    await tracing.close();
  }
  expect(told).toEqual(["Spans are lost: the collector answered 400."]);
  expect(receiver.received).toHaveLength(4);
});

test("every request that starts a run hands its trace on, and what is no trace counts as not sent", async () => {
  const seen: (string | undefined)[] = [];
  const hooks = new Hooks({
    plays: {
      work: (task) => {
        seen.push(task.traceParent);
        return succeed("done");
      },
    },
  });
  const headers = { ...ADMIN, traceparent: TRACEPARENT };
  const post = async (path: string, body: unknown, sent: Record<string, string> = headers) => {
    const response = await hooks.world.post(path, body, sent);
    expect(response.status, path).toBeLessThan(300);
    return (await response.json()) as { readonly data?: JsonObject };
  };
  const context = { workflowInfo: { workflowId: "hello" } };
  await post("/execute", { requestData: { source: "internal", payload: {} }, context });
  const { data } = await post("/workflows/run/sync", { workflow: "hello" });
  await post(`/runs/${data?.["run_id"]}/rerun`, { from_step: "work" });
  await post(`/runs/${data?.["run_id"]}/fork`, { from_step: "work", changes: { input: { a: 1 } } });
  const made = await post("/schedules", { workflow: "hello", cron: "0 0 1 1 *" });
  await post(`/schedules/${made.data?.["schedule_id"]}/run`, {});
  await vi.waitFor(() => expect(seen).toHaveLength(5), PATIENT);
  expect(seen).toEqual(Array(5).fill(TRACEPARENT));
  const none = { ...ADMIN, traceparent: `${TRACEPARENT}-more` };
  await post("/execute", { requestData: { source: "internal", payload: {} }, context }, none);
  expect(seen.at(-1)).toBeUndefined();
});

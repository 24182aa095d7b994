import { describe, expect, test } from "vitest";
import { agentsGraphs } from "../../../../../test/fakes/agents-graphs.ts";
import { codeOf, dataOf, keyFor } from "../../../../../test/fakes/http-answers.ts";
import { HttpWorld, type HttpWorldOptions } from "../../../../../test/fakes/http-world.ts";
import { http, input, respond, shaped, task, uhlpGraph } from "../../../../../test/fakes/uhlp-graph.ts";
import { succeed } from "../../../../../test/faults/world.ts";
import type { JsonObject } from "../../../../core/json.ts";

const RESPOND = respond(shaped("generic", input("requestId")));
const ADMIN = { "x-api-key": "configured" };

function newWorld(options: HttpWorldOptions = {}): HttpWorld {
  const hello = uhlpGraph({ name: "hello", steps: [task("work")] });
  return new HttpWorld([hello], { agent: { provider: "simulated" }, server: { api_key: "configured" }, ...options });
}

describe("an idempotency key", () => {
  const send = (world: HttpWorld, key: string, body: JsonObject, way = "") =>
    world.post(`/workflows/run${way}`, body, { ...ADMIN, "idempotency-key": key });

  test("has one run, however often its request comes", async () => {
    const world = newWorld();
    const first = await dataOf(send(world, "k", { workflow: "hello", input: { n: 1 } }));
    const again = await dataOf(send(world, "k", { workflow: "hello", input: { n: 1 } }));
    expect(again["run_id"]).toBe(first["run_id"]);
    await world.world.host.settled(String(first["run_id"]));
    const whole = await dataOf(send(world, "k", { workflow: "hello", input: { n: 1 } }, "/sync"));
    expect(whole).toMatchObject({ run_id: first["run_id"], status: "completed" });
    const sent = await dataOf(
      world.post("/workflows/run", { workflow: "hello", input: { n: 1 }, idempotency_key: "k" }, ADMIN),
    );
    expect(sent["run_id"]).toBe(first["run_id"]);
    expect(await world.world.journal.listRuns({ limit: 10 })).toHaveLength(1);
  });

  test("is a mistake with another request", async () => {
    const world = newWorld();
    await dataOf(send(world, "k", { workflow: "hello", input: { n: 1 } }));
    const other = await send(world, "k", { workflow: "hello", input: { n: 2 } });
    expect(other.status).toBe(422);
    expect(await codeOf(other)).toBe("IDEMPOTENCY_MISMATCH");
  });

  test("does not mind in which order a client writes the same request", async () => {
    const world = newWorld();
    const input = { n: 1, list: [{ a: 1, b: 2 }] };
    const first = await dataOf(send(world, "k", { workflow: "hello", input }));
    const headers = { ...ADMIN, "idempotency-key": "k" };
    const turned = '{ "input_data": {"list": [{"b": 2, "a": 1}], "n": 1}, "workflow_name": "hello" }';
    expect((await dataOf(world.post("/workflows/run", turned, headers)))["run_id"]).toBe(first["run_id"]);
    const other = turned.replace("[{", "[0, {");
    expect(await codeOf(world.post("/workflows/run", other, headers))).toBe("IDEMPOTENCY_MISMATCH");
  });

  test.each(["rerun", "replay", "fork"])("has one run of a %s as well", async (name) => {
    const world = newWorld();
    const { run_id: old } = await dataOf(world.post("/workflows/run/sync", { workflow: "hello" }, ADMIN));
    const body = { from_step: "work", ...(name === "fork" ? { changes: { timeout: 60 } } : {}) };
    const repeat = (more: JsonObject = {}) =>
      world.post(`/runs/${String(old)}/${name}`, { ...body, ...more }, { ...ADMIN, "idempotency-key": "k" });
    const first = await dataOf(repeat());
    expect(first).toMatchObject({ status: "queued", from_path: "work#1" });
    await world.world.host.settled(String(first["run_id"]));
    expect(await dataOf(repeat())).toEqual({ ...first, status: "completed" });
    expect(await dataOf(repeat({ idempotency_key: "k" }))).toEqual({ ...first, status: "completed" });
    expect(await codeOf(repeat({ definition: "pinned" }))).toBe("IDEMPOTENCY_MISMATCH");
    expect(await codeOf(send(world, "k", { workflow: "hello" }))).toBe("IDEMPOTENCY_MISMATCH");
    expect(await world.world.journal.listRuns({ limit: 10 })).toHaveLength(2);
  });

  test("is in flight while its request is being answered", async () => {
    const finish = Promise.withResolvers<void>();
    const world = newWorld({ plays: { work: () => finish.promise.then(() => succeed(1)) } });
    const first = send(world, "k", { workflow: "hello" }, "/sync");
    const second = await send(world, "k", { workflow: "hello" }, "/sync");
    expect(second.status).toBe(409);
    expect(await codeOf(second)).toBe("IDEMPOTENCY_IN_FLIGHT");
    finish.resolve();
    expect((await first).status).toBe(200);
  });

  test("claimed by a process that died before the run began has a run under the same id", async () => {
    const world = newWorld();
    const service = await world.parts.app.service();
    const body = { workflow: "hello", input: {} };
    const first = await dataOf(send(world, "other", body));
    // What the first request has left, had it died right after its claim.
    const at = world.world.clock.now();
    const claimed = await service.idempotency.find({ key: "other", at });
    await service.idempotency.claim({
      key: "k",
      requestHash: claimed?.requestHash ?? "",
      runId: "01890000-0000-7000-8000-000000000001",
      at,
    });
    const again = await dataOf(send(world, "k", body));
    expect(again["run_id"]).toBe("01890000-0000-7000-8000-000000000001");
    expect(again["run_id"]).not.toBe(first["run_id"]);
  });

  test("is forgotten after a day, and is another one for another tenant", async () => {
    const world = newWorld();
    const first = await dataOf(send(world, "k", { workflow: "hello" }));
    const a = await keyFor(world, { tenant_id: "a" }, ADMIN);
    const other = await dataOf(world.post("/workflows/run", { workflow: "hello" }, { ...a, "idempotency-key": "k" }));
    expect(other["run_id"]).not.toBe(first["run_id"]);
    await world.world.clock.advance(24 * 60 * 60 * 1_000 + 1);
    const later = await dataOf(send(world, "k", { workflow: "hello" }));
    expect(later["run_id"]).not.toBe(first["run_id"]);
  });

  test("leaves no trace where the request is refused", async () => {
    const world = newWorld();
    expect((await send(world, "k", { workflow: "helo" })).status).toBe(404);
    expect((await send(world, "k", { workflow: "hello" })).status).toBe(202);
    expect((await send(world, "k\u00e4", { workflow: "hello" })).status).toBe(400);
  });
});

const AGENTS = await agentsGraphs({ workflows: { plan: ["Weather Agent", "Planning Agent"] } });
const GATE = "name: gate\nsteps:\n  - { id: ask, type: approval, approval_config: { message: go? } }\n";

describe("at every door that starts a run, a key", () => {
  const QUEUE = { kind: "queue", queueName: "orders" } as const;
  const EVENT = { kind: "event", event: "paid" } as const;
  const payload = (n: number) => ({ source: "internal", payload: { n } });
  const DOORS: Readonly<Record<string, readonly [path: string, body: JsonObject, other: JsonObject]>> = {
    "a route": ["/order", { n: 1 }, { n: 2 }],
    "a route without keys": ["/open", { n: 1 }, { n: 2 }],
    "a request of the sandbox protocol": [
      "/execute",
      { requestId: "r", requestData: payload(1), context: { workflowInfo: { workflowId: "order" } } },
      { requestId: "r", requestData: payload(2), context: { workflowInfo: { workflowId: "order" } } },
    ],
    "a workflow of agents": ["/workflows/plan/execute", { initial_user_message: "a" }, { initial_user_message: "b" }],
    "a workflow of agents in later words": [
      "/execution/workflows/linear/plan/run",
      { initial_input: "a" },
      { initial_input: "b" },
    ],
    "a queue": ["/queues/orders/messages", { payload: 1 }, { payload: 2 }],
    "an event": ["/triggers/paid", { payload: 1 }, { payload: 2 }],
  };
  const doorWorld = (options: HttpWorldOptions = {}) =>
    new HttpWorld(
      [
        uhlpGraph({ name: "order", trigger: http("POST", "/order"), steps: [task("pay"), RESPOND] }),
        uhlpGraph({ name: "open", trigger: http("POST", "/open", "open"), steps: [task("pay"), RESPOND] }),
        uhlpGraph({ name: "queued", trigger: QUEUE, steps: [task("pay")] }),
        uhlpGraph({ name: "told", trigger: EVENT, steps: [task("pay")] }),
        ...AGENTS,
      ],
      { agent: { provider: "simulated" }, server: { api_key: "configured" }, ...options },
    );
  const count = ({ world }: HttpWorld) => world.journal.countRuns({});

  test.each(Object.entries(DOORS))("%s has one run of the same request, and refuses another", async (_door, asked) => {
    const [path, body, other] = asked;
    const world = doorWorld();
    const send = (sent: JsonObject, key = "k") => world.post(path, sent, { ...ADMIN, "idempotency-key": key });
    const first = await send(body);
    expect(first.status).toBeLessThan(300);
    const answered = await first.text();
    const again = await send(body);
    expect(again.status).toBe(first.status);
    expect(again.headers.get("x-run-id")).toBe(first.headers.get("x-run-id"));
    expect((await again.text()).replaceAll('"duplicate":true', '"duplicate":false')).toBe(answered);
    expect(await count(world)).toBe(1);
    const refused = await send(other);
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain("IDEMPOTENCY_MISMATCH");
    expect(await count(world)).toBe(1);
    expect((await send(body, "another")).status).toBe(first.status);
    expect(await count(world)).toBe(2);
    expect((await send(body, "\u00e4")).status).toBeGreaterThanOrEqual(400);
  });

  const ANSWERING = Object.entries(DOORS).filter(([door]) => door !== "a queue" && door !== "an event");
  test.each(ANSWERING)("of %s is in flight while it is being answered", async (_door, [path, body]) => {
    const finish = Promise.withResolvers<void>();
    const play = () => finish.promise.then(() => succeed(1));
    const world = doorWorld({ plays: { pay: play, jit: play, "Weather Agent": play } });
    const headers = { ...ADMIN, "idempotency-key": "k" };
    const first = world.post(path, body, headers);
    const second = await world.post(path, body, headers);
    expect(second.status).toBe(409);
    expect(await second.text()).toContain("IDEMPOTENCY_IN_FLIGHT");
    finish.resolve();
    expect((await first).status).toBe(200);
    expect(await count(world)).toBe(1);
  });

  const KEYED = Object.entries(DOORS).filter(([door]) => door !== "a route without keys");
  test.each(KEYED)("of %s is another one for another tenant", async (_door, [path, body]) => {
    const world = doorWorld();
    const statuses: number[] = [];
    for (const tenant_id of ["a", "b"]) {
      const key = await keyFor(world, { tenant_id }, ADMIN);
      statuses.push((await world.post(path, body, { ...key, "idempotency-key": "k" })).status);
    }
    // What a tenant's key may not do at a door is refused there, and starts nothing.
    expect(await count(world)).toBe(statuses.filter((status) => status < 300).length);
  });

  test("of strangers takes none away from who has a key of the server, and no answer of another stranger", async () => {
    const world = doorWorld();
    const send = (path: string, headers: Record<string, string>) =>
      world.post(path, { n: 1 }, { ...headers, "idempotency-key": "k" });
    expect((await send("/open", { cookie: "ada" })).status).toBe(200);
    expect((await send("/open", { cookie: "bob" })).status).toBe(422);
    expect((await send("/order", ADMIN)).status).toBe(200);
  });

  test("of an agent that is followed has one run, and the end of it again", async () => {
    const world = doorWorld();
    const headers = { ...ADMIN, accept: "text/event-stream", "idempotency-key": "k" };
    const follow = async (message: string) =>
      world.post("/workflows/plan/execute", { initial_user_message: message }, headers);
    const first = await (await follow("a")).text();
    const again = await (await follow("a")).text();
    const resultOf = (text: string) => /event: result\ndata: .*/.exec(text)?.[0];
    expect(resultOf(again)).toBe(resultOf(first));
    expect(resultOf(again)).toBeDefined();
    expect(await count(world)).toBe(1);
    const other = await follow("b");
    expect(other.status).toBe(422);
  });

  test("of a schedule that is run now has one run", async () => {
    const world = newWorld();
    const { schedule_id: id } = await dataOf(world.post("/schedules", { workflow: "hello", cron: "0 0 * * *" }, ADMIN));
    const run = (key: string) =>
      dataOf(world.post(`/schedules/${String(id)}/run`, {}, { ...ADMIN, "idempotency-key": key }));
    const first = await run("k");
    expect((await run("k"))["run_id"]).toBe(first["run_id"]);
    await world.world.clock.advance(1);
    expect((await run("other"))["run_id"]).not.toBe(first["run_id"]);
    expect(await count(world)).toBe(2);
  });

  test("of a signal is received once, and is a mistake with another payload", async () => {
    const world = newWorld();
    const { run_id: id } = await dataOf(world.post("/workflows/run", { workflow: GATE }, ADMIN));
    const signal = (payload: number, key = "k") =>
      world.post(`/runs/${String(id)}/signals`, { name: "elsewhere", payload }, { ...ADMIN, "idempotency-key": key });
    await dataOf(signal(1));
    await dataOf(signal(1));
    expect(await codeOf(signal(2))).toBe("IDEMPOTENCY_MISMATCH");
    await dataOf(signal(1, "other"));
    const record = await world.world.journal.findRun(String(id));
    if (record === undefined || record === "ambiguous") throw new Error("There is no run.");
    const events = await world.world.journal.readEvents(record.no, { afterSeq: 0, limit: 100 });
    expect(events.filter(({ event }) => event.type === "signalReceived")).toHaveLength(2);
  });
});

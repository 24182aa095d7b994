import { describe, expect, test, vi } from "vitest";
import { HttpWorld, type HttpWorldOptions } from "../../../../test/fakes/http-world.ts";
import { input, literal, respond, task, uhlpGraph } from "../../../../test/fakes/uhlp-graph.ts";
import { compileFile, ROOT } from "../../../../test/support/fixtures.ts";
import type { Expr } from "../../../core/expressions/expr.ts";
import type { Graph, Trigger, Wait } from "../../../core/graph/graph.ts";
import type { Json, JsonObject } from "../../../core/json.ts";

const paid: Expr = { op: "path", root: "steps", name: "wait", path: ["output", "sum"] };

/** Waits for the payment of the order that it is started with. */
function waiting(of: Partial<Extract<Wait, { for: "event" }>> = {}, trigger?: Trigger): Graph {
  const match = { order_id: input("order_id") };
  return uhlpGraph({
    name: "order",
    ...(trigger && { trigger }),
    steps: [
      {
        id: "wait",
        kind: "wait",
        wait: { for: "event", name: literal("paid"), match, ...of },
        transitions: [{ on: "success", to: "respond" }],
      },
      respond(paid),
    ],
  });
}

async function send(world: HttpWorld, body: unknown, headers: Record<string, string> = {}) {
  const response = await world.post("/triggers/paid", body, headers);
  const { data, error } = (await response.json()) as { data: JsonObject | null; error: JsonObject | null };
  return { status: response.status, error, waiting: null as JsonObject | null, ...data };
}

const start = (world: HttpWorld, order_id: Json, more: { tenantId?: string } = {}, graph = waiting()) =>
  world.world.run(graph, { order_id }, more);

const statusOf = async (world: HttpWorld, id: string) => (await world.world.host.settled(id)).status;

const received = async (world: HttpWorld, id: string) =>
  (await world.world.typesOf(id)).filter((type) => type === "signalReceived").length;

function newWorld(options: HttpWorldOptions = {}, graph = waiting()): HttpWorld {
  return new HttpWorld([graph], options);
}

describe("an event that a run waits for by its fields", () => {
  test("goes to this run, of whatever workflow, as its payload alone or in an envelope", async () => {
    const world = newWorld();
    const [seven, eight] = [await start(world, 7), await start(world, "8")];
    expect(await send(world, { order_id: 7, sum: 5 })).toMatchObject({
      status: 202,
      runs: [],
      waiting: { run_id: seven.id },
    });
    expect(await statusOf(world, seven.id)).toBe("completed");
    expect(await statusOf(world, eight.id)).toBe("waiting");
    expect(await send(world, { payload: { order_id: "8" } })).toMatchObject({ waiting: { run_id: eight.id } });
    expect(world.world.defects).toEqual([]);
  });

  test("is kept for the run that waits later, and gone after its time", async () => {
    const world = newWorld();
    const sent = await send(world, { order_id: 7, sum: 5 });
    expect(sent).toMatchObject({ waiting: { run_id: null, kept_until: "2026-01-03T00:00:00.000Z" } });
    await send(world, { order_id: 8 });
    expect((await start(world, 7)).status).toBe("completed");
    await world.world.clock.advance(86_400_000);
    expect((await start(world, 8)).status).toBe("waiting");
  });

  test("is one of a batch that is full, or that nothing is added to for a while", async () => {
    const { graphs } = await compileFile(`${ROOT}examples/uhlp/batch.yaml`);
    const [graph] = graphs;
    if (graph === undefined) throw new Error("The example is no workflow.");
    const world = new HttpWorld([graph]);
    const order = async (number: number) => {
      const { status } = await world.post("/triggers/order", { shop: "north", number });
      expect(status).toBe(202);
    };
    const batchOf = (from: number, to: number) => {
      const numbers = Array.from({ length: to - from + 1 }, (_, index) => from + index);
      return { data: { orders: numbers.map((number) => ({ shop: "north", number })) } };
    };
    for (let number = 1; number <= 102; number += 1) await order(number);
    const full = await world.world.run(graph);
    expect(await world.world.outputOf(full.id, "deal#1")).toMatchObject(batchOf(1, 100));
    const next = await world.world.run(graph);
    expect(next.status).toBe("waiting");
    await order(103);
    await world.world.clock.advance(10_000);
    expect(await statusOf(world, next.id)).toBe("completed");
    expect(await world.world.outputOf(next.id, "deal#1")).toMatchObject(batchOf(101, 103));
    expect(world.world.defects).toEqual([]);
  });

  test("is not another tenant's", async () => {
    const world = newWorld({ server: { api_key: "configured" } });
    const headers = { "x-api-key": "configured" };
    const keyOf = async (tenant: string) => {
      const response = await world.post("/keys", { name: tenant, scopes: ["run"], tenant_id: tenant }, headers);
      return { "x-api-key": ((await response.json()) as { data: { key: string } }).data.key };
    };
    const [a, b] = [await keyOf("a"), await keyOf("b")];
    const run = await start(world, 7, { tenantId: "a" });
    expect(await send(world, { order_id: 7 }, b)).toMatchObject({ waiting: { run_id: null } });
    expect(await send(world, { order_id: 7 }, headers)).toMatchObject({ waiting: { run_id: null } });
    expect(await statusOf(world, run.id)).toBe("waiting");
    expect(await send(world, { order_id: 7 }, a)).toMatchObject({ waiting: { run_id: run.id } });
    expect((await start(world, 7, { tenantId: "b" })).status).toBe("completed");
  });

  test("is given once, however often it is sent, and the second one to the second run", async () => {
    const world = newWorld();
    const first = await start(world, 7);
    world.world.clock.jump(1);
    const second = await start(world, 7);
    const one = { messageId: "1", payload: { order_id: 7 } };
    for (const _ of [1, 2, 3]) expect(await send(world, one)).toMatchObject({ waiting: { run_id: first.id } });
    expect(await statusOf(world, second.id)).toBe("waiting");
    const all = await Promise.all([2, 3, 4].map((n) => send(world, { ...one, messageId: String(n) })));
    expect(all.filter(({ waiting: given }) => given?.["run_id"] === second.id)).toHaveLength(1);
    expect([await received(world, first.id), await received(world, second.id)]).toEqual([1, 1]);
  });

  test("passes runs by that have ended or do not wait any more", async () => {
    const world = newWorld();
    const [cancelled, late] = [await start(world, 7), await start(world, 7, {}, waiting({ timeoutMs: 1_000 }))];
    const third = await start(world, 7);
    await world.world.host.request(cancelled.id, { type: "cancel" });
    await world.world.clock.advance(2_000);
    await vi.waitFor(async () => expect(await statusOf(world, late.id)).toBe("failed"));
    expect(await send(world, { order_id: 7 })).toMatchObject({ waiting: { run_id: third.id } });
  });

  test("also starts what it triggers", async () => {
    const trigger = { kind: "event", event: "paid" } as const;
    const world = new HttpWorld([waiting(), uhlpGraph({ name: "books", trigger, steps: [task("book")] })]);
    const run = await start(world, 7);
    const sent = await send(world, { order_id: 7 });
    expect(sent).toMatchObject({ runs: [{ workflow: "books" }], waiting: { run_id: run.id } });
    // Without the fields it only starts.
    expect(await send(world, { payload: { other: 7 } })).toMatchObject({ waiting: null });
  });

  test("is refused where it cannot be what somebody waits for, or is too large", async () => {
    const world = newWorld();
    expect(await send(world, { order: 7 })).toMatchObject({
      status: 400,
      error: { code: "EVENT_UNMATCHED", message: expect.stringContaining("`order_id`") },
    });
    for (const order_id of [null, { deep: 7 }, [7], "x".repeat(1_000)])
      expect((await send(world, { order_id })).error).toMatchObject({ code: "EVENT_UNMATCHED" });
    expect((await send(world, { order_id: 7, text: "x".repeat(70_000) })).error).toMatchObject({
      code: "BODY_TOO_LARGE",
    });
    expect((await send(world, { messageId: "1", order_id: 7 })).error).toMatchObject({ code: "REQUEST_INVALID" });
    expect(await (await world.post("/triggers/other", { order_id: 7 })).json()).toMatchObject({
      error: { code: "EVENT_UNKNOWN" },
    });
  });

  test("is found by fields within its payload, and by all that are named", async () => {
    const match = { "order.id": input("order_id"), "toString.x": literal(true) };
    const world = newWorld({}, waiting({ match }));
    const run = await start(world, 7, {}, waiting({ match }));
    expect((await send(world, { order: { id: 7 } })).error).toMatchObject({ code: "EVENT_UNMATCHED" });
    expect(await send(world, { order: { id: 7 }, toString: { x: true } })).toMatchObject({
      waiting: { run_id: run.id },
    });
  });

  test("fails the step that has nothing to know it by", async () => {
    const world = newWorld();
    expect(await start(world, null)).toMatchObject({ status: "failed", error: { code: "WAIT_INVALID" } });
  });
});

import { describe, expect, test } from "vitest";
import { codeOf, dataOf, keyFor } from "../../../../../test/fakes/http-answers.ts";
import { HttpWorld, type HttpWorldOptions } from "../../../../../test/fakes/http-world.ts";
import { task, uhlpGraph } from "../../../../../test/fakes/uhlp-graph.ts";
import { succeed } from "../../../../../test/faults/world.ts";
import type { JsonObject } from "../../../../core/json.ts";

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

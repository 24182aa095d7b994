import { describe, expect, test } from "vitest";
import { agentTask, toGraph } from "../../../../../test/fakes/direct-graph.ts";
import { dataOf } from "../../../../../test/fakes/http-answers.ts";
import { HttpWorld, type HttpWorldOptions } from "../../../../../test/fakes/http-world.ts";
import { spends } from "../../../../../test/faults/world.ts";
import type { Graph } from "../../../../core/graph/graph.ts";
import type { JsonObject } from "../../../../core/json.ts";

const CHAIN = toGraph([agentTask("a"), { ...agentTask("b"), after: ["a"] }, { ...agentTask("c"), after: ["b"] }]);
const OTHER = { ...CHAIN, name: "other" };
const WIDE = {
  ...toGraph([
    { ...agentTask("a"), each: { list: { op: "literal", value: [1, 2, 3, 4, 5, 6, 7, 8] }, maxConcurrent: 8 } },
  ]),
  name: "wide",
};

const costs = (usd: number) => spends(usd * 1_000_000, { usage: { input_tokens: 60, output_tokens: 40 } });

function newWorld(options: HttpWorldOptions = {}, graphs: readonly Graph[] = [CHAIN, OTHER, WIDE]): HttpWorld {
  const plays = { a: costs(1), b: costs(1), c: costs(1) };
  return new HttpWorld(graphs, { agent: { provider: "simulated" }, plays, ...options });
}

const run = (world: HttpWorld, body: JsonObject = {}) =>
  dataOf(world.post("/workflows/run/sync", { workflow: "test", ...body }));

async function usesOf(world: HttpWorld, id: unknown): Promise<unknown> {
  return (await dataOf(world.request(`/budgets/${String(id)}`)))["uses"];
}

async function answerOnly(world: HttpWorld, verb: string, body: JsonObject = {}): Promise<Response> {
  const { items } = (await dataOf(world.request("/approvals"))) as { readonly items: readonly JsonObject[] };
  expect(items).toHaveLength(1);
  return world.post(`/approvals/${encodeURIComponent(String(items[0]?.["approval_id"]))}/${verb}`, body);
}

describe("a budget that runs share", () => {
  test("is set, listed, shown, changed and removed", async () => {
    const world = newWorld();
    const set = await dataOf(world.post("/budgets", { workflow: "test", max_cost_usd: 5 }));
    expect(set).toMatchObject({
      workflow: "test",
      tenant_id: null,
      per: "day",
      on_exceeded: "stop",
      day: "2026-01-02",
    });
    const again = await dataOf(world.post("/budgets", { workflow: "test", max_tokens: 10, on_exceeded: "ask" }));
    expect(again).toMatchObject({
      budget_id: set["budget_id"],
      on_exceeded: "ask",
      uses: [{ of: "tokens", limit: 10 }],
    });
    expect(await dataOf(world.request("/budgets"))).toMatchObject({ items: [{ budget_id: set["budget_id"] }] });
    await dataOf(world.request(`/budgets/${String(set["budget_id"])}`, { method: "DELETE" }));
    expect((await world.request(`/budgets/${String(set["budget_id"])}`)).status).toBe(404);
    expect((await world.post("/budgets", { workflow: "test" })).status).toBe(400);
  });

  test("binds the runs of its workflow one after another, and refuses one for which nothing is left", async () => {
    const world = newWorld();
    const { budget_id: id } = await dataOf(world.post("/budgets", { workflow: "test", max_cost_usd: 4 }));
    expect(await run(world)).toMatchObject({ status: "completed" });
    expect(await usesOf(world, id)).toEqual([{ of: "cost_usd", limit: 4, raised_by: 0, used: 3, is: "ok" }]);
    expect(await run(world)).toMatchObject({
      status: "budget_exceeded",
      total_cost_usd: 1,
      error: { code: "BUDGET_EXCEEDED", message: expect.stringContaining("$4.0000 of $4.0000") },
    });
    expect(await run(world, { workflow: "other" })).toMatchObject({ status: "completed" });
    const refused = await world.post("/workflows/run", { workflow: "test" });
    expect(refused.status).toBe(402);
    expect(await usesOf(world, id)).toMatchObject([{ used: 4, is: "used_up" }]);
  });

  test("begins anew with each day in UTC", async () => {
    const world = newWorld();
    const { budget_id: id } = await dataOf(world.post("/budgets", { max_steps: 4 }));
    expect(await run(world)).toMatchObject({ status: "completed" });
    expect(await run(world)).toMatchObject({ status: "budget_exceeded" });
    await world.world.clock.advance(24 * 60 * 60 * 1_000);
    expect(await run(world)).toMatchObject({ status: "completed" });
    expect(await usesOf(world, id)).toMatchObject([{ of: "steps", used: 3 }]);
  });

  test("is never spent twice by runs at the same time", async () => {
    const world = newWorld({ plays: { a: costs(0.3) } });
    const { budget_id: id } = await dataOf(world.post("/budgets", { max_cost_usd: 1, per: "total" }));
    const runs = await Promise.all(Array.from({ length: 5 }, () => run(world, { workflow: "wide" })));
    expect(runs.every(({ status }) => status === "budget_exceeded")).toBe(true);
    const spent = runs.reduce((sum, { total_cost_usd: usd }) => sum + Number(usd), 0);
    expect(spent).toBeCloseTo(0.9, 9);
    expect(await usesOf(world, id)).toMatchObject([{ limit: 1, used: 0.9 }]);
  });

  test("of a tenant counts the tenant's runs alone, who can see it and not change it", async () => {
    const world = newWorld({ server: { api_key: "configured" } });
    const admin = { "x-api-key": "configured" };
    const keyOf = async (tenant: string) => {
      const { key } = await dataOf(world.post("/keys", { name: tenant, tenant_id: tenant, scopes: ["admin"] }, admin));
      return { "x-api-key": String(key) };
    };
    const [a, b] = [await keyOf("a"), await keyOf("b")];
    const { budget_id: id } = await dataOf(world.post("/budgets", { tenant_id: "a", max_steps: 2 }, admin));
    const body = { workflow: "test" };
    expect(await dataOf(world.post("/workflows/run/sync", body, a))).toMatchObject({ status: "budget_exceeded" });
    expect(await dataOf(world.post("/workflows/run/sync", body, b))).toMatchObject({ status: "completed" });
    const path = `/budgets/${String(id)}`;
    expect(await dataOf(world.request(path, { headers: a }))).toMatchObject({ uses: [{ used: 2 }] });
    expect((await world.request(path, { headers: b })).status).toBe(404);
    expect((await world.request(path, { headers: a, method: "DELETE" })).status).toBe(403);
    expect((await world.post("/budgets", { max_steps: 9 }, a)).status).toBe(403);
  });

  test("that asks lets the run wait for a person, who raises it, and it goes on", async () => {
    const world = newWorld();
    const { budget_id: id } = await dataOf(world.post("/budgets", { max_cost_usd: 2, on_exceeded: "ask" }));
    const parked = await run(world);
    expect(parked).toMatchObject({ status: "awaiting_approval" });
    const { items } = (await dataOf(world.request("/approvals"))) as { readonly items: readonly JsonObject[] };
    expect(items).toMatchObject([
      {
        path: "c",
        message: expect.stringContaining("$2.0000 of $2.0000. Raise it by $2.0000 and go on?"),
        shown: { limit: { cost_usd: 2 }, used: { cost_usd: 2 }, raise_by: { cost_usd: 2 } },
      },
    ]);
    expect((await answerOnly(world, "approve", { edited_data: { euros: 1 } })).status).toBe(400);
    await dataOf(answerOnly(world, "approve", { edited_data: { cost_usd: 5 } }));
    await world.world.host.settled(String(parked["run_id"]));
    expect(await dataOf(world.request(`/runs/${String(parked["run_id"])}`))).toMatchObject({ status: "completed" });
    expect(await usesOf(world, id)).toEqual([{ of: "cost_usd", limit: 7, raised_by: 5, used: 3, is: "ok" }]);
  });

  test("that asks does so before it spends the rest on a try that has needed more before", async () => {
    const world = newWorld();
    await dataOf(world.post("/budgets", { max_cost_usd: 4.5, on_exceeded: "ask" }));
    expect(await run(world)).toMatchObject({ status: "completed" });
    const parked = await run(world);
    expect(parked).toMatchObject({ status: "awaiting_approval" });
    const { items } = (await dataOf(world.request("/approvals"))) as { readonly items: readonly JsonObject[] };
    const message = expect.stringContaining(
      "too little for another try: $4.0000 of $4.5000, and the next call may cost $1.0000.",
    );
    expect(items).toMatchObject([{ path: "b", message, shown: { used: { cost_usd: 4 } } }]);
    await dataOf(answerOnly(world, "approve"));
    await world.world.host.settled(String(parked["run_id"]));
    expect(await dataOf(world.request(`/runs/${String(parked["run_id"])}`))).toMatchObject({ status: "completed" });
  });

  test("is not asked for what a rerun takes over, only for what it does again", async () => {
    const world = newWorld();
    const { budget_id: id } = await dataOf(
      world.post("/budgets", { max_cost_usd: 3, max_steps: 3, on_exceeded: "ask" }),
    );
    const { run_id: old } = await run(world);
    expect(await usesOf(world, id)).toMatchObject([{ is: "used_up" }, { is: "used_up" }]);
    const { run_id: again } = await dataOf(world.post(`/runs/${String(old)}/rerun`, { from_step: "c" }));
    await expect
      .poll(async () => (await dataOf(world.request("/approvals")))["items"])
      .toMatchObject([{ run_id: again, path: "c" }]);
    await dataOf(answerOnly(world, "approve"));
    await world.world.host.settled(String(again));
    expect(await dataOf(world.request(`/runs/${String(again)}`))).toMatchObject({ status: "completed" });
    expect(await usesOf(world, id)).toMatchObject([
      { of: "cost_usd", used: 4 },
      { of: "steps", used: 4 },
    ]);
  });

  test("is asked for a step of a fork that is done again since its input has changed", async () => {
    const read = agentTask("a", { topic: { op: "path", root: "input", path: ["topic"] } });
    const world = newWorld({}, [toGraph([read, agentTask("b"), { ...agentTask("c"), after: ["a", "b"] }])]);
    const { budget_id: id } = await dataOf(world.post("/budgets", { max_steps: 3, on_exceeded: "ask" }));
    const { run_id: old } = await run(world, { input: { topic: "x" } });
    const fork = { from_step: "c", changes: { input: { topic: "y" } } };
    const { run_id: forked } = await dataOf(world.post(`/runs/${String(old)}/fork`, fork));
    await expect
      .poll(async () => (await dataOf(world.request("/approvals")))["items"])
      .toMatchObject([{ run_id: forked, path: "a" }]);
    await dataOf(answerOnly(world, "approve"));
    await world.world.host.settled(String(forked));
    expect(world.world.calls.map(({ path }) => path)).toEqual(["a", "b", "c", "a", "c"]);
    expect(await usesOf(world, id)).toMatchObject([{ of: "steps", used: 5 }]);
  });

  test("is one for a run and all that it calls, counted to the workflow that was started", async () => {
    const step = (id: string, after: readonly string[]) =>
      ({
        id,
        after,
        kind: "call",
        workflow: { op: "literal", value: "child" },
        input: { op: "object", entries: {} },
      }) as const;
    const parent = { ...toGraph([step("x", []), step("y", ["x"])]), name: "parent" };
    const world = new HttpWorld([parent], {
      agent: { provider: "simulated" },
      callable: { child: { ...CHAIN, name: "child" } },
      plays: { a: costs(1), b: costs(1), c: costs(1) },
    });
    const { budget_id: id } = await dataOf(world.post("/budgets", { workflow: "parent", max_cost_usd: 4 }));
    await dataOf(world.post("/budgets", { workflow: "child", max_cost_usd: 1 }));
    expect(await run(world, { workflow: "parent" })).toMatchObject({ status: "budget_exceeded", total_cost_usd: 4 });
    expect(await usesOf(world, id)).toMatchObject([{ used: 4 }]);
  });

  test("tells at 80 % once, on the run's stream and to its webhook", async () => {
    const world = newWorld();
    await dataOf(world.post("/budgets", { max_tokens: 250, webhook: "https://example.com/told" }));
    const done = await run(world);
    expect(await world.world.typesOf(String(done["run_id"]))).toContain("limitNeared");
    const stream = await (await world.request(`/runs/${String(done["run_id"])}/stream`)).text();
    expect(stream.match(/event: limit\n/g)).toHaveLength(1);
    const outbox = await world.world.journal.readOutbox({ kind: "webhook", limit: 10 });
    expect(outbox.map(({ body }) => JSON.parse(body))).toMatchObject([
      { event: "budget.warning", url: "https://example.com/told", of: "tokens", limit: 250, used: 200 },
    ]);
  });
});

describe("limits of one run that ask", () => {
  test("are raised by as much again where nobody says how much, and the run goes on", async () => {
    const world = newWorld();
    const parked = await run(world, { limits: { max_steps: 1, on_exceeded: "ask" } });
    expect(parked).toMatchObject({ status: "awaiting_approval", limits: [{ of: "steps", limit: 1, used: 1 }] });
    await dataOf(answerOnly(world, "approve"));
    await world.world.host.settled(String(parked["run_id"]));
    await dataOf(answerOnly(world, "approve"));
    await world.world.host.settled(String(parked["run_id"]));
    expect(await dataOf(world.request(`/runs/${String(parked["run_id"])}`))).toMatchObject({
      status: "completed",
      limits: [{ of: "steps", limit: 3, used: 3 }],
    });
  });

  test("stop the run where a person says no", async () => {
    const world = newWorld();
    const parked = await run(world, { limits: { max_cost_usd: 1, on_exceeded: "ask" } });
    await dataOf(answerOnly(world, "reject", { comment: "too dear" }));
    await world.world.host.settled(String(parked["run_id"]));
    expect(await dataOf(world.request(`/runs/${String(parked["run_id"])}`))).toMatchObject({
      status: "budget_exceeded",
      error: { code: "BUDGET_EXCEEDED", message: expect.stringContaining("too dear") },
    });
  });

  test("ask once, however many items wait", async () => {
    const world = newWorld({ plays: { a: costs(0.1) } });
    const parked = await run(world, { workflow: "wide", limits: { max_steps: 3, on_exceeded: "ask" } });
    expect(parked).toMatchObject({ status: "awaiting_approval" });
    await dataOf(answerOnly(world, "approve", { edited_data: { steps: 100 } }));
    await world.world.host.settled(String(parked["run_id"]));
    expect(await dataOf(world.request(`/runs/${String(parked["run_id"])}`))).toMatchObject({ status: "completed" });
    expect(world.world.calls).toHaveLength(8);
  });
});

import { expect, test, vi } from "vitest";
import { dataOf } from "../../../../../test/fakes/http-answers.ts";
import { HttpWorld } from "../../../../../test/fakes/http-world.ts";
import { task, uhlpGraph } from "../../../../../test/fakes/uhlp-graph.ts";
import { fail } from "../../../../../test/faults/world.ts";
import type { JsonObject } from "../../../../core/json.ts";

const ADMIN = { "x-api-key": "configured" };
const GATE = 'name: gate\nsteps:\n  - {id: ask, type: approval, approval_config: {message: "Go on?"}}\n';
const FLAKY = 'name: flaky\nsteps:\n  - {id: flaky, prompt: "Try", retry: {max_attempts: 2, backoff: fixed}}\n';

async function withRuns(): Promise<HttpWorld> {
  const world = new HttpWorld([uhlpGraph({ name: "hello", steps: [task("work")] })], {
    agent: { provider: "simulated" },
    server: { api_key: "configured" },
    plays: { flaky: () => fail("AGENT_IDLE", { retryable: true }) },
  });
  world.parts.app.isDriven = async () => true;
  for (const workflow of ["hello", "hello", GATE]) await world.post("/workflows/run/sync", { workflow }, ADMIN);
  await world.post("/workflows/run", { workflow: FLAKY }, ADMIN);
  await vi.waitFor(async () => expect((await counts(world))["by_status"]).toMatchObject({ retrying: 1 }));
  return world;
}

async function counts(world: HttpWorld, query = "", headers: Record<string, string> = ADMIN): Promise<JsonObject> {
  return dataOf(world.request(`/runs/counts${query}`, { headers }));
}

test("runs are counted by status, whatever becomes of them later", async () => {
  const world = await withRuns();
  expect(await counts(world)).toEqual({
    total: 4,
    by_status: {
      queued: 0,
      running: 1,
      waiting: 0,
      awaiting_approval: 1,
      completed: 2,
      partial: 0,
      failed: 0,
      cancelled: 0,
      budget_exceeded: 0,
      retrying: 1,
    },
    not_driven: 0,
    held: 0,
    asking: 1,
  });
});

test("they are counted among those that a list would show", async () => {
  const world = await withRuns();
  const totals = async (query: string) => {
    const { items } = await dataOf(world.request(`/runs${query}`, { headers: ADMIN }));
    return [(await counts(world, query))["total"], (items as readonly unknown[]).length];
  };
  expect(await totals("?workflow=hello")).toEqual([2, 2]);
  expect(await totals("?q=gat")).toEqual([1, 1]);
  expect(await totals("?until=2000-01-01")).toEqual([0, 0]);
  expect(await totals("?dialect=sandcastle")).toEqual([2, 2]);
  expect(await totals("?asking=true")).toEqual([1, 1]);
  expect(await totals("?held=true")).toEqual([0, 0]);
  expect(await totals("?not_driven=true")).toEqual([0, 0]);
  expect(await totals("?tenant=t")).toEqual([0, 0]);
  expect((await world.request("/runs/counts?status=failed", { headers: ADMIN })).status).toBe(400);
});

test("a run that nobody drives is counted and found as such", async () => {
  const world = await withRuns();
  world.parts.app.isDriven = async () => false;
  expect(await counts(world)).toMatchObject({ total: 4, not_driven: 1 });
  const { items } = await dataOf(world.request("/runs?not_driven=true", { headers: ADMIN }));
  expect(items).toMatchObject([{ workflow_name: "flaky", not_driven: true }]);
  expect(await counts(world, "?not_driven=true")).toMatchObject({ total: 1, by_status: { running: 1, completed: 0 } });
});

test("a tenant counts its own", async () => {
  const world = await withRuns();
  const made = await dataOf(world.post("/keys", { name: "t", scopes: ["run"], tenant_id: "t" }, ADMIN));
  const tenant = { "x-api-key": String(made["key"]) };
  await world.post("/workflows/run/sync", { workflow: "hello" }, tenant);
  expect(await counts(world, "", tenant)).toMatchObject({ total: 1, by_status: { completed: 1, retrying: 0 } });
  expect(await counts(world, "?tenant=t")).toMatchObject({ total: 1 });
});

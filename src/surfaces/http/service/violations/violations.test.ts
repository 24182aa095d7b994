import { expect, test } from "vitest";
import { agentTask, toGraph } from "../../../../../test/fakes/direct-graph.ts";
import { HttpWorld } from "../../../../../test/fakes/http-world.ts";
import { succeed } from "../../../../../test/faults/world.ts";
import type { JsonObject } from "../../../../core/json.ts";

const ADMIN = { "x-api-key": "configured" };

function newWorld(): HttpWorld {
  const policies = [
    { id: "names", when: { contains: ["ada"] }, action: "redact" },
    { id: "long", when: { lengthOver: 1 }, action: "alert" },
  ] as const;
  const graph = { ...toGraph([{ ...agentTask("a"), policies }]), name: "desk" };
  return new HttpWorld([graph], {
    agent: { provider: "simulated" },
    server: { api_key: "configured" },
    plays: { a: () => succeed("ask ada") },
    host: { findAll: () => [] },
  });
}

async function list(world: HttpWorld, query = "", headers: Record<string, string> = ADMIN) {
  const response = await world.request(`/violations${query}`, { headers });
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: { items: JsonObject[]; next_cursor: string | null } }).data;
}

test("what policies had to say is listed over all runs, page by page, and a tenant sees its own", async () => {
  const world = newWorld();
  const made = await world.post("/keys", { name: "t", scopes: ["run"], tenant_id: "acme" }, ADMIN);
  const key = { "x-api-key": String(((await made.json()) as { data: JsonObject }).data["key"]) };
  for (const headers of [ADMIN, key]) await world.post("/workflows/run/sync", { workflow: "desk" }, headers);
  const { items, next_cursor: end } = await list(world);
  expect(items).toHaveLength(4);
  expect(end).toBeNull();
  expect(items[1]).toMatchObject({
    workflow_name: "desk",
    tenant_id: "acme",
    path: "a",
    policy: "names",
    action: "redact",
    found: { text: 1 },
    why: expect.any(String),
  });
  const first = await list(world, "?limit=3");
  expect([...first.items, ...(await list(world, `?limit=3&cursor=${first.next_cursor}`)).items]).toEqual(items);
  expect((await list(world, "?policy=names&action=redact&workflow=desk")).items).toEqual([items[1], items[3]]);
  expect((await list(world, `?run=${items[3]?.["run_id"]}`)).items).toEqual(items.slice(2));
  expect((await list(world, "", key)).items).toEqual(items.slice(0, 2));
  expect((await world.request(`/violations?run=${items[3]?.["run_id"]}`, { headers: key })).status).toBe(404);
  expect((await world.request("/violations?cursor=x", { headers: ADMIN })).status).toBe(400);
  expect(JSON.stringify(items)).not.toContain("ask ada");
});

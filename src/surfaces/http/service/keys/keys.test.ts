import { describe, expect, test } from "vitest";
import { agentTask, toGraph } from "../../../../../test/fakes/direct-graph.ts";
import { codeOf, dataOf, keyFor } from "../../../../../test/fakes/http-answers.ts";
import { HttpWorld, type HttpWorldOptions } from "../../../../../test/fakes/http-world.ts";
import { task, uhlpGraph } from "../../../../../test/fakes/uhlp-graph.ts";
import { succeed } from "../../../../../test/faults/world.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { loadEndpoints } from "../endpoints.ts";

const ENDPOINTS = await loadEndpoints();

const ADMIN = { "x-api-key": "configured" };

const APPROVAL = `
name: gate
steps:
  - id: ask
    type: approval
    approval_config: { message: "Go on?" }
`;

function newWorld(options: HttpWorldOptions = {}): HttpWorld {
  const hello = uhlpGraph({ name: "hello", steps: [task("work")] });
  return new HttpWorld([hello], { agent: { provider: "simulated" }, server: { api_key: "configured" }, ...options });
}

describe("a key", () => {
  test("is shown once, opens what its scopes say, and nothing when it is revoked", async () => {
    const world = newWorld();
    const created = await dataOf(world.post("/keys", { name: "reader", scopes: ["read"] }, ADMIN));
    const reader = { "x-api-key": String(created["key"]) };
    const listed = await world.request("/keys", { headers: ADMIN });
    expect(await listed.clone().json()).toMatchObject({ data: { items: [{ name: "reader", revoked_at: null }] } });
    expect(await listed.text()).not.toContain(String(created["key"]).slice(-43));

    expect((await world.request("/runs", { headers: reader })).status).toBe(200);
    const refused = await world.post("/workflows/run", { workflow: "hello" }, reader);
    expect(refused.status).toBe(403);
    expect(await codeOf(refused)).toBe("FORBIDDEN");
    expect((await world.request("/keys", { headers: reader })).status).toBe(403);

    await world.request(`/keys/${created["key_id"]}`, { method: "DELETE", headers: ADMIN });
    expect((await world.request("/runs", { headers: reader })).status).toBe(401);
    const again = await world.request(`/keys/${created["key_id"]}`, { method: "DELETE", headers: ADMIN });
    expect(again.status).toBe(404);
  });

  test("opens nothing after its expiry, nor with another secret", async () => {
    const world = newWorld();
    const expires_at = new Date(world.world.clock.now() + 60_000).toISOString();
    const headers = await keyFor(world, { scopes: ["admin"], expires_at }, ADMIN);
    expect((await world.request("/runs", { headers })).status).toBe(200);
    const other = headers["x-api-key"]?.replace(/.$/, (last) => (last === "A" ? "B" : "A")) ?? "";
    expect((await world.request("/runs", { headers: { "x-api-key": other } })).status).toBe(401);
    await world.world.clock.advance(60_000);
    expect((await world.request("/runs", { headers })).status).toBe(401);
  });

  test("is asked for as soon as there is one, also where none is configured", async () => {
    const world = newWorld({ server: {} });
    expect((await world.request("/runs")).status).toBe(200);
    await dataOf(world.post("/keys", { name: "first", scopes: ["admin"] }));
    expect((await world.request("/runs")).status).toBe(401);
    expect((await world.request("/health")).status).toBe(200);
  });

  test("bounds what a run may cost that is started with it", async () => {
    const world = newWorld();
    const headers = await keyFor(world, { max_cost_usd: 0.5 }, ADMIN);
    for (const [asked, limit] of [
      [undefined, 500_000],
      [0.2, 200_000],
      [3, 500_000],
    ]) {
      const body = { workflow: "hello", max_cost_usd: asked };
      const { run_id: id } = await dataOf(world.post("/workflows/run/sync", body, headers));
      expect((await world.world.eventsOf(String(id)))[0]).toMatchObject({ maxCostMicro: limit });
    }
  });
  test("lowers what a definition allows, and never raises it", async () => {
    const cheap = { ...toGraph([agentTask("work")]), name: "cheap", limits: { maxCostMicro: 100_000 } };
    const world = new HttpWorld([cheap], { agent: { provider: "simulated" }, server: { api_key: "configured" } });
    for (const [allowed, asked, limit] of [
      [0.5, undefined, 100_000],
      [0.5, 0.3, 100_000],
      [0.05, 0.3, 50_000],
      [0.5, 0.02, 20_000],
    ] as const) {
      const headers = await keyFor(world, { max_cost_usd: allowed }, ADMIN);
      const body = { workflow: "cheap", max_cost_usd: asked };
      const { run_id: id } = await dataOf(world.post("/workflows/run/sync", body, headers));
      expect((await world.world.eventsOf(String(id)))[0]).toMatchObject({ maxCostMicro: limit });
    }
  });
});

/** What a route must be sent to get as far as the question whose it is. */
function bodyFor(path: string): JsonObject {
  if (path.endsWith("/signals")) return { name: "x" };
  if (path.endsWith("/keys")) return { text: "x" };
  return path.endsWith("/fork") ? { changes: { timeout: 1 } } : {};
}

describe("a tenant", () => {
  test("sees nothing of another, whatever it asks for", async () => {
    const world = newWorld({ plays: { work: () => succeed("the secret of A") } });
    const [a, b] = [
      await keyFor(world, { tenant_id: "a", scopes: ["admin"] }, ADMIN),
      await keyFor(world, { tenant_id: "b", scopes: ["admin"] }, ADMIN),
    ];
    const { run_id: done } = await dataOf(world.post("/workflows/run/sync", { workflow: "hello" }, a));
    const { run_id: open } = await dataOf(world.post("/workflows/run/sync", { workflow: APPROVAL }, a));
    const { items } = (await dataOf(world.request("/keys", { headers: a }))) as {
      readonly items: readonly JsonObject[];
    };
    const ids = [done, open, `${open}:ask`, items[0]?.["key_id"]].map((id) => String(id));
    expect(ids.every((id) => id.length > 10)).toBe(true);
    const before = await world.world.eventsOf(String(open));
    for (const { method, path, params, body } of ENDPOINTS) {
      const named = Object.keys(params.shape).length > 0 ? ids : [""];
      for (const id of named) {
        // What is put there is the tenant's own.
        if (method === "PUT") continue;
        // Has no end, and a test of its own.
        if (path === "/events") continue;
        const asked = path.replaceAll(/\{\w+\}/g, encodeURIComponent(id));
        if (path.startsWith("/workflows/run") || (path === "/keys" && method === "POST")) continue;
        const sent = body === undefined ? {} : { body: JSON.stringify(bodyFor(path)) };
        const response = await world.request(asked, { method, headers: b, ...sent });
        const text = await response.text();
        expect(text, `${method} ${asked}`).not.toContain("the secret of A");
        // Terminals are those of all tenants: no tenant is asked in, whatever it names.
        const refusal = /^\/(terminals|recordings)\//.test(path) ? 403 : 404;
        if (id !== "") expect(response.status, `${method} ${asked}`).toBe(refusal);
        else expect(text).not.toContain(String(open));
      }
    }
    expect(await world.world.eventsOf(String(open))).toEqual(before);
    const mine = await dataOf(world.request("/runs", { headers: a }));
    expect(mine["items"]).toHaveLength(2);
    expect((await dataOf(world.request("/runs", { headers: ADMIN })))["items"]).toHaveLength(2);
  });

  test("has an id that can be the name of a folder", async () => {
    const world = newWorld();
    for (const tenant of ["..", ".", "a/b", "", "a b"]) {
      expect((await world.post("/keys", { name: "x", tenant_id: tenant }, ADMIN)).status).toBe(400);
    }
  });

  test("makes keys of its own only", async () => {
    const world = newWorld();
    const admin = await keyFor(world, { tenant_id: "a", scopes: ["admin"] }, ADMIN);
    const made = await dataOf(world.post("/keys", { name: "x", tenant_id: "b" }, admin));
    expect(made).toMatchObject({ tenant_id: "a" });
  });
});

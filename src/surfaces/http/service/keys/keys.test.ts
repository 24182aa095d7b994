import { describe, expect, test } from "vitest";
import { agentTask, toGraph } from "../../../../../test/fakes/direct-graph.ts";
import { codeOf, dataOf, keyFor } from "../../../../../test/fakes/http-answers.ts";
import { HttpWorld, type HttpWorldOptions } from "../../../../../test/fakes/http-world.ts";
import { task, uhlpGraph } from "../../../../../test/fakes/uhlp-graph.ts";
import { spends, succeed } from "../../../../../test/faults/world.ts";
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
  test("hands on no more than it has: money, time and belief, said or not", async () => {
    const world = newWorld();
    const now = world.world.clock.now();
    const day = 24 * 60 * 60 * 1_000;
    const bounds = { max_cost_usd: 0.5, expires_at: new Date(now + day).toISOString() };
    const admin = await keyFor(world, { scopes: ["admin"], ...bounds }, ADMIN);
    const made = await dataOf(world.post("/keys", { name: "child", scopes: ["admin"] }, admin));
    expect(made).toMatchObject(bounds);
    const lower = { max_cost_usd: 0.1, expires_at: new Date(now + day / 2).toISOString() };
    expect(await dataOf(world.post("/keys", { name: "lower", ...lower }, admin))).toMatchObject(lower);
    for (const more of [
      { max_cost_usd: 0.51 },
      { expires_at: new Date(now + day + 1).toISOString() },
      { expires_in_days: 2 },
      { tells_context: true },
    ]) {
      for (const maker of [admin, { "x-api-key": String(made["key"]) }]) {
        const refused = await world.post("/keys", { name: "more", ...more }, maker);
        expect([refused.status, await codeOf(refused)], JSON.stringify(more)).toEqual([403, "FORBIDDEN"]);
      }
    }
  });

  test("raises no limit of a run above its own by an answer", async () => {
    const each = { list: { op: "literal", value: [1, 2, 3] }, maxConcurrent: 1 } as const;
    const graph = { ...toGraph([{ ...agentTask("a"), each }]), name: "each" };
    const world = new HttpWorld([graph], {
      plays: { a: spends(100_000) },
      agent: { provider: "simulated" },
      server: { api_key: "configured" },
    });
    const headers = await keyFor(world, { max_cost_usd: 0.25, scopes: ["run"] }, ADMIN);
    const body = { workflow: "each", limits: { on_exceeded: "ask" } };
    const { run_id: run } = await dataOf(world.post("/workflows/run/sync", body, headers));
    const path = `/approvals/${String(run)}/approve`;
    for (const sent of [{}, { edited_data: { cost_usd: 0.01 } }, { edited_data: { raise_by: { cost_usd: 5 } } }]) {
      const refused = await world.post(path, sent, headers);
      expect([refused.status, await codeOf(refused)]).toEqual([403, "FORBIDDEN"]);
    }
    await dataOf(world.post(path, { edited_data: { cost_usd: 0.5 } }, ADMIN));
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
  if (path.endsWith("/link")) return { for: "x" };
  if (path.endsWith("/login")) return { page: "http://localhost/ui/agents" };
  return path.endsWith("/fork") ? { changes: { timeout: 1 } } : {};
}

describe("a stream", () => {
  type Ask = (run: string) => readonly [string, RequestInit];
  const STREAMS: readonly (readonly [string, Ask])[] = [
    ["of a run", (run: string) => [`/runs/${run}/stream`, {}]],
    ["of all events", () => ["/events", {}]],
    [
      "of MCP",
      (run: string) => [
        "/mcp",
        {
          method: "POST",
          body: JSON.stringify({
            jsonrpc: "2.0",
            id: 1,
            method: "tools/call",
            params: {
              name: "get_run_status",
              arguments: { run_id: run, wait_seconds: 600 },
              _meta: { progressToken: 1 },
            },
          }),
        },
      ],
    ],
  ];

  test.each(STREAMS)("%s ends when its key is revoked, and when it expires", async (_, ask) => {
    const world = newWorld();
    const expires_at = new Date(world.world.clock.now() + 60_000).toISOString();
    for (const end of ["revoked", "expired"]) {
      const made = await dataOf(world.post("/keys", { name: "k", scopes: ["run"], expires_at }, ADMIN));
      const headers = {
        "x-api-key": String(made["key"]),
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
      };
      const { run_id: run } = await dataOf(world.post("/workflows/run", { workflow: APPROVAL }, headers));
      const [path, init] = ask(String(run));
      const response = await world.request(path, { ...init, headers });
      expect([response.status, response.headers.get("content-type")]).toEqual([
        200,
        expect.stringContaining("event-stream"),
      ]);
      const read = response.text();
      if (end === "revoked") await world.request(`/keys/${made["key_id"]}`, { method: "DELETE", headers: ADMIN });
      else await world.world.clock.advance(60_000);
      const text = await read;
      expect(text).not.toContain("SERVER_STOPPING");
      if (path !== "/mcp") expect(text).toContain("retry: 2000\n\n");
      if (path.startsWith("/runs")) expect(text).toContain("awaiting_approval");
    }
  });
});

describe("who has answered", () => {
  test("is on record as the key proves it, beside the way it came, and a second one is told", async () => {
    const world = newWorld();
    const made = await dataOf(world.post("/keys", { name: "alice" }, ADMIN));
    const { run_id: run } = await dataOf(world.post("/workflows/run/sync", { workflow: APPROVAL }, ADMIN));
    await dataOf(
      world.post(`/approvals/${run}:ask/approve`, { comment: "fine" }, { "x-api-key": String(made["key"]) }),
    );
    const late = await world.post(`/approvals/${run}:ask/reject`, {}, ADMIN);
    expect(await late.json()).toMatchObject({
      error: { code: "APPROVAL_CONFLICT", message: expect.stringContaining("by alice") },
    });
    const answered = (await world.world.eventsOf(String(run))).find(({ type }) => type === "approvalAnswered");
    expect(answered).toMatchObject({ by: "api", who: { name: "alice", key: made["key_id"] }, comment: "fine" });
  });

  test("is the operator where no key of its own proves it, whatever the request says", async () => {
    const world = newWorld();
    const { run_id: run } = await dataOf(world.post("/workflows/run/sync", { workflow: APPROVAL }, ADMIN));
    const claimed = await world.post(`/approvals/${run}:ask/approve`, { who: { name: "alice" } }, ADMIN);
    expect(await codeOf(claimed)).toBe("REQUEST_INVALID");
    await dataOf(world.post(`/approvals/${run}:ask/approve`, {}, ADMIN));
    const answered = (await world.world.eventsOf(String(run))).find(({ type }) => type === "approvalAnswered");
    expect(answered).not.toHaveProperty("who");
  });
});

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
        // Terminals and servers are those of all tenants: no tenant is asked in, whatever it names.
        const refusal = /^\/(terminals|recordings|mcp-servers)\//.test(path) ? 403 : 404;
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

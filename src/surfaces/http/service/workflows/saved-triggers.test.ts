import { describe, expect, test } from "vitest";
import { HttpWorld, type HttpWorldOptions } from "../../../../../test/fakes/http-world.ts";
import { http, literal, respond, uhlpGraph } from "../../../../../test/fakes/uhlp-graph.ts";
import type { Graph } from "../../../../core/graph/graph.ts";
import type { JsonObject } from "../../../../core/json.ts";

const ADMIN = { "x-api-key": "configured" };

/** Answers what it is given as `data`. */
function answers(trigger: string, data: string, name = "tidy"): string {
  return `
workflowId: ${name}
trigger: ${trigger}
startAt: a
steps:
  a: { type: control, subtype: formatResponse, resultType: httpResponse, data: ${data} }
`;
}

const route = (pathPattern: string, data = "{ body: \"'hi'\" }", name?: string) =>
  answers(`{ type: http, config: { pathPattern: "${pathPattern}", method: get, auth: open } }`, data, name);
const queue = (name?: string) => answers("{ type: queue, config: { queueName: orders } }", "{ body: \"'hi'\" }", name);

function newWorld(graphs: readonly Graph[] = [], options: HttpWorldOptions = {}): HttpWorld {
  return new HttpWorld(graphs, { ...options, server: { api_key: "configured", ...options.server } });
}

async function send(world: HttpWorld, method: string, path: string, body?: JsonObject, headers: object = ADMIN) {
  const response = await world.request(path, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { data, error } = (await response.json()) as { readonly data: JsonObject; readonly error: JsonObject | null };
  return { status: response.status, data, error };
}

const save = (world: HttpWorld, text: string, headers: object = ADMIN) =>
  send(world, "POST", "/workflows", { text }, headers);

async function keyFor(world: HttpWorld, wanted: JsonObject) {
  const { data } = await send(world, "POST", "/keys", { name: "test", scopes: ["write"], ...wanted });
  return { "x-api-key": String(data["key"]) };
}

/** Without a key, as anybody asks. */
async function ask(world: HttpWorld, path: string, headers: Record<string, string> = {}) {
  const response = await world.request(path, { headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const runsOf = ({ world }: HttpWorld) => world.journal.listRuns({ limit: 99 });

describe("a route of a definition that was saved", () => {
  test("is served at once, follows the newest version, and ends with the definition", async () => {
    const world = newWorld();
    expect(await save(world, route("/api/tidy"))).toMatchObject({ status: 201, data: { problems: [] } });
    expect(await ask(world, "/api/tidy")).toMatchObject({ status: 200, text: "hi" });
    await save(world, route("/api/tidy/{what}", "{ body: trigger.requestData.httpDetails.pathParameters.what }"));
    expect(await ask(world, "/api/tidy")).toMatchObject({ status: 404 });
    expect(await ask(world, "/api/tidy/shelf")).toMatchObject({ status: 200, text: "shelf" });
    await send(world, "DELETE", "/workflows/tidy");
    expect(await ask(world, "/api/tidy/shelf")).toMatchObject({ status: 404 });
  });

  test("is served again by the next server, whatever version of the program has saved it", async () => {
    const world = newWorld();
    const { definitions } = await world.parts.app.service();
    await definitions.save({ name: "tidy", text: route("/api/tidy"), at: 0, startsBy: "http" });
    expect(await ask(world, "/api/tidy")).toMatchObject({ status: 200 });
  });

  test("stays within what the key that saved it may spend", async () => {
    const world = newWorld();
    const poor = await keyFor(world, { max_cost_usd: 0.5 });
    await save(world, route("/api/tidy"), poor);
    await ask(world, "/api/tidy");
    const [run] = await runsOf(world);
    expect((await world.world.eventsOf(run?.id ?? ""))[0]).toMatchObject({ maxCostMicro: 500_000 });
  });

  test("is refused where a file answers the same requests, with both places", async () => {
    const file = uhlpGraph({ name: "mine", trigger: http("GET", "/api/{x}"), steps: [respond(literal("mine"))] });
    const world = newWorld([file]);
    expect(await save(world, route("/api/{id}/"))).toMatchObject({
      status: 409,
      error: {
        code: "ROUTE_AMBIGUOUS",
        message: expect.stringMatching(/^tidy \(saved, version 1\):3:.*the workflow at workflows\/mine.yaml already/),
      },
    });
    expect(await send(world, "GET", "/workflows/tidy")).toMatchObject({ status: 404 });
  });

  test("is refused where another saved one answers the same requests, and where it is the service's", async () => {
    const world = newWorld();
    await save(world, route("/api/it", undefined, "first"));
    expect(await save(world, route("/api/it", undefined, "second"))).toMatchObject({
      status: 409,
      error: { code: "ROUTE_AMBIGUOUS", message: expect.stringContaining("first (saved, version 1):3:") },
    });
    for (const path of ["/runs/{id}", "/api/workflows/run", "/tenant-routes/a/x"]) {
      expect(await save(world, route(path, undefined, "third"))).toMatchObject({
        status: 400,
        error: { code: "ROUTE_RESERVED" },
      });
    }
    expect(await save(world, route("/a/../b"))).toMatchObject({ status: 400, error: { code: "DEFINITION_INVALID" } });
  });

  test("gives way to a file that comes later, and says so", async () => {
    const file = uhlpGraph({
      name: "mine",
      trigger: http("GET", "/api/it", "open"),
      steps: [respond(literal("mine"))],
    });
    const world = newWorld([file]);
    const { definitions } = await world.parts.app.service();
    await definitions.save({ name: "tidy", text: route("/api/it"), at: 0, startsBy: "http" });
    expect(await ask(world, "/api/it")).toMatchObject({ status: 200, text: '"mine"' });
    const warned = [{ code: "ROUTE_AMBIGUOUS", severity: "warning", message: expect.stringContaining("mine.yaml") }];
    expect((await send(world, "GET", "/workflows/tidy")).data["problems"]).toMatchObject(warned);
  });

  test("is told nothing of who asks but the request", async () => {
    const world = newWorld([], {
      server: { context: { configuration: { token: "t" }, headers: { "userInfo.id": "x-user" } } },
    });
    await save(world, route("/api/it", "{ body: context }"));
    const { text } = await ask(world, "/api/it", { "x-user": "ada" });
    expect(Object.keys(JSON.parse(text))).toEqual(["workflowInfo"]);
  });
});

describe("a route of what a tenant has saved", () => {
  const headersOfIt = "{ body: trigger.requestData.httpDetails.headers, headers: { Set-Cookie: \"'a=b'\" } }";

  test("is below the tenant's own path only, and its runs are the tenant's", async () => {
    const file = uhlpGraph({
      name: "mine",
      trigger: http("GET", "/api/it", "open"),
      steps: [respond(literal("mine"))],
    });
    const world = newWorld([file]);
    const [a, b] = [
      await keyFor(world, { tenant_id: "a", max_cost_usd: 0.5 }),
      await keyFor(world, { tenant_id: "b" }),
    ];
    expect((await save(world, route("/api/it", "{ body: \"'of a'\" }"), a)).status).toBe(201);
    expect((await save(world, route("/api/it", "{ body: \"'of b'\" }"), b)).status).toBe(201);
    expect((await save(world, route("/runs/{id}", "{ body: \"'mine'\" }", "other"), a)).status).toBe(201);
    expect(await ask(world, "/api/it")).toMatchObject({ status: 200, text: '"mine"' });
    expect(await ask(world, "/tenant-routes/a/api/it")).toMatchObject({ status: 200, text: "of a" });
    expect(await ask(world, "/tenant-routes/b/api/it/")).toMatchObject({ status: 200, text: "of b" });
    expect(await ask(world, "/tenant-routes/a/runs/1")).toMatchObject({ status: 200, text: "mine" });
    expect(await ask(world, "/runs/1")).toMatchObject({ status: 401 });
    for (const path of [
      "/tenant-routes/c/api/it",
      "/tenant-routes/a",
      "/tenant-routes//api/it",
      "/tenant-routes/%ff/x",
    ]) {
      expect((await ask(world, path)).status).toBeOneOf([400, 404]);
    }
    const runs = await runsOf(world);
    expect(runs.map(({ tenantId }) => tenantId)).toEqual(["a", "b", "a", undefined]);
    const [first] = await world.world.eventsOf(runs[2]?.id ?? "");
    expect(first).toMatchObject({ maxCostMicro: 500_000 });
  });

  test("neither sees nor sets cookies of the origin that it shares, and its pages run no scripts there", async () => {
    const world = newWorld();
    const a = await keyFor(world, { tenant_id: "a" });
    await save(world, route("/it", headersOfIt), a);
    const { text, headers } = await ask(world, "/tenant-routes/a/it", { cookie: "session=1", "x-one": "1" });
    expect(JSON.parse(text)).toMatchObject({ "x-one": "1" });
    expect(JSON.parse(text)).not.toHaveProperty("cookie");
    expect(headers.get("set-cookie")).toBeNull();
    expect(headers.get("content-security-policy")).toMatch(/^sandbox/);
  });
});

describe("a message", () => {
  const message = { messageId: "m", payload: {} };
  const workflowsOf = ({ data }: { readonly data: JsonObject }) =>
    (data["runs"] as unknown as JsonObject[]).map(({ workflow, duplicate }) => [workflow, duplicate]);

  test("starts what was saved beside what files say, until it is removed", async () => {
    const file = uhlpGraph({
      name: "mine",
      trigger: { kind: "queue", queueName: "orders" },
      steps: [respond(literal(1))],
    });
    const world = newWorld([file]);
    await save(world, queue());
    const sent = await send(world, "POST", "/queues/orders/messages", message);
    expect(workflowsOf(sent)).toEqual([
      ["mine", false],
      ["tidy", false],
    ]);
    await send(world, "DELETE", "/workflows/tidy");
    expect(workflowsOf(await send(world, "POST", "/queues/orders/messages", message))).toEqual([["mine", true]]);
  });

  test("of a tenant starts what the tenant and the application have, as runs of that tenant and once for it", async () => {
    const world = newWorld();
    const [a, b] = [
      await keyFor(world, { tenant_id: "a", max_cost_usd: 0.5 }),
      await keyFor(world, { tenant_id: "b" }),
    ];
    await save(world, queue("shared"));
    await save(world, queue("tidy"), a);
    expect(workflowsOf(await send(world, "POST", "/queues/orders/messages", message, a))).toEqual([
      ["tidy", false],
      ["shared", false],
    ]);
    expect(workflowsOf(await send(world, "POST", "/queues/orders/messages", message, b))).toEqual([["shared", false]]);
    expect(workflowsOf(await send(world, "POST", "/queues/orders/messages", message))).toEqual([["shared", false]]);
    expect(workflowsOf(await send(world, "POST", "/queues/orders/messages", message, b))).toEqual([["shared", true]]);
    const runs = await runsOf(world);
    expect(runs.map(({ tenantId }) => tenantId).sort()).toEqual(["a", "a", "b", undefined]);
    for (const { id } of runs.filter(({ tenantId }) => tenantId === "a")) {
      expect((await world.world.eventsOf(id))[0]).toMatchObject({ maxCostMicro: 500_000 });
    }
  });

  test("of one tenant does not start what another has saved", async () => {
    const world = newWorld();
    const [a, b] = [await keyFor(world, { tenant_id: "a" }), await keyFor(world, { tenant_id: "b" })];
    await save(world, answers("{ type: trigger, config: { triggerEvent: paid } }", "{ body: \"'hi'\" }"), a);
    for (const headers of [b, ADMIN]) {
      expect(await send(world, "POST", "/triggers/paid", message, headers)).toMatchObject({
        status: 404,
        error: { code: "EVENT_UNKNOWN" },
      });
    }
    expect((await send(world, "POST", "/triggers/paid", message, a)).status).toBe(202);
  });
});

test.each([".", ".."])("a tenant is not called `%s`, which no path and no folder could name", async (tenant_id) => {
  expect(await send(newWorld(), "POST", "/keys", { name: "x", tenant_id })).toMatchObject({ status: 400 });
});

import { expect, test } from "vitest";
import { HttpWorld, type HttpWorldOptions } from "../../../../../test/fakes/http-world.ts";
import { task, uhlpGraph } from "../../../../../test/fakes/uhlp-graph.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { loadEndpoints } from "../endpoints.ts";

const ENDPOINTS = await loadEndpoints();

const ADMIN = { "x-api-key": "configured" };

const gate = (message: string, name = "gate") => `
name: ${name}
description: Asks before it goes on
input_schema:
  properties:
    topic: { type: string }
steps:
  - id: ask
    type: approval
    approval_config: { message: "${message}" }
`;

const CALLER = `
name: caller
steps:
  - id: call
    type: sub_workflow
    sub_workflow: { workflow: gate }
`;

function newWorld(options: HttpWorldOptions = {}): HttpWorld {
  const hello = uhlpGraph({ name: "hello", steps: [task("work")] });
  return new HttpWorld([hello], { agent: { provider: "simulated" }, server: { api_key: "configured" }, ...options });
}

async function answerOf(response: Response | Promise<Response>) {
  const { status } = await response;
  const { data, error } = (await (await response).json()) as { readonly data: JsonObject; readonly error: JsonObject };
  return { status, data, error };
}

async function tenant(world: HttpWorld, id: string): Promise<Record<string, string>> {
  const { data } = await answerOf(world.post("/keys", { name: id, tenant_id: id, scopes: ["write"] }, ADMIN));
  return { "x-api-key": String(data["key"]) };
}

const put = (world: HttpWorld, name: string, text: string, headers: Record<string, string> = ADMIN) =>
  answerOf(world.request(`/workflows/${name}`, { method: "PUT", headers, body: JSON.stringify({ text }) }));
const get = (world: HttpWorld, path: string, headers: Record<string, string> = ADMIN) =>
  answerOf(world.request(path, { headers }));
const remove = (world: HttpWorld, name: string, headers: Record<string, string> = ADMIN) =>
  answerOf(world.request(`/workflows/${name}`, { method: "DELETE", headers }));

test("a definition is saved, run by its name in any of its versions, and removed", async () => {
  const world = newWorld();
  expect(await answerOf(world.post("/workflows", { text: gate("One?") }, ADMIN))).toMatchObject({
    status: 201,
    data: { name: "gate", version: 1, is_new: true, problems: [] },
  });
  expect(await put(world, "gate", gate("Two?"))).toMatchObject({ status: 201, data: { version: 2 } });
  expect(await put(world, "gate", gate("Two?"))).toMatchObject({ status: 200, data: { version: 2, is_new: false } });
  const shown = await get(world, "/workflows/gate");
  expect(shown.data).toMatchObject({ source: "saved", version: 2, valid: true, graph: { name: "gate" } });
  expect(shown.data["text"]).toBe(gate("Two?"));
  expect((await get(world, "/workflows/gate?version=1")).data["text"]).toBe(gate("One?"));
  expect((await get(world, "/workflows/gate?version=3")).status).toBe(404);
  expect((await get(world, "/workflows/gate/versions")).data["items"]).toMatchObject([{ version: 2 }, { version: 1 }]);

  for (const [version, message] of [
    [undefined, "Two?"],
    [1, "One?"],
  ] as const) {
    const sent = { workflow: "gate", version };
    const { data } = await answerOf(world.post("/workflows/run/sync", sent, ADMIN));
    const { data: question } = await get(world, `/approvals/${encodeURIComponent(`${data["run_id"]}:ask`)}`);
    expect(question).toMatchObject({ message });
  }
  expect((await answerOf(world.post("/workflows/run", { workflow: "gate", version: 9 }, ADMIN))).status).toBe(404);
  for (const workflow of ["hello", gate("?")]) {
    expect((await answerOf(world.post("/workflows/run", { workflow, version: 1 }, ADMIN))).status).toBe(400);
  }
  expect((await remove(world, "gate")).status).toBe(200);
  expect((await get(world, "/workflows/gate")).status).toBe(404);
  expect((await answerOf(world.post("/workflows/run", { workflow: "gate" }, ADMIN))).status).toBe(404);
});

test("files and saved definitions are listed by name, in pages, as the document promises", async () => {
  const world = newWorld();
  await put(world, "gate", gate("?"));
  await put(world, "zebra", gate("?", "zebra"));
  const { data } = await get(world, "/workflows");
  const { answer } = ENDPOINTS.find(({ id }) => id === "listWorkflows") ?? {};
  expect(answer !== undefined && "safeParse" in answer && answer.safeParse(data).error).toBeUndefined();
  expect(data["items"]).toMatchObject([
    { name: "gate", source: "saved", file: null, input_schema: { properties: { topic: { type: "string" } } } },
    { name: "hello", source: "file", file: "workflows/hello.yaml", version: null, dialect: "uhlp" },
    { name: "zebra", source: "saved", description: "Asks before it goes on" },
  ]);
  const first = await get(world, "/workflows?limit=2");
  const cursor = encodeURIComponent(String(first.data["next_cursor"]));
  const second = await get(world, `/workflows?limit=2&cursor=${cursor}`);
  expect(second.data).toMatchObject({ items: [{ name: "zebra" }], next_cursor: null });
  const numbered = await world.request("/api/workflows?limit=1&offset=1", { headers: ADMIN });
  expect(await numbered.json()).toMatchObject({ data: [{ name: "hello" }], meta: { total: 3, limit: 1, offset: 1 } });
});

test("every problem of a text is told with its place, and nothing is kept", async () => {
  const world = newWorld();
  const sent = { text: "name: broken\nsteps:\n  - id: a\n    prompt: hi\n    depends_on: [nobody]\n" };
  const { data } = await answerOf(world.post("/workflows/validate", sent, ADMIN));
  expect(data).toMatchObject({ valid: false, problems: [{ severity: "error", place: { line: 5 } }], workflows: [] });
  expect(await answerOf(world.post("/workflows/validate", { text: gate("?") }, ADMIN))).toMatchObject({
    data: { valid: true, problems: [], workflows: [{ name: "gate", dialect: "sandcastle", steps: 1 }] },
  });
  const drawn = await answerOf(world.post("/workflows/validate", { text: gate("?"), graph: true }, ADMIN));
  await put(world, "gate", gate("?"));
  const { graph } = (await get(world, "/workflows/gate")).data;
  expect(graph).toMatchObject({ flow: { kind: "dag", steps: [{ id: "ask", kind: "approve", after: [] }] } });
  expect(drawn.data["workflows"]).toMatchObject([{ name: "gate", graph }]);
  expect(await put(world, "broken", sent.text)).toMatchObject({ status: 400, error: { code: "DEFINITION_INVALID" } });
  expect((await get(world, "/workflows/broken")).status).toBe(404);
});

test("a text whose steps and dependencies are too many is refused wherever it is sent", {
  timeout: 30_000,
}, async () => {
  const world = newWorld();
  const steps = Array.from({ length: 400 }, (_, i) => {
    return { id: `s${i}`, prompt: "x", depends_on: Array.from({ length: i }, (__, other) => `s${other}`) };
  });
  const text = JSON.stringify({ name: "all-on-all", steps });
  const refused = { status: 400, error: { code: "DEFINITION_TOO_COSTLY" } };
  expect(await answerOf(world.post("/workflows/validate", { text }, ADMIN))).toMatchObject(refused);
  expect(await answerOf(world.post("/workflows/run", { workflow: text, input: {} }, ADMIN))).toMatchObject(refused);
  expect(await put(world, "all-on-all", text)).toMatchObject(refused);
});

test("names of files, of the service and of nothing that can be named are refused", async () => {
  const world = newWorld();
  const taken = await put(world, "hello", gate("?", "hello"));
  expect(taken).toMatchObject({ status: 409, error: { code: "NAME_TAKEN_TWICE" } });
  expect(taken.error["details"]).toEqual({ places: ["workflows/hello.yaml", "saved"] });
  expect(await remove(world, "hello")).toMatchObject({ status: 400, error: { code: "NOT_SUPPORTED" } });
  expect(await get(world, "/workflows/hello/versions")).toMatchObject({ status: 400 });
  for (const name of ["run", "validate", "a/b", "x.yaml", "y".repeat(201)]) {
    expect((await answerOf(world.post("/workflows", { text: gate("?", `"${name}"`) }, ADMIN))).status).toBe(400);
  }
  expect(await put(world, "other", gate("?"))).toMatchObject({ status: 400, error: { code: "REQUEST_INVALID" } });
});

test("what a tenant saves is the tenant's; what the application saves is everybody's to run", async () => {
  const world = newWorld();
  const [a, b] = [await tenant(world, "a"), await tenant(world, "b")];
  await put(world, "gate", gate("the secret of A"), a);
  await put(world, "shared", gate("?", "shared"));
  for (const path of ["/workflows/gate", "/workflows/gate/versions"]) {
    expect((await get(world, path, b)).status).toBe(404);
  }
  expect((await remove(world, "gate", b)).status).toBe(404);
  expect((await answerOf(world.post("/workflows/run", { workflow: "gate" }, b))).status).toBe(404);
  expect(JSON.stringify((await get(world, "/workflows", b)).data)).not.toContain("gate");
  expect((await get(world, "/workflows/shared", b)).status).toBe(200);
  expect((await remove(world, "shared", b)).status).toBe(404);
  expect((await put(world, "gate", gate("of B"), b)).data).toMatchObject({ version: 1 });
  expect((await get(world, "/workflows/gate", a)).data["text"]).toContain("the secret of A");
});

test("a key without the scope `write` changes nothing", async () => {
  const world = newWorld();
  const { data } = await answerOf(world.post("/keys", { name: "r", scopes: ["run"] }, ADMIN));
  const headers = { "x-api-key": String(data["key"]) };
  expect((await put(world, "gate", gate("?"), headers)).status).toBe(403);
  expect((await remove(world, "gate", headers)).status).toBe(403);
  expect((await answerOf(world.post("/workflows/validate", { text: CALLER }, headers))).status).toBe(200);
});

test("a text of which something is masked says so, since who saves it again would lose that", async () => {
  const world = newWorld({ env: { MY_SECRET: "a-secret-of-this-machine" } });
  await put(world, "plain", gate("Go on?", "plain"), ADMIN);
  await put(world, "gate", gate("Is a-secret-of-this-machine right?"), ADMIN);
  expect((await get(world, "/workflows/plain", ADMIN)).data["masked"]).toBeUndefined();
  const { data } = await get(world, "/workflows/gate", ADMIN);
  expect(data["masked"]).toBe(true);
  expect(data["text"]).not.toContain("a-secret-of-this-machine");
});

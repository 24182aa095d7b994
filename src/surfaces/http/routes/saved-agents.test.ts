import { expect, test } from "vitest";
import { agentsGraphs } from "../../../../test/fakes/agents-graphs.ts";
import { HttpWorld } from "../../../../test/fakes/http-world.ts";
import { type Play, succeed } from "../../../../test/faults/world.ts";

const ADMIN = { "x-api-key": "configured" };
const ASKED = { initial_user_message: "Paris?" };

const says =
  (text: string): Play =>
  () =>
    succeed(
      { text, final_response: { role: "assistant", content: [{ type: "text", text }] }, conversation: [] },
      1_000,
    );

const trip = (agent: string) =>
  JSON.stringify({ agents: [{ name: agent, client_ids: [] }], workflows: [{ name: "Trip", steps: [agent] }] });

async function newWorld() {
  const graphs = await agentsGraphs({ workflows: { Filed: ["Guide"] } });
  const plays = { Guide: says("by a file"), Shared: says("of the application"), Own: says("of the tenant") };
  return new HttpWorld(graphs, { plays, server: { api_key: "configured" } });
}

async function tenant(world: HttpWorld, id: string) {
  const response = await world.post("/keys", { name: id, tenant_id: id, scopes: ["write"] }, ADMIN);
  const { data } = (await response.json()) as { readonly data: { readonly key: string } };
  return { "x-api-key": data.key };
}

async function answerOf(asked: Promise<Response>) {
  const response = await asked;
  return { status: response.status, body: await response.json() };
}

test("a saved workflow of agents is executed by its name: the tenant's own before the application's", async () => {
  const world = await newWorld();
  const [a, b] = [await tenant(world, "a"), await tenant(world, "b")];
  const execute = (headers: Record<string, string>) => answerOf(world.post("/workflows/Trip/execute", ASKED, headers));
  expect((await world.post("/workflows", { text: trip("Own") }, a)).status).toBe(201);
  expect(await execute(b)).toMatchObject({ status: 404, body: { detail: "Workflow 'Trip' not found" } });
  expect((await world.post("/workflows", { text: trip("Shared") }, ADMIN)).status).toBe(201);

  expect(await execute(a)).toMatchObject({ status: 200, body: { final_message: "of the tenant" } });
  expect(await execute(b)).toMatchObject({ status: 200, body: { final_message: "of the application" } });
  const runs = await world.world.journal.listRuns({ limit: 9 });
  expect(runs.map(({ tenantId }) => tenantId)).toEqual(["b", "a"]);
  const later = world.post("/execution/workflows/linear/Trip/run", { initial_input: "Paris?" }, a);
  expect(await answerOf(later)).toMatchObject({ status: 200, body: { final_output: "of the tenant" } });
});

test("a saved workflow of another dialect is 404, with the route to use", async () => {
  const world = await newWorld();
  const text = "name: gate\nsteps:\n  - { id: ask, type: approval, approval_config: { message: Go on? } }\n";
  expect((await world.post("/workflows", { text }, ADMIN)).status).toBe(201);
  expect(await answerOf(world.post("/workflows/gate/execute", ASKED, ADMIN))).toMatchObject({
    status: 404,
    body: { detail: "Workflow 'gate' not found", remedy: expect.stringContaining("POST /workflows/run/sync") },
  });
});

test("a name that a file has as well is 409, as for every other route", async () => {
  const world = await newWorld();
  const { definitions } = await world.parts.app.service();
  await definitions.save({ name: "Filed", text: trip("Own"), at: 1 });
  expect(await answerOf(world.post("/workflows/Filed/execute", ASKED, ADMIN))).toMatchObject({
    status: 409,
    body: { code: "NAME_TAKEN_TWICE" },
  });
});

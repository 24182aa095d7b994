import { expect, test } from "vitest";
import { HttpWorld } from "../../../../../test/fakes/http-world.ts";
import { task, uhlpGraph } from "../../../../../test/fakes/uhlp-graph.ts";
import { succeed } from "../../../../../test/faults/world.ts";
import type { JsonObject } from "../../../../core/json.ts";

const ADMIN = { "x-api-key": "configured" };
const TWO = uhlpGraph({ name: "two", steps: [task("a", [{ on: "success", to: "b" }]), task("b")] });

function newWorld(): HttpWorld {
  return new HttpWorld([TWO], { agent: { provider: "simulated" }, server: { api_key: "configured" } });
}

async function dataOf(response: Response): Promise<JsonObject> {
  return ((await response.json()) as { readonly data: JsonObject }).data;
}

async function run(world: HttpWorld, headers: Record<string, string> = ADMIN): Promise<string> {
  return String((await dataOf(await world.post("/workflows/run/sync", { workflow: "two" }, headers)))["run_id"]);
}

test("a run's journal is read page by page, and told by its stream, with the graph that it goes by", async () => {
  const world = newWorld();
  const id = await run(world);
  const read = async (path: string) => dataOf(await world.request(`/runs/${id}/${path}`, { headers: ADMIN }));
  const { items: all, next_cursor } = await read("events");
  expect(next_cursor).toBeNull();
  const paged: unknown[] = [];
  for (let cursor: unknown = "0"; cursor !== null; ) {
    const page = await read(`events?limit=2&cursor=${cursor}`);
    paged.push(...(page["items"] as readonly unknown[]));
    cursor = page["next_cursor"];
  }
  expect(paged).toEqual(all);
  const stream = await (await world.request(`/runs/${id}/stream?events=true`, { headers: ADMIN })).text();
  const told = [...stream.matchAll(/^event: event\ndata: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data) as unknown);
  expect(told).toEqual(all);
  expect(await read("graph")).toMatchObject({ name: "two", format: 1 });
  const [a, b] = [{ id: "a", transitions: [{ on: "success", to: "b" }] }, { id: "b" }];
  expect(await read("graph/explained")).toMatchObject({
    name: "two",
    flow: { kind: "machine", start: "a", steps: [a, b] },
  });
});

test("only graphs that the run has called are shown, and only to who sees the run", async () => {
  const world = newWorld();
  const id = await run(world);
  for (const path of ["graph", "graph/explained"]) {
    const stranger = `/runs/${id}/${path}?called=${"0".repeat(64)}`;
    expect((await world.request(stranger, { headers: ADMIN })).status).toBe(404);
  }
  const made = await dataOf(await world.post("/keys", { name: "t", scopes: ["run"], tenant_id: "t" }, ADMIN));
  const tenant = { "x-api-key": String(made["key"]) };
  for (const path of ["events", "graph", "graph/explained", "steps", "steps/a%231"])
    expect((await world.request(`/runs/${id}/${path}`, { headers: tenant })).status).toBe(404);
  const mine = await run(world, tenant);
  const events = await (await world.request(`/runs/${mine}/events`, { headers: tenant })).text();
  expect(events).toContain("runStarted");
  expect(events).not.toContain("app_dir");
});

test("a run is shown without the values that are large, with how large they are and where they are", async () => {
  const large = "x".repeat(100_000);
  const plays = { a: () => succeed(1), b: () => succeed({ text: large }) };
  const world = new HttpWorld([TWO], { plays, agent: { provider: "simulated" }, server: { api_key: "configured" } });
  const body = { workflow: "two", input: { few: 1 } };
  const { run_id: id } = await dataOf(await world.post("/workflows/run/sync", body, ADMIN));
  const read = async (query: string) => dataOf(await world.request(`/runs/${id}?${query}`, { headers: ADMIN }));
  const shown = await read("");
  expect(JSON.stringify(shown).length).toBeLessThan(10_000);
  expect(shown).toMatchObject({ outputs: null, outputs_ref: `/runs/${id}?whole=true&steps=false&prompts=false` });
  expect(shown["outputs_bytes"]).toBeGreaterThan(100_000);
  expect(shown).not.toHaveProperty("input_ref");
  const follow = async (ref: unknown) =>
    JSON.stringify(await (await world.request(String(ref), { headers: ADMIN })).json());
  expect((await follow(shown["outputs_ref"])).includes(large)).toBe(true);
  const { output_ref: ref } = (shown["steps"] as Record<string, unknown>[])[1] ?? {};
  expect(ref).toBe(`/runs/${id}/steps/b%231?whole=true`);
  expect((await follow(ref)).includes(large)).toBe(true);
});

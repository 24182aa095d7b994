import { expect, test } from "vitest";
import { HttpWorld } from "../../../../../test/fakes/http-world.ts";
import { task, uhlpGraph } from "../../../../../test/fakes/uhlp-graph.ts";
import { succeed } from "../../../../../test/faults/world.ts";
import type { JsonObject } from "../../../../core/json.ts";

const ADMIN = { "x-api-key": "configured" };

function newWorld(): HttpWorld {
  const used = (model: string) => ({ model, input_tokens: 100, output_tokens: 10 });
  return new HttpWorld(
    [uhlpGraph({ name: "dear", steps: [task("paid")] }), uhlpGraph({ name: "strange", steps: [task("unpaid")] })],
    {
      server: { api_key: "configured" },
      plays: {
        paid: () => ({ ...succeed("x"), costMicro: 250_000, usage: used("a:b") }),
        unpaid: () => ({ ...succeed("x"), costMicro: null, usage: used("local:c") }),
      },
    },
  );
}

async function run(world: HttpWorld, workflow: string, headers = ADMIN): Promise<void> {
  expect((await world.post("/workflows/run/sync", { workflow }, headers)).status).toBe(200);
}

async function costsOf(world: HttpWorld, query: string, headers = ADMIN): Promise<JsonObject> {
  const { data, error } = (await (await world.request(`/costs?${query}`, { headers })).json()) as {
    readonly data: JsonObject;
    readonly error: unknown;
  };
  expect(error).toBeNull();
  return data;
}

test("costs are summed by workflow, model and day; what has no price is not 0", async () => {
  const world = newWorld();
  await run(world, "dear");
  await run(world, "dear");
  await run(world, "strange");
  const day = new Date(world.world.clock.now()).toISOString().slice(0, 10);
  const paid = {
    cost_usd: 0.5,
    cost_usd_at_most: 0.5,
    unpriced_attempts: 0,
    input_tokens: 200,
    output_tokens: 20,
    runs: 2,
  };
  const unpaid = {
    cost_usd: null,
    cost_usd_at_most: null,
    unpriced_attempts: 1,
    input_tokens: 100,
    output_tokens: 10,
    runs: 1,
  };

  expect(await costsOf(world, "by=workflow")).toMatchObject({
    items: [
      { key: "dear", ...paid },
      { key: "strange", ...unpaid },
    ],
    total: { runs: 3, cost_usd: 0.5, unpriced_attempts: 1 },
    counted_from: null,
  });
  expect((await costsOf(world, "by=model"))["items"]).toEqual([
    { key: "a:b", ...paid },
    { key: "local:c", ...unpaid },
  ]);
  expect((await costsOf(world, "by=day"))["items"]).toMatchObject([{ key: day, runs: 3, cost_usd: 0.5 }]);
});

test("only runs of the time that is asked for count", async () => {
  const world = newWorld();
  await run(world, "dear");
  await world.world.clock.advance(60_000);
  const now = new Date(world.world.clock.now()).toISOString();
  expect((await costsOf(world, `since=${now}`))["items"]).toEqual([]);
  expect((await costsOf(world, `until=${now}`))["items"]).toMatchObject([{ key: "dear", runs: 1 }]);
  await world.world.clock.advance(31 * 24 * 3_600_000);
  expect((await costsOf(world, ""))["items"]).toEqual([]);
});

test("a tenant sees its own costs only", async () => {
  const world = newWorld();
  const key = async (tenant_id: string) => {
    const made = await world.post("/keys", { name: tenant_id, tenant_id, scopes: ["run"] }, ADMIN);
    return { "x-api-key": String(((await made.json()) as { readonly data: JsonObject }).data["key"]) };
  };
  const [a, b] = [await key("a"), await key("b")];
  await run(world, "dear", a);
  expect((await costsOf(world, "by=tenant", b))["items"]).toEqual([]);
  expect((await costsOf(world, "by=tenant", a))["items"]).toMatchObject([{ key: "a", cost_usd: 0.25 }]);
  expect((await costsOf(world, "by=tenant"))["items"]).toMatchObject([{ key: "a", runs: 1 }]);
});

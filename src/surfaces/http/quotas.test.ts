import { expect, test } from "vitest";
import { HttpWorld } from "../../../test/fakes/http-world.ts";

const ADMIN = { "x-api-key": "configured" };

test("streams of a tenant are refused beyond its quota, and its key says how many it may have", async () => {
  const quotas = { requests: 50, bodies: 5, runs: 5, streams: 2, terminals: 1, stored_bytes: 1_000 };
  const world = new HttpWorld([], { server: { api_key: "configured" }, quotas });
  const made = await world.post("/keys", { name: "m", tenant_id: "mallory" }, ADMIN);
  const { data } = (await made.json()) as { readonly data: { readonly key: string; readonly key_id: string } };
  // Here a request is over when it is answered: two of its streams are held as a server holds them.
  const use = world.parts.quotas;
  use.take("mallory", "streams", 2);
  const refused = await world.request("/events", { headers: { "x-api-key": data.key } });
  expect([refused.status, await refused.json()]).toMatchObject([429, { error: { code: "QUOTA_EXCEEDED" } }]);
  use.give("mallory", "streams", 1);
  expect((await world.request("/events", { headers: { "x-api-key": data.key } })).status).toBe(200);

  const shown = await world.request(`/keys/${data.key_id}`, { headers: ADMIN });
  expect(await shown.json()).toMatchObject({ data: { quotas, in_use: { requests: 0, streams: 1 } } });
});

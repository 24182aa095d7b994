import { expect, test } from "vitest";
import { startSlowSandstorm } from "../../capacity/capacity-world.ts";
import { application } from "../../end-to-end/support/application.ts";
import { type RunningServer, startServer } from "../../end-to-end/support/server.ts";
import { newTestDatabase } from "../../support/test-database.ts";

const PLACES = 6;
const CALLS = 240;

const MANY = `
name: many
steps:
  - id: ask
    prompt: "{input.name}"
    parallel_over: input.items
`;

/** One takes requests and two work. */
async function startThree(url: string, limits: Readonly<Record<string, number>> = {}): Promise<RunningServer> {
  const cwd = application({ "workflows/many.yaml": MANY });
  const env = {
    SANDSTORM_URL: url,
    PAWL_CAPACITY__LIMITS: JSON.stringify(limits),
    DATABASE_URL: await newTestDatabase(),
    PAWL_SECRETS__KEY: "0123456789abcdef0123456789abcdef",
    PAWL_DATABASE__LEASE_MS: "2000",
  };
  const start = (role: string, more = {}) => startServer(["--role", role], { cwd, env: { ...env, ...more } });
  const few = { PAWL_WORKER__CONCURRENCY: "1" };
  const [api] = await Promise.all([start("api"), start("worker", few), start("worker", few)]);
  return api;
}

async function run({ url }: RunningServer): Promise<string> {
  const items = Array.from({ length: CALLS / 2 }, (_, n) => ({ name: `item ${n}` }));
  const body = JSON.stringify({ workflow: "many", input: { items } });
  const init = { method: "POST", headers: { "content-type": "application/json" }, body };
  const answer = await fetch(`${url}/workflows/run/sync`, init);
  return ((await answer.json()) as { readonly data: { readonly status: string } }).data.status;
}

test("workers together never have more calls in flight than is configured, and use all of them", async () => {
  const { places, server } = await startSlowSandstorm({ places: 1_000, holdMs: 60 });
  const api = await startThree(server.url, { [server.url]: PLACES });
  expect(await Promise.all([run(api), run(api)])).toEqual(["completed", "completed"]);
  expect(places.taken.length).toBe(CALLS);
  expect(places.most).toBe(PLACES);
});

test("workers find out together how many calls a server takes at once", async () => {
  const { places, server } = await startSlowSandstorm({ places: PLACES, holdMs: 60 });
  const api = await startThree(server.url);
  expect(await Promise.all([run(api), run(api)])).toEqual(["completed", "completed"]);
  expect(places.taken.length).toBe(CALLS);
  expect(places.refusedShare).toBeLessThan(0.3);
});

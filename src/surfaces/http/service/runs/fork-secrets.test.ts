import { expect, test } from "vitest";
import { dataOf } from "../../../../../test/fakes/http-answers.ts";
import { HttpWorld } from "../../../../../test/fakes/http-world.ts";
import { path, task, toGraph } from "../../../../../test/faults/graphs.ts";
import { KnownSecrets } from "../../../../config/known-secrets.ts";
import { FileSealer } from "../../../../storage/files/file-sealer.ts";

const SECRETS = { pin: 71_934_526, keys: ["planted-4711"], account: { token: "planted-0815" } };
const HIDDEN = /71934526|planted/;

const schema = {
  required: ["pin"],
  properties: {
    pin: { type: "integer", minimum: 1_000, secret: true },
    keys: { type: "array", minItems: 1, secret: true },
    account: { type: "object", properties: { token: { type: "string", minLength: 12, secret: true } } },
    limit: { type: "integer" },
  },
};

function newWorld(): HttpWorld {
  const steps = toGraph([task("work", { input: path("input") })], { name: "guarded" });
  const guarded = { ...steps, input: { ...steps.input, schema } };
  const known = new KnownSecrets([]);
  // The key with which the application of this world seals.
  const sealer = new FileSealer({ path: "/nowhere/app/.pawl/secrets.key", key: "a key of the test world" });
  const secrets = {
    learn: (values: readonly string[]) => known.learn(values),
    seal: (text: string) => sealer.seal(text),
    derive: (purpose: string) => sealer.derive(purpose),
    open: (text: string) => sealer.open(text),
  };
  return new HttpWorld([guarded], { agent: { provider: "simulated" }, host: { mask: known.mask, secrets } });
}

test("secrets that are no texts fit their schema in a rerun and in a fork that changes something else", async () => {
  const world = newWorld();
  const first = await dataOf(
    world.post("/workflows/run/sync", { workflow: "guarded", input: { ...SECRETS, limit: 1 } }),
  );
  const id = String(first["run_id"]);
  for (const [verb, body] of [
    ["rerun", { from_step: "work" }],
    ["fork", { from_step: "work", changes: { input: { limit: 2 } } }],
    ["fork", { from_step: "work", changes: { input: { pin: 5_555_555 } } }],
  ] as const) {
    const { run_id: again } = await dataOf(world.post(`/runs/${id}/${verb}`, body));
    await world.world.host.settled(String(again));
    expect(JSON.stringify(await world.world.eventsOf(String(again)))).not.toMatch(HIDDEN);
  }
  expect(world.world.calls.map(({ input }) => input)).toEqual([
    { ...SECRETS, limit: 1 },
    { ...SECRETS, limit: 1 },
    { ...SECRETS, limit: 2 },
    { ...SECRETS, limit: 1, pin: 5_555_555 },
  ]);
});

test("what does not fit is refused, and what it says shows no secret", async () => {
  const world = newWorld();
  const first = await dataOf(world.post("/workflows/run/sync", { workflow: "guarded", input: SECRETS }));
  const forked = await world.post(`/runs/${first["run_id"]}/fork`, { changes: { input: { limit: "many", pin: "x" } } });
  const text = await forked.text();
  expect(forked.status).toBe(400);
  expect(text).toContain("INPUT_INVALID");
  expect(text).not.toMatch(HIDDEN);
});

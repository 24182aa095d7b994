import { expect, test } from "vitest";
import { agentTask, toGraph } from "../../../../../test/fakes/direct-graph.ts";
import { HttpWorld } from "../../../../../test/fakes/http-world.ts";
import { fail, type Play, succeed, untilAborted } from "../../../../../test/faults/world.ts";
import type { JsonObject } from "../../../../core/json.ts";

const CHAIN = toGraph([agentTask("a"), { ...agentTask("b"), after: ["a"] }, { ...agentTask("c"), after: ["b"] }]);

const used: Play = () => ({ ...succeed("x"), usage: { input_tokens: 60, output_tokens: 40 } });

interface Limited {
  readonly world: HttpWorld;
  readonly run: JsonObject;
}

async function runWith(limits: JsonObject, plays: Record<string, Play> = {}): Promise<Limited> {
  const world = new HttpWorld([CHAIN], {
    agent: { provider: "simulated" },
    plays: { a: used, b: used, c: used, ...plays },
  });
  const response = await world.post("/workflows/run/sync", { workflow: "test", limits });
  const { data, error } = (await response.json()) as { readonly data: JsonObject; readonly error: unknown };
  expect(error).toBeNull();
  return { world, run: data };
}

function statusesOf({ steps }: JsonObject): readonly unknown[] {
  return (steps as readonly JsonObject[]).map(({ status }) => status);
}

test("no other step begins where the tries are used up, a failed one included", async () => {
  const retry = { maxAttempts: 3, backoff: "fixed", initialMs: 0, maxMs: 0, jitter: 0 } as const;
  const graph = toGraph([{ ...agentTask("a"), retry }]);
  const world = new HttpWorld([graph], {
    agent: { provider: "simulated" },
    plays: { a: () => fail("AGENT_FAILED", { retryable: true, effect: "none" }) },
  });
  const response = await world.post("/workflows/run/sync", { workflow: "test", limits: { max_steps: 2 } });
  const { data } = (await response.json()) as { readonly data: JsonObject };
  expect(data).toMatchObject({
    status: "budget_exceeded",
    error: { code: "BUDGET_EXCEEDED", message: "The run has made the 2 tries of steps that it may make." },
    limits: [{ of: "steps", limit: 2, used: 2, is: "used_up" }],
  });
});

test("no other step begins where the tokens are used up; what has been done stays", async () => {
  const { run } = await runWith({ max_tokens: 150 });
  expect(run).toMatchObject({
    status: "budget_exceeded",
    error: { message: "The run has used 200 tokens and may use 150." },
    limits: [{ of: "tokens", limit: 150, used: 200, is: "used_up" }],
  });
  expect(statusesOf(run)).toEqual(["completed", "completed", "cancelled"]);
});

test("limits that are enough change nothing, and 80 % are near", async () => {
  const { run, world } = await runWith({ max_tokens: 375, max_steps: 100, max_seconds: 60, max_cost_usd: 1 });
  expect(run).toMatchObject({
    status: "completed",
    limits: [
      { of: "cost_usd", limit: 1, used: 0, is: "ok" },
      { of: "tokens", limit: 375, used: 300, is: "near" },
      { of: "steps", limit: 100, used: 3, is: "ok" },
      { of: "seconds", limit: 60, is: "ok" },
    ],
  });
  const stream = await (await world.request(`/runs/${String(run["run_id"])}/stream`)).text();
  expect(stream.match(/event: limit\n/g)).toHaveLength(1);
  expect(stream).toContain('{"of":"tokens","limit":375,"used":300,"is":"near"}');
});

test("where the time is over, what is under way is told to stop", async () => {
  const world = new HttpWorld([CHAIN], {
    agent: { provider: "simulated" },
    plays: {
      a: async (_task, signal) => {
        await untilAborted(signal);
        return fail("INTERRUPTED");
      },
    },
  });
  const accepted = await world.post("/workflows/run", { workflow: "test", limits: { max_seconds: 5 } });
  const { data } = (await accepted.json()) as { readonly data: JsonObject };
  const id = String(data["run_id"]);
  await world.world.clock.advance(5_000);
  await world.world.host.settled(id);
  const shown = (await (await world.request(`/runs/${id}`)).json()) as { readonly data: JsonObject };
  expect(shown.data).toMatchObject({
    status: "budget_exceeded",
    error: { message: "The run has taken the 5 s that it may take." },
  });
});

test("what a rerun takes over is taken over though what it does again has used up the run's budget", async () => {
  const chain = Array.from({ length: 8 }, (_, n) => ({ ...agentTask(`a${n}`), after: n === 0 ? [] : [`a${n - 1}`] }));
  const graph = toGraph([agentTask("c"), ...chain]);
  const plays = { c: () => succeed("y", 1_000_000) };
  const world = new HttpWorld([graph], { agent: { provider: "simulated" }, plays });
  const dataOf = async (response: Promise<Response>) =>
    ((await (await response).json()) as { readonly data: JsonObject }).data;
  const { run_id: old } = await dataOf(world.post("/workflows/run/sync", { workflow: "test" }));
  const changes = { max_cost_usd: 1 };
  const { run_id: forked } = await dataOf(world.post(`/runs/${String(old)}/fork`, { from_step: "c", changes }));
  await world.world.host.settled(String(forked));
  const shown = await dataOf(Promise.resolve(world.request(`/runs/${String(forked)}`)));
  expect(shown).toMatchObject({ status: "completed", total_cost_usd: 1 });
  expect(world.world.calls).toHaveLength(9 + 1);
});

const LIMITED = `
name: limited
limits: { max_steps: 2, max_tokens: 900, on_exceeded: ask }
steps:
  - { id: a, prompt: One. }
  - { id: b, prompt: Two., depends_on: [a] }
  - { id: c, prompt: Three., depends_on: [b] }
`;

test.each([
  ["the definition's where nothing is asked for", {}, { status: "awaiting_approval", steps: 2, tokens: 900 }],
  ["the lower ones", { max_steps: 1, max_tokens: 1_000 }, { status: "awaiting_approval", steps: 1, tokens: 900 }],
  [
    "the definition's where more is asked for",
    { max_steps: 50 },
    { status: "awaiting_approval", steps: 2, tokens: 900 },
  ],
  [
    "and a person is only asked where the request lets it",
    { on_exceeded: "stop" },
    { status: "budget_exceeded", steps: 2, tokens: 900 },
  ],
])("limits of a definition and of a request: %s", async (_, limits, { status, steps, tokens }) => {
  const world = new HttpWorld([], { agent: { provider: "simulated" }, plays: { a: used, b: used, c: used } });
  const response = await world.post("/workflows/run/sync", { workflow: LIMITED, limits });
  const { data } = (await response.json()) as { readonly data: JsonObject };
  expect(data).toMatchObject({
    status,
    limits: [
      { of: "tokens", limit: tokens },
      { of: "steps", limit: steps, used: steps },
    ],
  });
});

test("a plan shows the limits of the definition", async () => {
  const world = new HttpWorld([], { agent: { provider: "simulated" } });
  const response = await world.post("/workflows/plan", { workflow: LIMITED });
  expect(await response.json()).toMatchObject({
    data: { limits: { max_steps: 2, max_tokens: 900, on_exceeded: "ask" } },
  });
});

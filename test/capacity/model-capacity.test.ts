import { expect, onTestFinished, test } from "vitest";
import { SystemClock } from "../../src/app/system-clock.ts";
import type { Graph } from "../../src/core/graph/graph.ts";
import { readAgentScript } from "../../src/dialects/agent-script/agent-script.ts";
import { CapacityPools } from "../../src/executors/capacity/capacity-pools.ts";
import { createLlmExecutor } from "../../src/executors/llm/llm-executor.ts";
import { createModels } from "../../src/executors/models/create-models.ts";
import { inlineWorld, say } from "../agents/inline-world.ts";
import { agentTask, toGraph } from "../fakes/direct-graph.ts";
import { type FakeModelOptions, startFakeModelServer } from "../fakes/model-server/fake-model-server.ts";
import type { ModelReply } from "../fakes/model-server/model-reply.ts";
import { Places } from "../fakes/places.ts";
import { RateLimit } from "../fakes/rate-limit.ts";
import { World } from "../faults/world.ts";
import { items } from "./capacity-world.ts";

const BUSY: ModelReply = { do: "refuse", status: 429, message: "Slow down", headers: { "retry-after": "1" } };

/** A provider that answers so many requests at once, and refuses the others. */
function busyProvider(places: Places, refusal: ModelReply = BUSY): FakeModelOptions["replies"] {
  return async ({ shown }) => {
    const by = shown.messages.at(0)?.text ?? "";
    if (!places.take(by)) return refusal;
    await places.hold(by);
    return { do: "say", text: "Done." };
  };
}

const MANY: Graph = toGraph([
  {
    ...agentTask("ask", {
      prompt: { op: "path", root: "item", path: ["name"] },
      message: { op: "path", root: "item", path: ["name"] },
    }),
    each: { list: { op: "path", root: "input", path: ["items"] }, maxConcurrent: 500 },
  },
]);

const capacityPools = () => new CapacityPools({ clock: new SystemClock(), limits: {}, patienceMs: 60_000 });

/** Prompts without tools, and without a retry block. */
async function promptWorld(replies: FakeModelOptions["replies"]): Promise<World> {
  const server = await startFakeModelServer({ replies });
  onTestFinished(() => server.close());
  const models = createModels({
    default: "local:small",
    aliases: {},
    providers: { local: { kind: "openai-compatible", base_url: server.url } },
    prices: {},
    keys: {},
    folder: "/",
    capacity: capacityPools(),
    readScript: readAgentScript,
    env: () => undefined,
  });
  const prompts = { render: async () => "", close: async () => undefined };
  const executor = createLlmExecutor({ models, prompts, repairs: 0, timeoutMs: 5_000 });
  return new World({ host: { findExecutor: async () => executor } });
}

test("500 prompts to a model that takes 20 at once and names a time are all answered, and few of them refused", async () => {
  const places = new Places(20, 200);
  const world = await promptWorld(busyProvider(places));
  const run = await world.run(MANY, items(500));

  expect(run.status).toBe("completed");
  expect(places.taken.length).toBe(500);
  // A busy machine ends calls late. The share is held exactly in virtual time, by the test of the pool.
  expect(places.refusedShare).toBeLessThanOrEqual(0.2);
  expect((await world.typesOf(run.id)).includes("stepFailed")).toBe(false);
});

test.each(["fixed", "sliding", "bucket"] as const)(
  "500 prompts to a provider that takes 40 a second (%s), however many at once, are all answered, in less than twice the ideal",
  async (kind) => {
    const rate = new RateLimit({ count: 40, windowMs: 1_000, kind });
    const world = await promptWorld(() => {
      if (rate.take(performance.now())) return { do: "say", text: "Done.", delayMs: 50 };
      return { do: "refuse", status: 429, message: "Too many requests in this second" };
    });
    const begin = performance.now();
    const run = await world.run(MANY, items(500));

    expect(run.status).toBe("completed");
    expect(performance.now() - begin).toBeLessThan(2 * (500 / 40) * 1_000);
    expect((await world.typesOf(run.id)).filter((type) => type === "stepSucceeded")).toHaveLength(500);
  },
);

test("each turn of an agent waits by itself, and a refused turn loses none of those before it", async () => {
  const places = new Places(5, 50);
  const { executor, requests } = await inlineWorld(busyProvider(places, { do: "refuse", status: 529 }), {
    models: { capacity: capacityPools() },
    patienceMs: 0,
  });
  const world = new World({ host: { findExecutor: async () => executor } });
  const run = await world.run(MANY, items(60));

  expect(run.status).toBe("completed");
  expect(places.taken.length).toBe(60);
  expect(places.refused).toBeGreaterThan(0);
  expect(requests.length).toBe(60 + places.refused);
});

test("an account without credit fails the step at once, whatever the patience", async () => {
  const { executor } = await inlineWorld(
    [{ do: "refuse", status: 429, message: "insufficient_quota: check your billing details" }],
    { models: { capacity: capacityPools() } },
  );
  const world = new World({ host: { findExecutor: async () => executor } });
  const run = await world.run(MANY, items(1));

  expect(run).toMatchObject({ status: "failed", error: { code: "MODEL_RATE_LIMITED" } });
});

test("a provider that comes back after a refusal is asked the same turn again", async () => {
  const refuse: ModelReply = { do: "refuse", status: 503 };
  const { ask, requests } = await inlineWorld([refuse, refuse, say("Sunny.")], {
    models: { capacity: capacityPools() },
    patienceMs: 0,
  });

  expect(await ask({})).toMatchObject({ status: "succeeded" });
  expect(requests.length).toBe(3);
});

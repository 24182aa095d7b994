import { expect, onTestFinished, test, vi } from "vitest";
import { SystemClock } from "../../src/app/system-clock.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { createSandstormExecutor } from "../../src/executors/agent/sandstorm/sandstorm-executor.ts";
import { createOutbound } from "../../src/executors/outbound/outbound.ts";
import { fanOut } from "../capacity/capacity-world.ts";
import { init, result } from "../fakes/sandstorm/documents.ts";
import { startFakeSandstorm, toJsonReply, toStreamReply } from "../fakes/sandstorm/fake-sandstorm.ts";
import { toEvents } from "../fakes/sandstorm/framing.ts";
import { World } from "./world.ts";

const outbound = createOutbound({ allow: [], environment: process.env });

type Entry = JsonObject & { readonly prompt: string };

interface Dying {
  /** The prompts of the items. */
  readonly prompts: readonly string[];
  readonly maxCostMicro?: number;
  /** What the server's list says instead of what it was asked. */
  readonly listed?: (entries: readonly Entry[]) => readonly JsonObject[];
}

/** A process that dies with all of its agents at work, and the next one, whose agents answer after a while. Returns what the run has cost. */
async function costsAfterDeath({ prompts, maxCostMicro, listed = (entries) => entries }: Dying) {
  const entries: Entry[] = [];
  let isNext = false;
  const [begin = "", end = ""] = toEvents([init(), result({ total_cost_usd: 0.01 })]);
  const server = await startFakeSandstorm({
    play: ({ body }) => {
      const prompt = String(body["prompt"]);
      const at = new Date().toISOString();
      const facts = { id: `r${entries.length}`, model: "claude-sonnet", status: "completed", started_at: at };
      entries.push({ ...facts, prompt: prompt.slice(0, 100), cost_usd: isNext ? 0.01 : 0.07 });
      const later = isNext ? ({ do: "wait", ms: 500 } as const) : ({ do: "hang" } as const);
      return toStreamReply([{ do: "send", bytes: begin }, later, { do: "send", bytes: end }]);
    },
    runs: () => toJsonReply(200, listed(entries)),
  });
  onTestFinished(() => server.close());
  const executor = createSandstormExecutor({ outbound, baseUrl: server.url });
  const clock = new SystemClock();
  const options = { clock, findExecutor: async () => executor };
  const world = new World({ host: options });
  const { id } = await world.start(await fanOut(), { items: prompts.map((name) => ({ name })) }, { maxCostMicro });
  await vi.waitFor(() => expect(entries.length).toBe(prompts.length));
  const diedAt = Date.now();
  isNext = true;
  const next = world.next({ host: { ...options, previousSeenAt: diedAt } });
  await next.host.recover();
  const { status, costMicro, uncertainMicro } = await next.host.settled(id);
  return { status, costMicro, isCertain: uncertainMicro === 0 };
}

test("what a call that a death has cut off has cost is booked as the agent server's own list of runs says", async () => {
  expect(await costsAfterDeath({ prompts: ["Find Ada."] })).toEqual({
    status: "completed",
    costMicro: 80_000,
    isCertain: true,
  });
});

test.each<[string, Dying]>([
  ["two calls had the same prompt", { prompts: ["Find Ada.", "Find Ada."] }],
  [
    "another run in the list has the same beginning",
    { prompts: ["Find Ada."], listed: (all) => [...all.map((entry) => ({ ...entry, id: "x" })), ...all] },
  ],
  [
    "the list says another prompt",
    { prompts: ["Find Ada."], listed: (all) => all.map((entry) => ({ ...entry, prompt: "Find Bo." })) },
  ],
  [
    "the list says another model",
    { prompts: ["Find Ada."], listed: (all) => all.map((entry) => ({ ...entry, model: "gpt" })) },
  ],
  [
    "the run in the list is older",
    { prompts: ["Find Ada."], listed: (all) => all.map((entry) => ({ ...entry, started_at: "2026-01-02T03:04:05" })) },
  ],
  [
    "the list knows no cost",
    { prompts: ["Find Ada."], listed: (all) => all.map(({ cost_usd: _, ...entry }) => entry) },
  ],
  [
    "the list is full of younger ones",
    {
      prompts: ["Find Ada."],
      listed: (all) =>
        Array.from({ length: 50 }, (_, n) => ({ ...all[0], id: `y${n}`, prompt: n === 7 ? "Find Ada." : "x" })),
    },
  ],
])("a call's cost stays uncertain where %s", async (_why, dying) => {
  const { status, costMicro, isCertain } = await costsAfterDeath(dying);
  expect({ status, costMicro, isCertain }).toEqual({
    status: "completed",
    costMicro: 10_000 * dying.prompts.length,
    isCertain: false,
  });
});

test("a run whose whole budget was reserved for such a call goes on with what is left of it", async () => {
  const maxCostMicro = 1_000_000;
  expect(await costsAfterDeath({ prompts: ["Find Ada."], maxCostMicro })).toMatchObject({
    costMicro: 80_000,
    isCertain: true,
  });
  const listed = () => [];
  expect(await costsAfterDeath({ prompts: ["Find Ada."], maxCostMicro, listed })).toMatchObject({
    status: "awaiting_approval",
  });
});

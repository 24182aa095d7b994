import { expect, test } from "vitest";
import { ADMIN, Hooks } from "../../../test/fakes/hooks-world.ts";
import { task, uhlpGraph } from "../../../test/fakes/uhlp-graph.ts";
import { fail, succeed, untilAborted } from "../../../test/faults/world.ts";
import type { Settings } from "../../config/settings.ts";
import type { JsonObject } from "../../core/json.ts";
import { removeOldRuns } from "./retention.ts";

const DAY_MS = 86_400_000;
const GRAPHS = ["good", "bad", "slow"].map((name) => uhlpGraph({ name, steps: [task(name)] }));

function newHooks(keep: Settings["data"]["keep"]): Hooks {
  const plays = {
    good: () => succeed("done"),
    bad: () => fail("BROKEN"),
    slow: (_: unknown, signal: AbortSignal) => untilAborted(signal).then(() => fail("STOPPED")),
  };
  return new Hooks({ graphs: GRAPHS, keep, plays });
}

async function start(hooks: Hooks, workflow: string): Promise<string> {
  const { data } = (await (await hooks.world.post("/workflows/run", { workflow }, ADMIN)).json()) as {
    readonly data: JsonObject;
  };
  return String(data["run_id"]);
}

const sweep = (hooks: Hooks, onlyLooks = false) => removeOldRuns(hooks.world.parts.app, { onlyLooks });

async function runsOf(hooks: Hooks): Promise<readonly string[]> {
  return (await hooks.world.world.journal.listRuns({ limit: 1_000 })).map(({ id }) => id).toReversed();
}

test("the newest runs stay, as many as are kept, and a look deletes none", async () => {
  const hooks = newHooks({ runs: 2 });
  const ids: string[] = [];
  for (const workflow of ["good", "bad", "good", "good"]) ids.push(await hooks.run({ workflow }));

  expect(await sweep(hooks, true)).toEqual({ completed: 1, failed: 1 });
  expect(await runsOf(hooks)).toEqual(ids);
  expect(await sweep(hooks)).toEqual({ completed: 1, failed: 1 });
  expect(await runsOf(hooks)).toEqual(ids.slice(2));
});

test("runs go when they have ended longer ago than they are kept", async () => {
  const hooks = newHooks({ days: 2 });
  const old = await hooks.run({ workflow: "good" });
  hooks.clock.jump(DAY_MS);
  const young = await hooks.run({ workflow: "good" });
  hooks.clock.jump(DAY_MS + 1);

  expect(await sweep(hooks)).toEqual({ completed: 1 });
  expect(await runsOf(hooks)).toEqual([young]);
  expect(old).not.toBe(young);
});

test("a status with a rule of its own follows that one alone", async () => {
  const hooks = newHooks({ days: 1, runs: 1, failed: { runs: 2 } });
  const [bad, , otherBad] = [
    await hooks.run({ workflow: "bad" }),
    await hooks.run({ workflow: "good" }),
    await hooks.run({ workflow: "bad" }),
  ];
  hooks.clock.jump(2 * DAY_MS);
  const good = await hooks.run({ workflow: "good" });

  expect(await sweep(hooks)).toEqual({ completed: 1 });
  expect(await runsOf(hooks)).toEqual([bad, otherBad, good]);
});

test("more than a page of runs goes, and what goes on stays however old it is", async () => {
  const hooks = newHooks({ days: 1 });
  const slow = await start(hooks, "slow");
  for (let n = 0; n < 120; n += 1) await hooks.run({ workflow: "good" });
  hooks.clock.jump(9 * DAY_MS);

  expect(await sweep(hooks)).toEqual({ completed: 120 });
  expect(await runsOf(hooks)).toEqual([slow]);
});

test("a run stays that a rerun under way may read from, and goes when that has ended", async () => {
  const hooks = newHooks({ days: 1 });
  const slow = await start(hooks, "slow");
  await hooks.world.post(`/runs/${slow}/cancel`, {}, ADMIN);
  await hooks.world.world.host.settled(slow);
  const { status } = await hooks.world.post(`/runs/${slow}/rerun`, {}, ADMIN);
  expect(status).toBe(202);
  hooks.clock.jump(2 * DAY_MS);
  const [, again = ""] = await runsOf(hooks);

  expect(await sweep(hooks, true)).toEqual({});
  expect(await sweep(hooks)).toEqual({});
  await hooks.world.post(`/runs/${again}/cancel`, {}, ADMIN);
  await hooks.world.world.host.settled(again);
  expect(await sweep(hooks)).toEqual({ cancelled: 1 });
  expect(await runsOf(hooks)).toEqual([again]);
});

test("a run stays until its webhook has been taken up, and a dead letter goes with its run", async () => {
  const hooks = newHooks({ runs: 1 });
  await hooks.dispatcher.stop(AbortSignal.abort());
  const told = await hooks.run({ workflow: "good", callback_url: "http://127.0.0.1:9/" });
  await hooks.run({ workflow: "bad" });
  const newest = await hooks.run({ workflow: "good" });

  expect(await sweep(hooks)).toEqual({ failed: 1 });
  expect(await runsOf(hooks)).toEqual([told, newest]);
  hooks.restart();
  await hooks.newest({ run_id: told });
  expect(await sweep(hooks)).toEqual({ completed: 1 });
});

test("without a rule everything stays", async () => {
  const hooks = newHooks({});
  await hooks.run({ workflow: "good" });
  hooks.clock.jump(99_999 * DAY_MS);
  expect(await sweep(hooks)).toEqual({});
});

import { expect, test } from "vitest";
import { FakeClock, quiet } from "../../../test/fakes/fake-clock.ts";
import { HttpWorld } from "../../../test/fakes/http-world.ts";
import { input, respond, uhlpGraph } from "../../../test/fakes/uhlp-graph.ts";
import type { Armed } from "../trigger-table.ts";
import { CronTriggers } from "./cron-triggers.ts";

const START = Date.UTC(2026, 2, 28, 22, 30);

function armed(schedule: string, timezone = "UTC"): Armed<"cron"> {
  const trigger = { kind: "cron", schedule, timezone } as const;
  const graph = uhlpGraph({ name: "tidy", trigger, steps: [respond(input("requestData"))] });
  return { trigger, target: { definition: { text: "", graph }, file: "/nowhere/tidy.yaml" } };
}

function cronsOf(world: HttpWorld, failures: unknown[] = []): CronTriggers {
  const { app, runner, checker } = world.parts;
  return new CronTriggers({
    app,
    runner,
    checker,
    clock: world.world.clock,
    failed: (_, error) => failures.push(error),
  });
}

/** The slots that have a run, oldest first. */
async function slotsOf({ world }: HttpWorld): Promise<readonly unknown[]> {
  await quiet();
  const runs = [...(await world.journal.listRuns({ limit: 100 }))].reverse();
  return Promise.all(
    runs.map(async ({ no }) => {
      const text = (await world.journal.readValue(no, 1)) ?? "";
      const { requestData } = JSON.parse(text) as { requestData: { cronDetails: { scheduledTime: string } } };
      return requestData.cronDetails.scheduledTime;
    }),
  );
}

async function passTime({ world }: HttpWorld, hours: number): Promise<void> {
  await world.clock.advance(hours * 3_600_000);
}

test("each slot has a run, in the time zone of the schedule, also where the clocks change", async () => {
  const world = new HttpWorld([], { clock: new FakeClock(START) });
  await cronsOf(world).arm([armed("0 9 * * *", "Europe/Berlin")]);
  await passTime(world, 48);
  // In the night to the 29th an hour is left out.
  expect(await slotsOf(world)).toEqual(["2026-03-29T07:00:00.000Z", "2026-03-30T07:00:00.000Z"]);
});

test("a slot that two processes think theirs has one run", async () => {
  const failures: unknown[] = [];
  const world = new HttpWorld([], { clock: new FakeClock(START) });
  await cronsOf(world, failures).arm([armed("0 * * * *")]);
  await cronsOf(world, failures).arm([armed("0 * * * *")]);
  await passTime(world, 2);
  expect(await slotsOf(world)).toEqual(["2026-03-28T23:00:00.000Z", "2026-03-29T00:00:00.000Z"]);
  expect(failures).toEqual([]);
});

test("slots that pass while nobody serves are not caught up", async () => {
  const world = new HttpWorld([], { clock: new FakeClock(START) });
  const first = cronsOf(world);
  await first.arm([armed("0 * * * *")]);
  await passTime(world, 1);
  first.stop();
  await passTime(world, 5);
  await cronsOf(world).arm([armed("0 * * * *")]);
  await passTime(world, 1);
  expect(await slotsOf(world)).toEqual(["2026-03-28T23:00:00.000Z", "2026-03-29T05:00:00.000Z"]);
});

test("arming again keeps the next slot, and forgets what is gone", async () => {
  const world = new HttpWorld([], { clock: new FakeClock(START) });
  const crons = cronsOf(world);
  await crons.arm([armed("0 * * * *"), armed("30 * * * *")]);
  expect(world.world.clock.armed).toBe(2);
  await crons.arm([armed("0 * * * *")]);
  expect(world.world.clock.armed).toBe(1);
  await passTime(world, 1);
  expect(await slotsOf(world)).toEqual(["2026-03-28T23:00:00.000Z"]);
});

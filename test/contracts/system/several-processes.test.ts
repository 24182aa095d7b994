import { expect, test } from "vitest";
import { createSchedule } from "../../../src/operations/schedules/create-schedule.ts";
import type { NewDelivery } from "../../../src/ports/service/deliveries.ts";
import { FakeClock } from "../../fakes/fake-clock.ts";
import { Hooks } from "../../fakes/hooks-world.ts";
import { HttpWorld } from "../../fakes/http-world.ts";
import { passTime, schedulerOf, shortSlotsOf } from "../../fakes/schedule-world.ts";
import { task, uhlpGraph } from "../../fakes/uhlp-graph.ts";
import { WebhookReceiver } from "../../fakes/webhook-receiver.ts";
import { POSTGRES_RECORDS } from "../records/records-under-test.ts";

const DELIVERIES = Array.from({ length: 60 }, (_, n) => `d${n}`);

function toDelivery(id: string, url: string): NewDelivery {
  const said = {
    event: "run.completed",
    workflow: "hello",
    readsEnv: false,
    sealedHeaders: "",
    body: "{}",
    createdAt: 0,
  };
  return { ...said, id, channel: "webhook", url, lane: `lane ${id.at(-1)}` };
}

test("two dispatchers of one database send every delivery once, and go on with those of a dead one after its lease", async () => {
  const [one, other] = await POSTGRES_RECORDS.open();
  const receiver = await WebhookReceiver.listen();
  for (const id of DELIVERIES) await one.deliveries.add(toDelivery(id, receiver.url()));
  const dispatchers = [one, other].map((service) => new Hooks({ service, isOnly: false }));
  const countPending = async () => {
    await Promise.all(dispatchers.map(({ clock }) => clock.advance(500)));
    return other.deliveries.count({ status: ["pending"] });
  };
  await expect.poll(countPending).toBe(0);

  await one.deliveries.add({ ...toDelivery("late", receiver.url()), createdAt: Number.MAX_SAFE_INTEGER });
  const dead = { limit: 1, perLane: 1, lanesUnderWay: [], by: "dead", leaseMs: 1_000 };
  const claimedAt = performance.now();
  expect(await one.deliveries.claimDue({ now: Number.MAX_SAFE_INTEGER, ...dead })).toHaveLength(1);
  await one.deliveries.sendAgain("late", 0);
  await expect.poll(countPending).toBe(0);
  expect(performance.now() - claimedAt).toBeGreaterThan(1_000);

  expect(receiver.ids.toSorted()).toEqual([...DELIVERIES, "late"].toSorted());
  expect((await one.deliveries.list({ limit: 100 })).every(({ tries }) => tries === 1)).toBe(true);
  expect(dispatchers.flatMap(({ defects }) => defects)).toEqual([]);
});

test("two schedulers of one database fire each slot once, and start what a dead one has claimed", async () => {
  const [service, other] = await POSTGRES_RECORDS.open();
  const world = new HttpWorld([uhlpGraph({ name: "tidy", steps: [task("work")] })], {
    clock: new FakeClock(Date.UTC(2026, 5, 1, 7, 30)),
    service,
  });
  const { schedule_id: id } = await createSchedule(world.parts.app, { workflow: "tidy", cron: "0 * * * *" });
  const schedule = await service.schedules.find(id);
  const [slot = 0, hourMs] = [schedule?.nextFireAt, 3_600_000];
  await service.schedules.claim(id, {
    version: schedule?.version ?? 0,
    fromFireAt: slot,
    nextFireAt: slot + hourMs,
    dueAt: slot + hourMs,
    slots: [{ slot, kind: "cron", outcome: { state: "claimed" }, at: slot }],
  });

  const app = { ...world.parts.app, service: async () => other };
  const schedulers = [schedulerOf(world), schedulerOf(Object.assign(Object.create(world), { parts: { app } }))];
  await Promise.all(schedulers.map((each) => each.start([])));
  for (let hours = 0; hours < 6; hours += 1) {
    await passTime(world, hourMs);
    await Promise.all(schedulers.map((each) => each.look()));
  }
  const started = ["08:00", "09:00", "10:00", "11:00", "12:00", "13:00"].map((time) => `${time} started`);
  expect(await shortSlotsOf(world)).toEqual(started);
  expect(await world.world.journal.countRuns({})).toBe(6);
  expect(world.defects).toEqual([]);
});

test("a slot that one process has started is started for all, whatever another has decided of it", async () => {
  const [one, other] = await POSTGRES_RECORDS.open();
  const world = new HttpWorld([uhlpGraph({ name: "tidy", steps: [task("work")] })], { service: one });
  const { schedule_id: id } = await createSchedule(world.parts.app, { workflow: "tidy", cron: "0 * * * *" });
  await one.schedules.addSlots(id, [{ slot: 5, kind: "cron", outcome: { state: "claimed" }, at: 5 }]);
  const [pending] = await other.schedules.listPending();
  await one.schedules.settle(pending?.seq ?? 0, { state: "started", runId: "r" });
  await other.schedules.settle(pending?.seq ?? 0, { state: "skipped", reason: "overlap" });
  expect(await other.schedules.listSlots(id, { limit: 1 })).toMatchObject([
    { outcome: { state: "started", runId: "r" } },
  ]);
});

import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { toGraph } from "../../../test/fakes/direct-graph.ts";
import { FakeClock, quiet } from "../../../test/fakes/fake-clock.ts";
import { HttpWorld, type HttpWorldOptions } from "../../../test/fakes/http-world.ts";
import { passTime, schedulerOf, shortSlotsOf, slotsOf, theSchedule } from "../../../test/fakes/schedule-world.ts";
import { input, literal, respond, task, uhlpGraph } from "../../../test/fakes/uhlp-graph.ts";
import { journalWith, succeed, untilAborted } from "../../../test/faults/world.ts";
import { MemoryJournal } from "../../../test/support/memory/memory-journal.ts";
import { PawlError } from "../../core/errors/pawl-error.ts";
import type { Graph } from "../../core/graph/graph.ts";
import { withMethods } from "../../operations/application/with-methods.ts";
import type { RegisteredDefinition } from "../../operations/definitions/registry.ts";
import { changeSchedule } from "../../operations/schedules/change-schedule.ts";
import { createSchedule, type NewSchedule } from "../../operations/schedules/create-schedule.ts";
import { Scheduler } from "./scheduler.ts";

const START = Date.UTC(2026, 5, 1, 7, 30);
const HOUR = 3_600_000;
const NONE: readonly RegisteredDefinition[] = [];

const work: Graph = uhlpGraph({ name: "tidy", steps: [task("work")] });

function newWorld(options: HttpWorldOptions = {}, graphs: readonly Graph[] = [work]): HttpWorld {
  return new HttpWorld(graphs, { clock: new FakeClock(START), ...options });
}

async function scheduled(world: HttpWorld, more: Partial<NewSchedule> = {}) {
  return createSchedule(world.parts.app, { workflow: "tidy", cron: "0 * * * *", ...more });
}

function registered(graph: Graph): RegisteredDefinition {
  return {
    name: graph.name,
    file: `/nowhere/${graph.name}.yaml`,
    report: { definition: { text: "", graph }, problems: [] },
  };
}

async function runsOf({ world }: HttpWorld): Promise<number> {
  await quiet();
  return (await world.journal.listRuns({ limit: 200 })).length;
}

test("each slot has one run, which is the schedule's last one", async () => {
  const world = newWorld();
  await scheduled(world);
  await schedulerOf(world).start(NONE);
  await passTime(world, 2 * HOUR);
  expect(await shortSlotsOf(world)).toEqual(["08:00 started", "09:00 started"]);
  const schedule = await theSchedule(world);
  expect(schedule).toMatchObject({ next_fire_at: "2026-06-01T10:00:00.000Z", last_run_id: expect.any(String) });
  expect((await slotsOf(world)).at(-1)?.run_id).toBe(schedule.last_run_id);
  expect(await runsOf(world)).toBe(2);
});

test("two processes that think a slot theirs start one run", async () => {
  const world = newWorld();
  await scheduled(world);
  await schedulerOf(world).start(NONE);
  await schedulerOf(world).start(NONE);
  await passTime(world, 2 * HOUR);
  expect(await runsOf(world)).toBe(2);
  expect(world.defects).toEqual([]);
});

test.each([
  { catchUp: "none", slots: ["08:00-12:00 missed", "13:00 started"] },
  { catchUp: "one", slots: ["08:00-11:00 missed", "12:00 started", "13:00 started"] },
  { catchUp: "all", slots: ["08:00", "09:00", "10:00", "11:00", "12:00", "13:00"].map((slot) => `${slot} started`) },
] as const)("slots that pass while nobody serves, with catch_up $catchUp", async ({ catchUp, slots }) => {
  const world = newWorld();
  await scheduled(world, { catchUp, overlap: "queue" });
  await passTime(world, 5 * HOUR);
  await schedulerOf(world).start(NONE);
  await passTime(world, HOUR);
  expect(await shortSlotsOf(world)).toEqual(slots);
});

test("no more than a hundred slots are caught up, and the others are told of in one record", async () => {
  const world = newWorld();
  await scheduled(world, { cron: "* * * * *", catchUp: "all", overlap: "queue" });
  await passTime(world, 2 * HOUR);
  await schedulerOf(world).start(NONE);
  await quiet(400);
  const slots = await slotsOf(world);
  expect(slots[0]).toMatchObject({ reason: "missed", count: 20, last_slot: "2026-06-01T07:50:00.000Z" });
  expect(slots).toHaveLength(101);
});

test("a process that starts within a minute of a slot is not late", async () => {
  const world = newWorld();
  await scheduled(world, { catchUp: "none" });
  await passTime(world, HOUR / 2 + 59_000);
  await schedulerOf(world).start(NONE);
  await quiet();
  expect(await shortSlotsOf(world)).toEqual(["08:00 started"]);
});

/** Runs that last until they are cancelled or let go. */
function busyWorld() {
  const gates: (() => void)[] = [];
  const world = newWorld({
    plays: {
      work: async (_, signal) => {
        await Promise.race([untilAborted(signal), new Promise<void>((resolve) => gates.push(resolve))]);
        return succeed(null);
      },
    },
  });
  return { world, letGo: () => gates.shift()?.() };
}

test("with overlap skip, a slot is left out while the run before is under way", async () => {
  const { world, letGo } = busyWorld();
  await scheduled(world, { overlap: "skip" });
  await schedulerOf(world).start(NONE);
  await passTime(world, 2 * HOUR);
  expect(await shortSlotsOf(world)).toEqual(["08:00 started", "09:00 overlap"]);
  letGo();
  await quiet();
  await passTime(world, HOUR);
  expect(await shortSlotsOf(world)).toEqual(["08:00 started", "09:00 overlap", "10:00 started"]);
});

test("with overlap queue, slots wait for each other, and start in order", async () => {
  const { world, letGo } = busyWorld();
  await scheduled(world, { overlap: "queue" });
  await schedulerOf(world).start(NONE);
  await passTime(world, 3 * HOUR);
  expect(await shortSlotsOf(world)).toEqual(["08:00 started", "09:00 queued", "10:00 queued"]);
  letGo();
  await quiet();
  expect(await shortSlotsOf(world)).toEqual(["08:00 started", "09:00 started", "10:00 queued"]);
  letGo();
  await quiet();
  expect(await runsOf(world)).toBe(3);
});

test("with overlap cancel_previous, the run before is cancelled", async () => {
  const { world } = busyWorld();
  await scheduled(world, { overlap: "cancel_previous" });
  await schedulerOf(world).start(NONE);
  await passTime(world, 2 * HOUR);
  expect(await shortSlotsOf(world)).toEqual(["08:00 started", "09:00 started"]);
  const statuses = (await world.world.journal.listRuns({ limit: 9 })).map(({ status }) => status);
  expect(statuses).toEqual(["running", "cancelled"]);
});

test("slots that pass while a schedule is paused are told of when it goes on, and are not caught up", async () => {
  const world = newWorld();
  const { schedule_id: id } = await scheduled(world, { catchUp: "all" });
  await schedulerOf(world).start(NONE);
  await changeSchedule(world.parts.app, id, { enabled: false });
  await passTime(world, 3 * HOUR);
  expect(await slotsOf(world)).toEqual([]);
  await changeSchedule(world.parts.app, id, { enabled: true });
  await passTime(world, HOUR);
  expect(await shortSlotsOf(world)).toEqual(["08:00-10:00 disabled", "11:00 started"]);
});

test("a change of the times counts at once, and forgets no slot that was due", async () => {
  const world = newWorld();
  const { schedule_id: id } = await scheduled(world);
  await passTime(world, HOUR / 2);
  await changeSchedule(world.parts.app, id, { cron: "15 * * * *", timezone: "Europe/Berlin" });
  await schedulerOf(world).start(NONE);
  await passTime(world, HOUR);
  expect(await shortSlotsOf(world)).toEqual(["08:00 started", "08:15 started"]);
});

test("jitter moves the start of a run, never its slot", async () => {
  const world = newWorld();
  await scheduled(world, { jitterSeconds: 1_800 });
  await schedulerOf(world).start(NONE);
  await passTime(world, HOUR);
  const [slot] = await slotsOf(world);
  expect(slot).toMatchObject({ slot: "2026-06-01T08:00:00.000Z", state: "started" });
  const late = Date.parse(slot?.recorded_at ?? "") - Date.parse(slot?.slot ?? "");
  expect(late).toBeGreaterThan(0);
  expect(late).toBeLessThan(1_800_000);
});

test("a run that cannot begin leaves a record of why", async () => {
  const failures: unknown[] = [];
  const strict = uhlpGraph({
    name: "tidy",
    schema: { type: "object", required: ["a"], properties: { a: { type: "string" } } },
    steps: [task("work")],
  });
  const world = newWorld({}, [strict]);
  await schedulerOf(world, failures).start([registered({ ...strict, schedule: "0 * * * *" })]);
  await passTime(world, HOUR);
  // A schema is compiled first.
  await expect
    .poll(() => slotsOf(world))
    .toMatchObject([{ reason: "refused", message: expect.stringContaining("INPUT_INVALID") }]);
  expect(failures).toHaveLength(1);
});

test("a run whose model has no price under a limit leaves a record, and is not tried for ever", async () => {
  const world = newWorld();
  await scheduled(world);
  // As who asks for what it may cost would be told.
  const app = withMethods(world.parts.app, {
    library: {
      list: () => {
        throw new PawlError("PRICE_UNKNOWN", { message: "Nobody knows what it costs." });
      },
    },
  });
  const { host } = world.world;
  const scheduler = new Scheduler({ app, host, runner: world.runner, failed: () => {}, onDefect: () => {} });
  onTestFinished(() => scheduler.stop());
  await scheduler.start(NONE);
  await passTime(world, HOUR);
  expect(await slotsOf(world)).toMatchObject([
    { state: "skipped", reason: "refused", message: "PRICE_UNKNOWN: Nobody knows what it costs." },
  ]);
});

test("a journal that cannot be written loses no slot", async () => {
  let isFull = true;
  const journal = journalWith(new MemoryJournal(), async (entries, append) => {
    if (isFull) return entries.map(() => ({ ok: false, reason: "refused", message: "The disk is full." }));
    return append(entries);
  });
  const world = newWorld({ journal });
  await scheduled(world);
  await schedulerOf(world).start(NONE);
  await passTime(world, HOUR);
  expect(await runsOf(world)).toBe(0);
  isFull = false;
  await passTime(world, 60_000);
  expect(await shortSlotsOf(world)).toEqual(["08:00 started"]);
});

test("a process that died after its claim, or after the start, leaves what the next one completes once", async () => {
  for (const dies of ["after the claim", "after the start"]) {
    const world = newWorld();
    const { schedule_id: id } = await scheduled(world);
    const { schedules } = await world.parts.app.service();
    await passTime(world, HOUR / 2);
    const slot = Date.UTC(2026, 5, 1, 8);
    const claimed = await schedules.claim(id, {
      version: 1,
      fromFireAt: slot,
      nextFireAt: slot + HOUR,
      dueAt: slot + HOUR,
      slots: [{ slot, kind: "cron", outcome: { state: "claimed" }, at: slot }],
    });
    expect(claimed).toBe(true);
    if (dies === "after the start") {
      const stored = await schedules.find(id);
      const { prepareScheduled } = await import("../../operations/schedules/run-schedule.ts");
      if (stored !== undefined) {
        await world.runner.start(await prepareScheduled(world.parts.app, stored, { slot, kind: "cron" }));
      }
    }
    await schedulerOf(world).start(NONE);
    await quiet();
    expect(await shortSlotsOf(world), dies).toEqual(["08:00 started"]);
    expect(await runsOf(world), dies).toBe(1);
  }
});

test("a clock that jumps ahead is late, and one that is set back fires no slot again", async () => {
  const world = newWorld();
  await scheduled(world);
  const scheduler = schedulerOf(world);
  await scheduler.start(NONE);
  await passTime(world, HOUR);
  world.world.clock.jump(5 * HOUR);
  await scheduler.tick();
  expect(await shortSlotsOf(world)).toEqual(["08:00 started", "09:00-12:00 missed", "13:00 started"]);
  world.world.clock.jump(-5 * HOUR);
  await scheduler.tick();
  expect(await theSchedule(world)).toMatchObject({ next_fire_at: "2026-06-01T09:00:00.000Z" });
  await passTime(world, 6 * HOUR);
  expect(await runsOf(world)).toBe(2 + 4);
});

test("a definition's schedule is stored, follows the file, and says when it is gone", async () => {
  const world = newWorld();
  const scheduler = schedulerOf(world);
  await scheduler.start([registered({ ...work, schedule: "0 * * * *" })]);
  expect(await theSchedule(world)).toMatchObject({ source: "definition", next_fire_at: "2026-06-01T08:00:00.000Z" });
  await passTime(world, HOUR);
  await scheduler.update([registered({ ...work, schedule: "45 * * * *" })]);
  await passTime(world, HOUR);
  expect(await shortSlotsOf(world)).toEqual(["08:00 started", "08:45 started"]);

  await scheduler.update([{ name: "tidy", file: "/nowhere/tidy.yaml", report: { problems: [] } }]);
  expect(await theSchedule(world)).toMatchObject({ enabled: true });
  await scheduler.update([registered(work)]);
  expect(await theSchedule(world)).toMatchObject({ enabled: false, disabled_reason: "definition_removed" });
  expect((await slotsOf(world)).at(-1)).toMatchObject({ kind: "change", reason: "definition_removed" });

  await scheduler.update([registered({ ...work, schedule: "45 * * * *" })]);
  expect(await theSchedule(world)).toMatchObject({ enabled: true, disabled_reason: null });
});

test("a schedule of a definition that a person has paused stays paused", async () => {
  const world = newWorld();
  const defined = [registered({ ...work, schedule: "0 * * * *" })];
  await schedulerOf(world).start(defined);
  await changeSchedule(world.parts.app, (await theSchedule(world)).schedule_id, { enabled: false });
  await schedulerOf(world).start(defined);
  expect(await theSchedule(world)).toMatchObject({ enabled: false, disabled_reason: "paused" });
});

test("a cron trigger is a schedule of its definition, and its run is told of its slot", async () => {
  const trigger = { kind: "cron", schedule: "0 9 * * *", timezone: "Europe/Berlin" } as const;
  const cron = uhlpGraph({ name: "tidy", trigger, steps: [respond(input("requestData"))] });
  const world = newWorld({ clock: new FakeClock(Date.UTC(2026, 2, 28, 22, 30)) }, [cron]);
  await schedulerOf(world).start([registered(cron)]);
  await passTime(world, 24 * HOUR);
  const [run] = await world.world.journal.listRuns({ limit: 9 });
  const stored = await world.world.journal.readValue(run?.no ?? 0, 1);
  expect(JSON.parse(stored ?? "")).toMatchObject({
    requestData: { source: "cron", cronDetails: { jobId: "tidy", scheduledTime: "2026-03-29T07:00:00.000Z" } },
  });
});

test("a definition has several schedules, each with its name and what it says, which nobody else changes", async () => {
  const says = { input: { deep: true }, catchUp: "all" } as const;
  const graph = (words: object) => ({
    ...uhlpGraph({ name: "tidy", steps: [respond(input("requestData"))] }),
    triggers: [
      { kind: "cron", schedule: "0 9 * * *", timezone: "UTC" } as const,
      { kind: "cron", schedule: "30 9 * * *", timezone: "UTC", name: "deep", ...words } as const,
    ],
  });
  const world = newWorld({}, [graph({ says })]);
  const { app } = world.parts;
  const listed = async () => (await app.service()).schedules.list({});
  await schedulerOf(world).start([registered(graph({ says }))]);
  const [plain, deep] = await listed();
  expect([plain?.catchUp, deep?.catchUp, deep?.input]).toEqual(["one", "all", { deep: true }]);
  await expect(changeSchedule(app, deep?.id ?? "", { catchUp: "none" })).rejects.toThrow("says the `catchUp`");
  await changeSchedule(app, plain?.id ?? "", { catchUp: "none" });
  await passTime(world, 24 * HOUR);
  const runs = await world.world.journal.listRuns({ limit: 9 });
  const inputs = await Promise.all(runs.map(({ no }) => world.world.journal.readValue(no, 1)));
  expect(inputs.map((each) => JSON.parse(each ?? "").requestData)).toEqual(
    expect.arrayContaining([expect.objectContaining({ source: "cron", name: "deep", payload: { deep: true } })]),
  );
  await schedulerOf(world).start([registered(graph({}))]);
  expect((await listed()).map(({ catchUp, input }) => [catchUp, input])).toEqual([
    ["none", {}],
    ["one", {}],
  ]);
});

test("a workflow of any dialect is given the schedule's input", async () => {
  const plain = { ...toGraph([{ id: "work", kind: "task", executor: "code", input: input("a") }]), name: "tidy" };
  const world = newWorld({}, [plain]);
  await scheduled(world, { input: { a: 7 } });
  await schedulerOf(world).start(NONE);
  await passTime(world, HOUR);
  expect(world.world.calls.map((call) => call.input)).toEqual([7]);
});

test("many schedules that have slept for a year, or name the same second, leave others their turns, and each has its run", async () => {
  for (const { cron, away } of [
    { cron: "* * * * *", away: 365 * 24 * HOUR },
    { cron: "0 8 * * *", away: HOUR / 2 },
  ]) {
    const world = newWorld({}, [uhlpGraph({ name: "tidy", steps: [respond(literal(1))] })]);
    const count = 40;
    for (let made = 0; made < count; made += 1) await scheduled(world, { cron });
    world.world.clock.jump(away);
    let isOver = false;
    let turns = 0;
    const others = async () => {
      for (; !isOver; turns += 1) await nextTurn();
    };
    const waiting = others();
    await schedulerOf(world).start(NONE);
    isOver = true;
    await waiting;
    expect(turns).toBeGreaterThan(count);
    expect(await runsOf(world)).toBe(count);
  }
});

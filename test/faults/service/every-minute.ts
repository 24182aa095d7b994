import { expect } from "vitest";
import { openServiceRecords } from "../../../src/app/open-service-records.ts";
import type { StoredSchedule } from "../../../src/ports/service/schedules.ts";
import type { KilledServer } from "./killed-server.ts";

const MINUTE_MS = 60_000;

/** A schedule that should have fired in each of the last minutes, and catches all of them up. Its first slot. */
export async function addSchedule(path: string, slots: number): Promise<number> {
  const service = openServiceRecords({ path, durability: "power" });
  const now = Date.now();
  const firstSlot = now - (now % MINUTE_MS) - (slots - 1) * MINUTE_MS;
  const schedule: StoredSchedule = {
    id: "every-minute",
    workflow: "tick",
    cron: "* * * * *",
    timezone: "UTC",
    input: {},
    enabled: true,
    overlap: "queue",
    catchUp: "all",
    jitterSeconds: 0,
    source: "api",
    nextFireAt: firstSlot,
    dueAt: firstSlot,
    version: 1,
    createdAt: firstSlot,
    updatedAt: firstSlot,
  };
  expect(await service.schedules.add(schedule)).toBe(true);
  await service.close();
  return firstSlot;
}

interface Slot {
  readonly slot: string;
  readonly state: string;
  readonly run_id: string | null;
}

/** One after the other, each minute once, each with a run of its own that has ended. */
export async function expectSlots(
  server: KilledServer,
  { firstSlot, slots, about }: { firstSlot: number; slots: number; about: string },
): Promise<void> {
  const list = async () => ((await server.get("/schedules/every-minute/slots?limit=200")) as { items: Slot[] }).items;
  const started = async () => (await list()).filter(({ state }) => state === "started");
  await expect.poll(async () => (await started()).length, { timeout: 60_000 }).toBeGreaterThanOrEqual(slots);
  const times = (await list()).map(({ slot }) => Date.parse(slot)).sort((a, b) => a - b);
  expect({ about, times }).toEqual({ about, times: times.map((_, n) => firstSlot + n * MINUTE_MS) });
  const ids = (await started()).map(({ run_id: id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const { response } = await server.ask("/api/runs?workflow=tick&limit=200");
  const { data, meta } = (await response.json()) as { data: { run_id: string }[]; meta: { total: number } };
  expect(meta.total).toBeGreaterThanOrEqual(slots);
  expect(new Set(data.map(({ run_id: id }) => id))).toEqual(new Set((await started()).map(({ run_id: id }) => id)));
}

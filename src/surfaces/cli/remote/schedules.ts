import { dataOf, type PawlClient } from "../../../client/pawl-client.ts";
import { gatherInput } from "../../../operations/start/gather-input.ts";
import { type CommonOptions, formatOf } from "../cli-context.ts";
import {
  type CreateScheduleOptions,
  showEnabled,
  showNext,
  showRemovedSchedule,
  showSchedules,
  showSlots,
} from "../commands/schedules.ts";
import { print, printEnvelope, tell } from "../print.ts";
import { shortId } from "../short-id.ts";
import { given, type RemoteParts } from "./remote-parts.ts";

type ScheduleCommand = (parts: RemoteParts, id: string, options: CommonOptions) => Promise<number>;

const SHOWN_SLOTS = 50;
const byId = (id: string) => ({ params: { path: { id } } });

export async function listSchedules({ client }: RemoteParts, options: CommonOptions): Promise<number> {
  return showSchedules((await dataOf(client.api.GET("/schedules"))).items, options);
}

export async function createSchedule(
  { client }: RemoteParts,
  { workflow, cron }: { readonly workflow: string; readonly cron: string },
  options: CreateScheduleOptions,
): Promise<number> {
  const { i: pairs = [], input: file, timezone, overlap, catchUp, jitter } = options;
  const input = await gatherInput({ pairs, folder: process.cwd(), ...given({ file }) }, undefined);
  const body = { workflow, cron, input, timezone, overlap, catch_up: catchUp, ...given({ jitter_seconds: jitter }) };
  const created = await dataOf(client.api.POST("/schedules", { body }));
  if (formatOf(options) !== "text") printEnvelope(created);
  else {
    print(created.schedule_id);
    tell(`Next: ${created.next_fire_times.join(", ")}`);
  }
  return 0;
}

const enable =
  (enabled: boolean): ScheduleCommand =>
  async ({ client }, id, options) =>
    showEnabled(
      await dataOf(client.api.PATCH("/schedules/{id}", { ...byId(await wholeId(client, id)), body: { enabled } })),
      options,
    );

const next: ScheduleCommand = async ({ client }, id, options) =>
  showNext(await dataOf(client.api.GET("/schedules/{id}", byId(id))), options);

const slots: ScheduleCommand = async ({ client }, id, options) => {
  const asked = { params: { path: { id }, query: { limit: SHOWN_SLOTS } } };
  return showSlots(await dataOf(client.api.GET("/schedules/{id}/slots", asked)), options);
};

const rm: ScheduleCommand = async ({ client }, id, options) => {
  const whole = await wholeId(client, id);
  await dataOf(client.api.DELETE("/schedules/{id}", byId(whole)));
  return showRemovedSchedule(whole, options);
};

const run: ScheduleCommand = async ({ client }, id, options) => {
  const { run_id: runId } = await dataOf(client.api.POST("/schedules/{id}/run", byId(id)));
  if (formatOf(options) !== "text") printEnvelope({ run_id: runId });
  else {
    print(runId);
    tell(`The run is under way at ${client.url}. See it with: pawl runs watch ${shortId(runId)}`);
  }
  return 0;
};

export const scheduleCommands = { pause: enable(false), resume: enable(true), next, slots, rm, run };

async function wholeId(client: PawlClient, id: string): Promise<string> {
  return (await dataOf(client.api.GET("/schedules/{id}", byId(id)))).schedule_id;
}

import type { JsonObject } from "../../../src/core/json.ts";
import type { Client } from "../workload/client.ts";
import type { ObservedEvent, ObservedRun, ObservedSchedule } from "./observation.ts";

const AT_ONCE = 4;
const MINUTE_MS = 60_000;

interface ListedRun {
  readonly run_id: string;
  readonly workflow_name: string;
  readonly status: string;
}

/** All runs, with their outputs and journals, as the API shows them. */
export async function observeRuns(client: Client): Promise<readonly ObservedRun[]> {
  const listed = await readList<ListedRun>(client, "/runs");
  const observed: ObservedRun[] = [];
  const work = listed.values();
  const worker = async () => {
    for (const run of work) observed.push(await observeRun(client, run));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return observed;
}

/** The ids of runs that have not ended. */
export async function unfinishedRuns(client: Client): Promise<readonly string[]> {
  const going = ["queued", "running", "waiting", "awaiting_approval"];
  const runs = await readList<ListedRun>(client, "/runs");
  return runs.filter(({ status }) => going.includes(status)).map(({ run_id: id }) => id);
}

async function observeRun(client: Client, { run_id: runId, workflow_name: workflow, status }: ListedRun) {
  const { data } = await client.get(`/runs/${runId}?prompts=false&steps=false&whole=true`);
  const { outputs } = data as { readonly outputs: JsonObject | null };
  const events = await readList<{ seq: number; event: ObservedEvent }>(client, `/runs/${runId}/events`);
  return { runId, workflow, status, outputs: outputs ?? {}, events: events.map(toEvent) };
}

function toEvent({ seq, event }: { readonly seq: number; readonly event: ObservedEvent }) {
  const { type, at, path, cause, code, diedAt } = event;
  return {
    seq,
    event: {
      type,
      at,
      ...(path === undefined ? {} : { path }),
      ...(cause === undefined ? {} : { cause }),
      ...(code === undefined ? {} : { code }),
      ...(diedAt === undefined ? {} : { diedAt }),
    },
  };
}

interface ListedSlot {
  readonly slot: string;
  readonly state: string;
  readonly run_id: string | null;
  readonly count: number;
}

export async function observeSchedule(
  client: Client,
  { id, first, until }: { readonly id: string; readonly first: number; readonly until: number },
): Promise<ObservedSchedule> {
  const slots = await readList<ListedSlot>(client, `/schedules/${id}/slots`);
  // The slot of the minute in which it ended may come a moment later.
  const last = until - (until % MINUTE_MS) - MINUTE_MS;
  const toSlot = ({ slot, state, run_id: runId }: ListedSlot) => ({ slot: Date.parse(slot), state, runId });
  return { id, first, last, slots: slots.map(toSlot) };
}

async function readList<T>(client: Client, path: string): Promise<readonly T[]> {
  const items: T[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { data, code } = await client.get(`${path}?limit=200${cursor === "" ? "" : `&cursor=${cursor}`}`);
    if (code !== undefined) throw new Error(`${path} is refused: ${code}`);
    const page = data as unknown as { readonly items: readonly T[]; readonly next_cursor: string | null };
    items.push(...page.items);
    cursor = page.next_cursor;
  }
  return items;
}

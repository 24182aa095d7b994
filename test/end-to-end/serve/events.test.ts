import { createParser, type EventSourceMessage } from "eventsource-parser";
import { expect, test } from "vitest";
import { dataOf } from "../../fakes/read-events.ts";
import { KilledServer } from "../../faults/service/killed-server.ts";
import { AT_ONCE, application, QUESTION } from "../support/application.ts";

const KILLS = 3;

test("followers of all runs go on where they were, through kill -9 and an orderly restart, each event once", async () => {
  const app = application({
    "workflows/question.yaml": QUESTION,
    "answers.yaml": AT_ONCE,
    "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
  });
  const server = new KilledServer({ cwd: app, env: {} });
  await server.start();
  const seen: EventSourceMessage[] = [];
  await follow(await server.url, seen, ({ event }) => event === "ready");
  const ended = new Set<string>();
  for (let round = 0; round <= KILLS; round += 1) {
    const url = await server.url;
    const last = seen.at(-1)?.id;
    const submitted = Array.from({ length: 8 }, () => submit(url));
    // Cut off in the middle, with the runs under way.
    const following = follow(url, seen, ({ event }) => event === "run.finished", last).catch(() => undefined);
    await Promise.allSettled(submitted);
    await following;
    if (round === KILLS) break;
    await (round === 1 ? server.stop() : server.kill());
    await server.start();
  }
  const url = await server.url;
  await expect.poll(() => countUnfinished(url)).toBe(0);
  const marker = await submit(url);
  await follow(url, seen, (event) => isEndOf(event, marker), seen.at(-1)?.id);

  const whole: EventSourceMessage[] = [];
  await follow(url, whole, (event) => isEndOf(event, marker), seen[0]?.id);
  expect(seen.slice(1)).toEqual(whole);
  for (const event of whole) if (event.event === "run.finished") ended.add(String(dataOf(event)["run_id"]));
  expect(whole.filter(({ event }) => event === "reset" || event === "ready")).toEqual([]);
  expect(whole.filter(({ event }) => event === "run.finished")).toHaveLength(ended.size);
  expect(ended.size).toBe(await countRuns(url));
  await server.stop();
});

function isEndOf(event: EventSourceMessage, runId: string): boolean {
  return event.event === "run.finished" && dataOf(event)["run_id"] === runId;
}

/** Adds what is told to what was seen. */
async function follow(
  url: string,
  seen: EventSourceMessage[],
  isEnough: (event: EventSourceMessage) => boolean,
  after?: string,
): Promise<void> {
  const response = await fetch(`${url}/events`, after === undefined ? {} : { headers: { "last-event-id": after } });
  let isDone = false;
  const parser = createParser({
    onEvent(event) {
      if (isDone || event.id === undefined) return;
      seen.push(event);
      isDone = isEnough(event);
    },
  });
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    if (isDone) return;
  }
}

async function submit(url: string): Promise<string> {
  const body = JSON.stringify({ workflow: "question", input: { question: "?" } });
  const response = await fetch(`${url}/workflows/run`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  return ((await response.json()) as { readonly data: { readonly run_id: string } }).data.run_id;
}

async function countUnfinished(url: string): Promise<number> {
  const response = await fetch(`${url}/runs?status=queued,running,waiting&limit=100`);
  return ((await response.json()) as { readonly data: { readonly items: readonly unknown[] } }).data.items.length;
}

async function countRuns(url: string): Promise<number> {
  const response = await fetch(`${url}/api/runs?limit=1`);
  return ((await response.json()) as { readonly meta: { readonly total: number } }).meta.total;
}

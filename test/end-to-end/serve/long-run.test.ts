import { expect, test } from "vitest";
import { dataOf, readEvents } from "../../fakes/read-events.ts";
import { watchHealth } from "../../support/watch-health.ts";
import { application } from "../support/application.ts";
import { startServer } from "../support/server.ts";

const ITEMS = 20_000;

const MANY = `
name: many
steps:
  - {id: each, prompt: "{input.n}", parallel_over: input.items, max_concurrent: 500}
  - {id: all, prompt: done, depends_on: [each]}
`;

const ANSWERS = `
steps:
  each: {reply: {ok: true}, delay_ms: 0, cost_usd: 0.001}
  all: {reply: done, delay_ms: 0, cost_usd: 0.001}
`;

test("a run of 20,000 items is told from its beginning, from its middle and as a whole, and no other request waits", async () => {
  const cwd = application({
    "workflows/many.yaml": MANY,
    "answers.yaml": ANSWERS,
    "pawl.yaml": 'agent: { provider: "simulated:answers.yaml" }\n',
  });
  const { url } = await startServer([], { cwd, env: {} });
  const asked = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ workflow: "many", input: { items: Array.from({ length: ITEMS }, (_, n) => ({ n })) } }),
  };
  const answer = await fetch(`${url}/workflows/run/sync`, asked);
  const { run_id: id } = ((await answer.json()) as { readonly data: { readonly run_id: string } }).data;
  const health = await watchHealth(async () => (await fetch(`${url}/healthz`)).text());

  const ask = async (path: string) => (await fetch(url + path)).text();
  const whole = await ask(`/runs/${id}/stream`);
  const after = [...whole.matchAll(/^id: (\S+)$/gm)][ITEMS]?.[1] ?? "";
  const rest = await ask(`/runs/${id}/stream?after=${after}`);
  for (const path of [`/runs/${id}`, `/runs/compare?a=${id}&b=${id}`, `/runs/${id}/events?cursor=30000`, "/costs"])
    expect(await ask(path)).toMatch(/^\{"data":\{/);
  expect((await fetch(`${url}/workflows/plan`, asked)).status).toBe(200);
  const { p99 } = health.take();
  await health.end();
  // The events were read again in one go, and 20,000 steps were described in another: 600 ms.
  expect(p99).toBeLessThan(health.limitMs());
  const told = await readEvents(toStream(whole));
  const completed = told.filter((event) => event.event === "step" && dataOf(event)["status"] === "completed");
  expect(new Set(completed.map((event) => dataOf(event)["path"])).size).toBe(ITEMS + 1);
  expect(told.at(-1)?.event).toBe("end");
  const numbered = told.filter((event) => event.id !== undefined);
  const place = numbered.findIndex((event) => event.id === after);
  const again = (await readEvents(toStream(rest))).filter((event) => event.id !== undefined);
  expect(again.map((event) => event.id)).toEqual(numbered.slice(place + 1).map((event) => event.id));
});

function toStream(text: string): Response {
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

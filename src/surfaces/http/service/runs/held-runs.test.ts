import { expect, test } from "vitest";
import { hold, pass } from "../../../../../test/fakes/held-run.ts";
import { Hooks } from "../../../../../test/fakes/hooks-world.ts";
import { dataOf } from "../../../../../test/fakes/http-answers.ts";
import { HttpWorld } from "../../../../../test/fakes/http-world.ts";
import { WebhookReceiver } from "../../../../../test/fakes/webhook-receiver.ts";
import { succeed } from "../../../../../test/faults/world.ts";
import type { JsonObject } from "../../../../core/json.ts";

/** A server over a run whose step took five processes down. */
async function serveHeld(more: Parameters<typeof hold>[0] = {}) {
  const { world, id } = await hold(more);
  const { journal, blobs, files, clock } = world;
  const http = new HttpWorld([], { journal, blobs, files, clock, plays: { a: () => succeed("done") } });
  await http.world.host.recover();
  return { http, id, letters: async () => (await dataOf(http.request("/dead-letter?status=open")))["items"] };
}

async function itemsOf(response: Promise<Response>): Promise<readonly JsonObject[]> {
  return (await dataOf(response))["items"] as JsonObject[];
}

test("a held run says so in lists and in itself, with what to type", async () => {
  const { http, id } = await serveHeld();
  const error = {
    code: "POISON",
    message: expect.stringContaining('"a" was in flight'),
    remedy: expect.stringContaining(`pawl runs resume ${id}`),
  };
  expect(await itemsOf(http.request("/runs"))).toMatchObject([
    { run_id: id, status: "waiting", completed_at: null, error },
  ]);
  expect(await dataOf(http.request(`/runs/${id}`))).toMatchObject({
    status: "waiting",
    error,
    steps: [
      { path: "a", status: "held", error: { code: "POISON" } },
      { path: "b", status: "pending", error: null },
    ],
  });
});

test("its resume lets it go on, and that of all runs does not", async () => {
  const { http, id } = await serveHeld();
  await http.post("/runs/resume", {});
  await pass(http.world, 0);
  expect(await http.world.recordOf(id)).toMatchObject({ status: "waiting" });
  expect((await http.post(`/runs/${id}/resume`, {})).status).toBe(202);
  expect(await http.world.host.settled(id)).toMatchObject({ status: "completed" });
  expect(await dataOf(http.request(`/runs/${id}`))).toMatchObject({ status: "completed", error: null });
});

test("it has a dead letter as long as it is held, also of a workflow that keeps none", async () => {
  const { http, id, letters } = await serveHeld();
  const letter = { dead_letter_id: `${id}:a`, run_id: id, path: "a", code: "POISON", held: true, status: "open" };
  expect(await letters()).toMatchObject([letter]);
  expect(await dataOf(http.request(`/dead-letter/${id}:a`))).toMatchObject(letter);
  await http.post(`/runs/${id}/resume`, {});
  await http.world.host.settled(id);
  expect(await letters()).toEqual([]);
});

test("a retry of its dead letter is its resume", async () => {
  const { http, id } = await serveHeld();
  expect(await dataOf(http.post(`/dead-letter/${id}:a/retry`, {}))).toMatchObject({ run_id: id });
  expect(await http.world.host.settled(id)).toMatchObject({ status: "completed" });
});

test("webhooks are told which step is held, and where it is resumed", async () => {
  const receiver = await WebhookReceiver.listen();
  const { world, id } = await hold({ ending: { failureWebhook: receiver.url("/failed") } });
  const { journal, blobs, files, clock } = world;
  const hooks = new Hooks({ journal, blobs, files, clock });
  await hooks.newest({ status: "delivered" });
  expect(JSON.parse(receiver.first.body)).toMatchObject({
    event: "step.held",
    run_id: id,
    path: "a",
    error: { code: "POISON", remedy: expect.stringContaining(`pawl runs resume ${id}`) },
    links: { run: `/runs/${id}`, resume: `/runs/${id}/resume` },
  });
});

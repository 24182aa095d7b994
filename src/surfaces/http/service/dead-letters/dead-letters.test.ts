import { describe, expect, test } from "vitest";
import { dataOf } from "../../../../../test/fakes/http-answers.ts";
import { HttpWorld } from "../../../../../test/fakes/http-world.ts";
import { path, task, toGraph } from "../../../../../test/faults/graphs.ts";
import { fail, type Play, succeed, untilAborted } from "../../../../../test/faults/world.ts";
import type { JsonObject } from "../../../../core/json.ts";
import { newRunId } from "../../../../hosts/session/new-run.ts";

const FRAGILE = toGraph(
  [
    task("fetch", { each: { list: path("input.items"), maxConcurrent: 5 }, onFailure: "skip" }),
    task("report", { after: ["fetch"], input: path("steps.fetch") }),
  ],
  { name: "fragile", ending: { deadLetter: true } },
);

/** Items fail until they are mended. */
function newWorld() {
  const state = { isMended: false, isStuck: false };
  const play: Play = async (_task, signal) => {
    if (state.isStuck) await untilAborted(signal);
    return state.isMended ? succeed("good", 2_000) : fail("BROKEN");
  };
  return { state, world: new HttpWorld([FRAGILE], { plays: { fetch: play } }) };
}

async function codeOf(response: Response | Promise<Response>) {
  const answered = await response;
  const { error } = (await answered.json()) as { readonly error: JsonObject };
  return [answered.status, error["code"]];
}

/** The ids of the letters that are open. */
async function openOf(world: HttpWorld): Promise<unknown[]> {
  const { items } = await dataOf(world.request("/dead-letter?status=open"));
  return (items as JsonObject[]).map(({ dead_letter_id }) => dead_letter_id);
}

async function failTwice(world: HttpWorld): Promise<string> {
  const run = await dataOf(world.post("/workflows/run/sync", { workflow: "fragile", input: { items: [1, 2] } }));
  expect(run["status"]).toBe("partial");
  return String(run["run_id"]);
}

test("dead letters are listed page by page, and found by their run and path", async () => {
  const { world } = newWorld();
  const id = await failTwice(world);
  const first = await dataOf(world.request("/dead-letter?limit=1&status=open"));
  expect(first["items"]).toMatchObject([
    { dead_letter_id: `${id}:fetch[0]`, code: "BROKEN", held: false, status: "open" },
  ]);
  const second = await dataOf(world.request(`/dead-letter?limit=1&cursor=${first["next_cursor"]}`));
  expect(second).toMatchObject({ items: [{ path: "fetch[1]" }], next_cursor: null });
  expect(await dataOf(world.request("/dead-letter?limit=5&offset=1"))).toEqual(second);
  expect(await dataOf(world.request("/dead-letter?workflow=other"))).toMatchObject({ items: [] });
  const shown = await dataOf(world.request(`/dead-letter/${encodeURIComponent(`${id}:fetch[1]`)}`));
  expect(shown).toMatchObject({ path: "fetch[1]", retried_as: null });
  expect(await codeOf(world.request(`/dead-letter/${id}:fetch[9]`))).toEqual([404, "DEAD_LETTER_NOT_FOUND"]);
});

test("a retry is a rerun from there, and of several who ask at once one gets it", async () => {
  const { world, state } = newWorld();
  const id = await failTwice(world);
  state.isMended = true;
  const address = `/dead-letter/${encodeURIComponent(`${id}:fetch[0]`)}`;
  const answers = await Promise.all(Array.from({ length: 5 }, () => world.post(`${address}/retry`, {})));
  expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409, 409]);
  const accepted = answers.find(({ status }) => status === 202);
  if (accepted === undefined) throw new Error("Nobody got the retry.");
  const { run_id: again } = await dataOf(accepted);
  await world.world.host.settled(String(again));
  const rerun = await dataOf(world.request(`/runs/${again}`));
  expect(rerun).toMatchObject({ status: "completed", rerun_of: { run_id: id, from_path: "fetch[0]" } });
  expect(await dataOf(world.request(address))).toMatchObject({ status: "retried", retried_as: again });
  expect(await dataOf(world.request(`/runs/${id}`))).toMatchObject({ status: "partial" });
  expect(await codeOf(world.post(`${address}/resolve`, {}))).toEqual([409, "DEAD_LETTER_CLOSED"]);
  // The retry has done again all that had failed, and the other letter is no open one either.
  expect(await openOf(world)).toEqual([]);
  expect(await codeOf(world.post(`/dead-letter/${encodeURIComponent(`${id}:fetch[1]`)}/retry`, {}))).toEqual([
    409,
    "DEAD_LETTER_CLOSED",
  ]);
});

describe("what has repeated a run answers for its letters", () => {
  test.each(["rerun", "fork"])("a %s that completes closes them, and nothing is paid twice", async (way) => {
    const { world, state } = newWorld();
    const id = await failTwice(world);
    state.isMended = true;
    const body = way === "fork" ? { changes: { timeout: 60 } } : {};
    const { run_id: again } = await dataOf(world.post(`/runs/${id}/${way}`, body));
    await world.world.host.settled(String(again));
    expect(await openOf(world)).toEqual([]);
    const letter = `/dead-letter/${encodeURIComponent(`${id}:fetch[1]`)}`;
    expect(await dataOf(world.request(letter))).toMatchObject({ status: "retried", retried_as: again });
    expect(await codeOf(world.post(`${letter}/retry`, {}))).toEqual([409, "DEAD_LETTER_CLOSED"]);
    expect(await world.world.journal.countRuns({})).toBe(2);
  });

  test("what fails again has one open letter, that of the last run; one that then completes closes those of all", async () => {
    const { world, state } = newWorld();
    const id = await failTwice(world);
    const again = async (run: string) => {
      const { run_id: next } = await dataOf(world.post(`/runs/${run}/rerun`, {}));
      await world.world.host.settled(String(next));
      return String(next);
    };
    const second = await again(id);
    expect(await openOf(world)).toEqual([`${second}:fetch[0]`, `${second}:fetch[1]`]);
    state.isMended = true;
    await again(second);
    expect(await openOf(world)).toEqual([]);
  });

  test("one that was cancelled does not: they are open, and can be retried", async () => {
    const { world, state } = newWorld();
    const id = await failTwice(world);
    state.isStuck = true;
    const letter = `/dead-letter/${encodeURIComponent(`${id}:fetch[0]`)}`;
    const { run_id: again } = await dataOf(world.post(`${letter}/retry`, {}));
    expect(await openOf(world)).toEqual([]);
    await dataOf(world.post(`/runs/${again}/cancel`, {}));
    await world.world.host.settled(String(again));
    expect(await openOf(world)).toEqual([`${id}:fetch[0]`, `${id}:fetch[1]`]);
    state.isStuck = false;
    state.isMended = true;
    const { run_id: third } = await dataOf(world.post(`${letter}/retry`, {}));
    expect((await world.world.host.settled(String(third))).status).toBe("completed");
    expect(await openOf(world)).toEqual([]);
  });

  test("retries of two letters of one run at once begin one run", async () => {
    const { world, state } = newWorld();
    const id = await failTwice(world);
    state.isMended = true;
    const retry = (item: number) => world.post(`/dead-letter/${encodeURIComponent(`${id}:fetch[${item}]`)}/retry`, {});
    const answers = await Promise.all([retry(0), retry(1)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409]);
  });

  test("a retry with a key is answered with its run, however often it is asked for", async () => {
    const { world, state } = newWorld();
    const id = await failTwice(world);
    state.isMended = true;
    const address = `/dead-letter/${encodeURIComponent(`${id}:fetch[0]`)}/retry`;
    const first = await dataOf(world.post(address, {}, { "idempotency-key": "k" }));
    await world.world.host.settled(String(first["run_id"]));
    const again = await dataOf(world.post(address, {}, { "idempotency-key": "k" }));
    expect(again["run_id"]).toBe(first["run_id"]);
  });
});

describe("a retry whose process died after noting it and before its run began", () => {
  async function dieInRetry() {
    const { world, state } = newWorld();
    const id = await failTwice(world);
    state.isMended = true;
    const { deadLetters } = await world.parts.app.service();
    const claimed = newRunId(Date.now());
    const note = { run: id, path: "fetch[0]", status: "retried", at: 5, newRun: claimed, isPending: true } as const;
    await deadLetters.close(note);
    return { world, claimed, address: `/dead-letter/${encodeURIComponent(`${id}:fetch[0]`)}` };
  }

  test("is open, and whoever retries gets the run that was claimed, once", async () => {
    const { world, claimed, address } = await dieInRetry();
    expect(await dataOf(world.request(address))).toMatchObject({ status: "open", retried_as: null });
    const answers = await Promise.all(Array.from({ length: 5 }, () => world.post(`${address}/retry`, {})));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409, 409]);
    expect((await world.world.host.settled(claimed)).status).toBe("completed");
    expect(await dataOf(world.request(address))).toMatchObject({ status: "retried", retried_as: claimed });
  });

  test("can be resolved instead", async () => {
    const { world, address } = await dieInRetry();
    expect(await dataOf(world.post(`${address}/resolve`, { note: "no" }))).toMatchObject({ status: "resolved" });
    expect(await codeOf(world.post(`${address}/retry`, {}))).toEqual([409, "DEAD_LETTER_CLOSED"]);
  });
});

test("a retry stays one when the run that came of it is deleted", async () => {
  const { world, state } = newWorld();
  const id = await failTwice(world);
  state.isMended = true;
  const address = `/dead-letter/${encodeURIComponent(`${id}:fetch[0]`)}`;
  const { run_id: again } = await dataOf(world.post(`${address}/retry`, {}));
  await world.world.host.settled(String(again));
  await dataOf(world.request(`/runs/${again}`, { method: "DELETE" }));
  expect(await codeOf(world.post(`${address}/retry`, {}))).toEqual([409, "DEAD_LETTER_CLOSED"]);
});

test("a dead letter is resolved with a note, and its run stays as it ended", async () => {
  const { world } = newWorld();
  const id = await failTwice(world);
  const address = `/dead-letter/${encodeURIComponent(`${id}:fetch[0]`)}`;
  const resolved = await dataOf(world.post(`${address}/resolve`, { note: "The shop is gone." }));
  expect(resolved).toMatchObject({ status: "resolved", note: "The shop is gone." });
  expect(await codeOf(world.post(`${address}/retry`, {}))).toEqual([409, "DEAD_LETTER_CLOSED"]);
  expect(await dataOf(world.request(`/runs/${id}`))).toMatchObject({ status: "partial" });
});

test("a deleted run takes its dead letters with it, and a run that goes on is not deleted", async () => {
  const { world } = newWorld();
  const id = await failTwice(world);
  expect(await dataOf(world.request(`/runs/${id}`, { method: "DELETE" }))).toEqual({ run_id: id });
  expect(await codeOf(world.request(`/runs/${id}`))).toEqual([404, "RUN_NOT_FOUND"]);
  expect(await dataOf(world.request("/dead-letter"))).toMatchObject({ items: [] });
  const waiting = "name: gate\nsteps:\n  - id: ask\n    type: approval\n    approval_config: { message: go? }\n";
  const { run_id: open } = await dataOf(world.post("/workflows/run/sync", { workflow: waiting }));
  expect(await codeOf(world.request(`/runs/${open}`, { method: "DELETE" }))).toEqual([409, "RUN_NOT_ENDED"]);
});

test("two runs are compared: status, cost, input, outputs, and each step", async () => {
  const { world, state } = newWorld();
  const a = await failTwice(world);
  state.isMended = true;
  const more = await dataOf(world.post("/workflows/run/sync", { workflow: "fragile", input: { items: [1, 2, 3] } }));
  const compared = await dataOf(world.request(`/runs/compare?a=${a}&b=${more["run_id"]}`));
  expect(compared).toMatchObject({
    status: { a: "partial", b: "completed" },
    total_cost_usd: { a: 0, b: 0.006, delta: 0.006 },
    definition: { changed: false, diff: null },
    input: { changed: true, diff: expect.stringContaining("+    3") },
    outputs: { changed: true },
  });
  expect(compared["steps"]).toMatchObject([
    { path: "fetch[0]", status: { a: "failed", b: "completed" }, output_changed: true, cost_usd_delta: 0.002 },
    { path: "fetch[1]", only_in: null },
    { path: "report", output_changed: true, output_diff: expect.stringContaining("good") },
    { path: "fetch[2]", only_in: "b", status: { a: null, b: "completed" } },
  ]);
  const same = await dataOf(world.request(`/runs/compare?a=${a}&b=${a}`));
  expect(same).toMatchObject({ outputs: { changed: false }, total_cost_usd: { delta: 0 } });
});

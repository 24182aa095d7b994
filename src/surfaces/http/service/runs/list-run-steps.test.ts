import { expect, test, vi } from "vitest";
import { dataOf } from "../../../../../test/fakes/http-answers.ts";
import { HttpWorld, type HttpWorldOptions } from "../../../../../test/fakes/http-world.ts";
import { task, to, uhlpGraph } from "../../../../../test/fakes/uhlp-graph.ts";
import { fail, succeed, untilAborted } from "../../../../../test/faults/world.ts";
import type { JsonObject } from "../../../../core/json.ts";

const LEADS = `
name: leads
steps:
  - id: enrich
    prompt: "Look at {input.name}"
    parallel_over: "input.leads"
    max_concurrent: 2
    retry: { max_attempts: 2, backoff: fixed, on_failure: skip }
  - id: sum
    depends_on: [enrich]
    prompt: "Sum up"
`;

const GATE = `
name: gate
steps:
  - {id: ask, type: approval, approval_config: {message: "Go on?"}}
  - {id: after, depends_on: [ask], prompt: "Go"}
`;

function newWorld(options: HttpWorldOptions = {}): HttpWorld {
  const poll = task("poll", [to("poll", { when: { op: "literal", value: false } }), to("done")]);
  return new HttpWorld([uhlpGraph({ name: "visits", steps: [poll, task("done")] })], {
    agent: { provider: "simulated" },
    ...options,
  });
}

async function run(world: HttpWorld, workflow: string, input: JsonObject = {}): Promise<string> {
  return String((await dataOf(world.post("/workflows/run", { workflow, input })))["run_id"]);
}

async function steps(world: HttpWorld, id: string, query = "") {
  const page = await dataOf(world.request(`/runs/${id}/steps${query}`));
  return { ...page, items: page["items"] as readonly JsonObject[], next: page["next_cursor"] };
}

const leads = (count: number) => ({ leads: Array.from({ length: count }, (_, n) => ({ name: `n${n}` })) });

async function withLeads(count: number): Promise<{ readonly world: HttpWorld; readonly id: string }> {
  const world = newWorld({
    plays: {
      enrich: ({ path }) => (path === "enrich[1]" ? fail("BAD_LEAD", { costMicro: 5 }) : succeed("ok", 7)),
    },
  });
  const id = await run(world, LEADS, leads(count));
  await world.world.host.settled(id);
  return { world, id };
}

test("a fan-out is one entry with the counts of its items, and its items are asked for by its path", async () => {
  const { world, id } = await withLeads(5);
  const { items, ...about } = await steps(world, id);
  expect(about).toMatchObject({ run_id: id, status: "partial", next_cursor: null });
  expect(about).toMatchObject({ as_of: (about as JsonObject)["last_seq"] });
  expect(items).toMatchObject([
    {
      path: "enrich",
      kind: "task",
      executor: "agent",
      status: "failed",
      items: { total: 5, by_status: { completed: 4, failed: 1 } },
      cost_usd: 0.000033,
      error: { code: "BAD_LEAD" },
      attempts: [],
    },
    { path: "sum", status: "completed", items: null, attempts: [{ attempt: 1, status: "completed" }] },
  ]);
  const inside = await steps(world, id, "?under=enrich");
  expect(inside.items.map(({ path }) => path)).toEqual([
    "enrich[0]",
    "enrich[1]",
    "enrich[2]",
    "enrich[3]",
    "enrich[4]",
  ]);
  expect(inside.items[1]).toMatchObject({
    parallel_index: 1,
    status: "failed",
    attempts: [{ error_code: "BAD_LEAD" }],
  });
});

test("pages follow one another, also among those of one status", async () => {
  const { world, id } = await withLeads(5);
  const seen: unknown[] = [];
  for (let cursor: unknown = ""; cursor !== null; ) {
    const page = await steps(
      world,
      id,
      `?under=enrich&limit=2${cursor === "" ? "" : `&cursor=${encodeURIComponent(String(cursor))}`}`,
    );
    seen.push(...page.items.map(({ path }) => path));
    cursor = page.next;
  }
  expect(seen).toEqual([0, 1, 2, 3, 4].map((n) => `enrich[${n}]`));
  const failed = await steps(world, id, "?status=failed");
  expect(failed.items).toMatchObject([{ path: "enrich" }]);
  expect((await steps(world, id, "?under=enrich&status=failed,running")).items).toMatchObject([{ path: "enrich[1]" }]);
  const stray = await world.request(`/runs/${id}/steps?cursor=other`);
  expect(await stray.json()).toMatchObject({ error: { code: "REQUEST_INVALID" } });
  const nowhere = await world.request(`/runs/${id}/steps?under=other`);
  expect(await nowhere.json()).toMatchObject({ error: { code: "STEP_NOT_FOUND" } });
});

test("each attempt is a span, and so is the wait for the next one", async () => {
  const world = newWorld({
    plays: {
      enrich: () => fail("AGENT_IDLE", { retryable: true }),
      sum: (_, signal) => untilAborted(signal).then(() => succeed(1)),
    },
  });
  const id = await run(world, LEADS, leads(1));
  await vi.waitFor(async () =>
    expect((await steps(world, id, "?under=enrich[0]")).items).toMatchObject([
      {
        status: "retrying",
        error: { code: "AGENT_IDLE" },
        attempts: [{ attempt: 1, status: "failed", error_code: "AGENT_IDLE" }],
        waits: [{ kind: "retry", until: null, wake_at: expect.any(String) }],
      },
    ]),
  );
  await world.world.clock.advance(60_000);
  await vi.waitFor(async () => {
    const { items } = await steps(world, id);
    expect(items[1]).toMatchObject({
      path: "sum",
      status: "running",
      attempts: [{ status: "running", ended_at: null }],
    });
  });
  const [item] = (await steps(world, id, "?under=enrich")).items;
  const { attempts, waits } = item as { attempts: JsonObject[]; waits: JsonObject[] };
  expect(attempts).toMatchObject([{ attempt: 1 }, { attempt: 2, status: "failed" }]);
  expect(waits).toMatchObject([{ kind: "retry", since: attempts[0]?.["ended_at"], until: attempts[1]?.["queued_at"] }]);
});

test("a run is told as of any of its events", async () => {
  const { world, id } = await withLeads(3);
  const first = await steps(world, id, "?as_of=1");
  expect(first).toMatchObject({
    as_of: 1,
    status: "running",
    items: [
      { path: "enrich", status: "running" },
      { path: "sum", status: "pending" },
    ],
  });
  const last = Number((first as JsonObject)["last_seq"]);
  for (let seq = 1; seq <= last; seq += 1)
    expect((await steps(world, id, `?as_of=${seq}`)) as JsonObject).toMatchObject({ as_of: seq });
  expect(await steps(world, id, `?as_of=${last + 9}`)).toEqual(await steps(world, id));
});

test("who waits for a person says since when", async () => {
  const world = newWorld();
  const id = await run(world, GATE);
  await world.world.host.settled(id);
  const waiting = await steps(world, id);
  expect(waiting).toMatchObject({
    status: "awaiting_approval",
    items: [
      {
        path: "ask",
        kind: "approve",
        status: "awaiting_approval",
        waits: [{ kind: "person", until: null, wake_at: null }],
      },
      { path: "after", status: "pending", queued_at: null, attempts: [], waits: [] },
    ],
  });
  await world.post(`/approvals/${id}:ask/approve`, {});
  await world.world.host.settled(id);
  const { items } = await steps(world, id);
  expect(items).toMatchObject([
    { status: "completed", waits: [{ kind: "person", until: expect.any(String) }] },
    { status: "completed" },
  ]);
});

test("visits of a machine are listed as they came", async () => {
  const world = newWorld();
  const id = await run(world, "visits");
  await world.world.host.settled(id);
  expect((await steps(world, id)).items).toMatchObject([
    { path: "poll#1", visit: 1, executor: "code", status: "completed" },
    { path: "done#1", visit: 1 },
  ]);
  expect((await steps(world, id, "?under=poll%231")).items).toHaveLength(1);
});

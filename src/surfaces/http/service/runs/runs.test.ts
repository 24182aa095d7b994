import { describe, expect, onTestFinished, test, vi } from "vitest";
import { dataOf } from "../../../../../test/fakes/http-answers.ts";
import { HttpWorld, type HttpWorldOptions } from "../../../../../test/fakes/http-world.ts";
import { literal, object, task, uhlpGraph } from "../../../../../test/fakes/uhlp-graph.ts";
import { fail, succeed, untilAborted } from "../../../../../test/faults/world.ts";
import { openServiceRecords } from "../../../../app/open-service-records.ts";
import { PawlError } from "../../../../core/errors/pawl-error.ts";
import type { Step } from "../../../../core/graph/graph.ts";
import type { JsonObject } from "../../../../core/json.ts";

const APPROVAL = `
name: gate
steps:
  - id: ask
    type: approval
    approval_config: { message: "Go on?", allow_edit: true }
`;

const TWO_STEPS = `
name: two steps
steps:
  - id: first
    prompt: "Say {input.word}"
  - id: second
    depends_on: [first]
    prompt: "Repeat {steps.first.output}"
`;

function newWorld(options: HttpWorldOptions = {}): HttpWorld {
  return new HttpWorld([uhlpGraph({ name: "hello", steps: [task("work")] })], {
    agent: { provider: "simulated" },
    ...options,
  });
}

async function errorOf(
  response: Response | Promise<Response>,
): Promise<{ readonly code: string; readonly message: string }> {
  const { data, error } = (await (await response).json()) as {
    readonly data: unknown;
    readonly error: { readonly code: string; readonly message: string };
  };
  expect(data).toBeNull();
  return error;
}

describe("POST /workflows/run", () => {
  test("records a run of a registered workflow and answers at once", async () => {
    const world = newWorld({ plays: { work: (_, signal) => untilAborted(signal).then(() => succeed(null)) } });
    const response = await world.post("/workflows/run", { workflow: "hello", input: { name: "Ada" } });
    expect(response.status).toBe(202);
    const { run_id: runId, status } = await dataOf(response);
    expect(status).toBe("queued");
    expect(response.headers.get("x-run-id")).toBe(runId);
    expect(await world.world.recordOf(String(runId))).toMatchObject({ workflow: "hello" });
  });

  test("takes the text of a definition, and the names of the original's fields", async () => {
    const world = newWorld();
    const sent = { workflow: TWO_STEPS, input_data: { word: "hi" } };
    const data = await dataOf(world.post("/api/workflows/run/sync", sent));
    expect(data).toMatchObject({ workflow_name: "two steps", status: "completed", input_data: { word: "hi" } });
    expect(data["steps"]).toMatchObject([{ path: "first" }, { path: "second" }]);
    const named = await dataOf(world.post("/api/workflows/run/sync", { workflow_name: "hello" }));
    expect(named).toMatchObject({ workflow_name: "hello", status: "completed" });
  });

  test("tells what is doubtful in the definition", async () => {
    const doubtful = `${TWO_STEPS.trimEnd()}\n    colour: red\n`;
    const { warnings } = await dataOf(newWorld().post("/workflows/run", { workflow: doubtful }));
    expect(warnings).toMatchObject([{ code: "UNKNOWN_KEY", severity: "warning" }]);
    const misspelt = `${TWO_STEPS.trimEnd()}\n    max_concurent: 3\n`;
    const refused = newWorld().post("/workflows/run", { workflow: misspelt });
    expect(await (await refused).json()).toMatchObject({
      error: { code: "DEFINITION_INVALID", details: { problems: [{ remedy: "Did you mean `max_concurrent`?" }] } },
    });
  });

  test.each([
    ["a workflow that nobody has registered", { workflow: "helo" }, 404, "WORKFLOW_NOT_FOUND"],
    ["a path", { workflow: "/etc/passwd" }, 404, "WORKFLOW_NOT_FOUND"],
    ["a text that is no definition", { workflow: "name: x\nsteps: 7" }, 400, "DEFINITION_INVALID"],
    ["no workflow", { input: {} }, 400, "REQUEST_INVALID"],
    ["two workflows", { workflow: "hello", workflow_name: "hello" }, 400, "REQUEST_INVALID"],
    ["two inputs", { workflow: "hello", input: {}, input_data: {} }, 400, "REQUEST_INVALID"],
    ["an input that is no object", { workflow: "hello", input: 7 }, 400, "REQUEST_INVALID"],
    ["an unknown field", { workflow: "hello", inputs: {} }, 400, "REQUEST_INVALID"],
    [
      "a header that begins another",
      { workflow: "hello", callback_headers: { "a\r\nb": "c" } },
      400,
      "REQUEST_INVALID",
    ],
    ["no JSON", "{", 400, "REQUEST_INVALID"],
  ])("refuses %s and starts nothing", async (_what, body, status, code) => {
    const world = newWorld();
    const response = await world.post("/workflows/run", body);
    expect(response.status).toBe(status);
    expect(await errorOf(response)).toMatchObject({ code });
    expect(await world.world.journal.listRuns({ limit: 1 })).toEqual([]);
  });
});

describe("POST /workflows/run/sync", () => {
  test("answers a run that fails with 200 and the error in the run", async () => {
    const world = newWorld({ plays: { work: () => fail("BOOM") } });
    const response = await world.post("/workflows/run/sync", { workflow: "hello" });
    expect(response.status).toBe(200);
    expect(await dataOf(response)).toMatchObject({ status: "failed", error: { code: "BOOM" } });
  });

  test("answers 202 with the run's id where it waits for a person", async () => {
    const world = newWorld();
    const response = await world.post("/workflows/run/sync", { workflow: APPROVAL });
    expect(response.status).toBe(202);
    expect(await dataOf(response)).toMatchObject({ status: "awaiting_approval" });
  });
});

describe("GET /runs", () => {
  async function withRuns(count: number): Promise<HttpWorld> {
    const world = newWorld();
    for (let n = 0; n < count; n += 1) await world.post("/workflows/run/sync", { workflow: "hello", input: { n } });
    return world;
  }

  async function idsOf(world: HttpWorld, path: string): Promise<readonly unknown[]> {
    const { items } = (await dataOf(world.request(path))) as { readonly items: readonly JsonObject[] };
    return items.map((run) => run["run_id"]);
  }

  test("goes through all runs page by page, while others are added", async () => {
    const world = await withRuns(5);
    const all = await idsOf(world, "/runs");
    expect(all).toHaveLength(5);
    const first = await dataOf(world.request("/runs?limit=2"));
    await world.post("/workflows/run/sync", { workflow: "hello" });
    const second = await dataOf(world.request(`/runs?limit=2&cursor=${first["next_cursor"]}`));
    const third = await dataOf(world.request(`/runs?limit=2&cursor=${second["next_cursor"]}`));
    const pages = [first, second, third].flatMap((page) => page["items"]) as JsonObject[];
    expect(pages.map((run) => run["run_id"])).toEqual(all);
    expect(third["next_cursor"]).toBeNull();
  });

  test("finds by status, workflow and time", async () => {
    const world = await withRuns(2);
    expect(await idsOf(world, "/runs?status=completed,failed&workflow=hello")).toHaveLength(2);
    expect(await idsOf(world, "/runs?status=failed&status=running")).toEqual([]);
    expect(await idsOf(world, "/runs?workflow=other")).toEqual([]);
    expect(await idsOf(world, "/runs?until=2000-01-01T00:00:00Z")).toEqual([]);
    expect(await idsOf(world, "/runs?q=hell")).toHaveLength(2);
    expect(await errorOf(world.request("/runs?status=done"))).toMatchObject({ code: "REQUEST_INVALID" });
    expect(await errorOf(world.request("/runs?limit=0"))).toMatchObject({ code: "REQUEST_INVALID" });
    expect(await errorOf(world.request("/runs?cursor=nothing"))).toMatchObject({ code: "REQUEST_INVALID" });
  });

  test("takes days and times as people and programs write them", async () => {
    const world = await withRuns(1);
    const [at = ""] = (await (await world.request("/runs")).text()).match(/(?<="created_at":")[^"]+/) ?? [];
    const [day = ""] = at.split("T");
    const earlier = at.replace("Z", "456+00:00");
    for (const since of [day, at.replace("Z", ""), earlier, encodeURIComponent(earlier), at.replace("Z", "-00:00")]) {
      expect([since, await idsOf(world, `/runs?since=${since}`)]).toEqual([since, [expect.any(String)]]);
      expect([since, await idsOf(world, `/runs?until=${since}`)]).toEqual([since, []]);
    }
    for (const since of ["yesterday", "2026-02-30", "1700000000", ""]) {
      const { code, message } = await errorOf(world.request(`/runs?since=${since}`));
      expect([code, message]).toEqual([
        "REQUEST_INVALID",
        expect.stringContaining("query.since: is no day and no time"),
      ]);
    }
  });

  test("goes on where a page ended whose runs have been deleted", async () => {
    const world = await withRuns(5);
    const all = await idsOf(world, "/runs");
    const seen: unknown[] = [];
    for (let path = "/runs?limit=2"; path !== ""; ) {
      const { items, next_cursor: next } = await dataOf(world.request(path));
      for (const { run_id: id } of items as JsonObject[]) {
        seen.push(id);
        expect((await world.request(`/runs/${String(id)}`, { method: "DELETE" })).status).toBe(200);
      }
      path = next === null ? "" : `/runs?limit=2&cursor=${String(next)}`;
    }
    expect(seen).toEqual(all);
  });

  test("takes signs of patterns in a text for themselves", async () => {
    const world = await withRuns(1);
    for (const text of ["%", "_", "\\", "'", "h%o", "hell_", "\0", "hello\0"]) {
      expect([text, await idsOf(world, `/runs?q=${encodeURIComponent(text)}`)]).toEqual([text, []]);
    }
    expect(await idsOf(world, "/runs?q=HELLO")).toHaveLength(1);
  });

  test("finds runs that wait for their next try, which no row tells", async () => {
    const world = newWorld({ plays: { flaky: () => fail("AGENT_IDLE", { retryable: true }) } });
    const flaky = `
name: flaky
steps:
  - id: flaky
    prompt: "Try"
    retry: { max_attempts: 2, backoff: fixed }
`;
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      ids.unshift(String((await dataOf(world.post("/workflows/run", { workflow: flaky })))["run_id"]));
      await dataOf(world.post("/workflows/run/sync", { workflow: "hello" }));
    }
    await vi.waitFor(async () => expect(await idsOf(world, "/runs?status=retrying")).toEqual(ids));
    expect(await idsOf(world, "/runs?status=retrying&workflow=hello")).toEqual([]);
    const both = await idsOf(world, "/runs?status=retrying,completed");
    expect(both).toEqual(await idsOf(world, "/runs"));
    expect(both).toHaveLength(6);
    for (let offset = 0; offset < 8; offset += 1) {
      const page = await idsOf(world, `/runs?status=retrying,completed&limit=2&offset=${offset}`);
      expect(page).toEqual(both.slice(offset, offset + 2));
    }
    const first = await dataOf(world.request("/runs?status=retrying&limit=2"));
    expect(await idsOf(world, `/runs?status=retrying&cursor=${String(first["next_cursor"])}`)).toEqual(ids.slice(2));
    const numbered = await world.request("/api/runs?status=retrying&limit=1&offset=1");
    expect(await numbered.json()).toMatchObject({
      data: [{ run_id: ids[1], status: "running" }],
      meta: { total: 3, limit: 1, offset: 1 },
    });
    await world.world.clock.advance(3_600_000);
    await vi.waitFor(async () => expect(await idsOf(world, "/runs?status=retrying")).toEqual([]));
  });

  test("is numbered for clients of the original", async () => {
    const world = await withRuns(3);
    const response = await world.request("/api/runs?limit=2&offset=1");
    expect(await response.json()).toMatchObject({
      data: [{ workflow_name: "hello" }, { workflow_name: "hello" }],
      error: null,
      meta: { total: 3, limit: 2, offset: 1 },
    });
  });
});

describe("one run", () => {
  test("is shown by its id or the beginning of it, with or without its outputs", async () => {
    const world = newWorld({ plays: { work: () => succeed({ greeting: "hi" }) } });
    const { run_id: id } = await dataOf(world.post("/workflows/run/sync", { workflow: "hello" }));
    expect(await dataOf(world.request(`/runs/${String(id).slice(0, 20)}`))).toMatchObject({
      run_id: id,
      steps: [{ path: expect.stringContaining("work"), output_data: { greeting: "hi" } }],
    });
    expect(await dataOf(world.request(`/runs/${id}?outputs=false`))).toMatchObject({ outputs: null });
    const missing = await world.request("/runs/01890000");
    expect(missing.status).toBe(404);
    expect(await errorOf(missing)).toMatchObject({ code: "RUN_NOT_FOUND" });
  });

  test("is cancelled once; one that has ended is not", async () => {
    const world = newWorld({ plays: { work: (_, signal) => untilAborted(signal).then(() => fail("STOPPED")) } });
    const { run_id: id } = await dataOf(world.post("/workflows/run", { workflow: "hello" }));
    const response = await world.post(`/runs/${id}/cancel`, { reason: "enough" });
    expect(response.status).toBe(202);
    await world.world.host.settled(String(id));
    expect(await dataOf(world.request(`/runs/${id}`))).toMatchObject({ status: "cancelled" });
    const again = await world.request(`/runs/${id}/cancel`, { method: "POST" });
    expect(again.status).toBe(409);
    expect(await errorOf(again)).toMatchObject({ code: "RUN_FINISHED" });
  });
});

describe("approvals", () => {
  async function withApproval(): Promise<{ readonly world: HttpWorld; readonly id: string }> {
    const world = newWorld();
    const { run_id: runId } = await dataOf(world.post("/workflows/run/sync", { workflow: APPROVAL }));
    return { world, id: `${runId}:ask` };
  }

  test("are listed, shown and answered, with what a person has edited", async () => {
    const { world, id } = await withApproval();
    expect(await dataOf(world.request("/approvals"))).toMatchObject({
      items: [{ approval_id: id, message: "Go on?" }],
    });
    expect(await dataOf(world.request(`/approvals/${encodeURIComponent(id)}`))).toMatchObject({ allow_edit: true });
    const answered = await world.post(`/approvals/${encodeURIComponent(id)}/approve`, { edited_data: { ok: 1 } });
    expect(await dataOf(answered)).toMatchObject({ path: "ask", answer: "approve" });
    const [runId = ""] = id.split(":");
    await world.world.host.settled(runId);
    expect(await dataOf(world.request(`/runs/${runId}`))).toMatchObject({
      status: "completed",
      steps: [{ output_data: { ok: 1 } }],
    });
    expect(await dataOf(world.request("/approvals"))).toMatchObject({ items: [] });
    const late = await world.post(`/approvals/${encodeURIComponent(id)}/reject`, {});
    expect(late.status).toBe(409);
    expect(await errorOf(late)).toMatchObject({
      code: "APPROVAL_CONFLICT",
      message: '"ask" was already answered by api: approve.',
    });
    const elsewhere = await world.post(`/approvals/${runId}:other/approve`, {});
    expect(await errorOf(elsewhere)).toMatchObject({ code: "RUN_FINISHED" });
  });

  test("have one answer, however many come at the same moment", async () => {
    const { world, id } = await withApproval();
    const path = `/approvals/${encodeURIComponent(id)}`;
    const verdicts = ["approve", "reject", "skip"];
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => world.post(`${path}/${verdicts[n % 3]}`, { comment: `no. ${n}` })),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    const lost = await Promise.all(answers.filter(({ status }) => status !== 200).map(errorOf));
    expect(lost).toHaveLength(99);
    for (const { code, message } of lost) {
      // Also those who come when the first answer has ended the run.
      expect({ code, message }).toEqual({
        code: "APPROVAL_CONFLICT",
        message: expect.stringContaining("already answered by api"),
      });
    }
  });
});

test("a server that stops takes no run, says when to come back, and has recorded nothing", async () => {
  const world = newWorld();
  await world.runner.stop(0, AbortSignal.abort());
  for (const path of ["/workflows/run", "/workflows/run/sync", "/api/workflows/run"]) {
    const response = await world.post(path, { workflow: "hello" });
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await errorOf(response)).toMatchObject({ code: "SERVER_STOPPING" });
  }
  expect(await dataOf(world.request("/runs"))).toMatchObject({ items: [] });
});

describe("keys", () => {
  const world = () => newWorld({ server: { api_key: "s3cret" } });

  test.each([
    ["none", {}, 401],
    ["a wrong one", { "x-api-key": "s3cre" }, 401],
    ["the right one", { "x-api-key": "s3cret" }, 200],
    ["the right one as bearer", { authorization: "bearer s3cret" }, 200],
    ["basic authorization", { authorization: "Basic s3cret" }, 401],
  ])("%s", async (_what, headers, status) => {
    const response = await world().request("/runs", { headers });
    expect(response.status).toBe(status);
    if (status === 401) expect(await errorOf(response)).toMatchObject({ code: "UNAUTHORIZED" });
  });

  test("is not taken from the query, but for event streams", async () => {
    const { http } = world();
    const statusOf = async (path: string, init: RequestInit = {}) => {
      const { status, body } = await http.request(`${path}?token=s3cret`, init);
      await body?.cancel();
      return status;
    };
    const headers = { accept: "text/event-stream" };
    expect(await statusOf("/runs", { headers })).toBe(401);
    expect(await statusOf("/workflows/run", { method: "POST", headers, body: '{"workflow": "hello"}' })).toBe(401);
    expect(await statusOf("/runs/none/stream")).toBe(404);
    expect(await statusOf("/events")).toBe(200);
  });

  test("are asked for before anything is read, also on the older paths", async () => {
    for (const path of ["/workflows/run", "/api/workflows/run", "/execute", "/queues/x/messages"]) {
      expect((await world().post(path, "{")).status).toBe(401);
    }
    expect((await world().request("/health")).status).toBe(200);
  });
});

test("a workflow whose steps call another one is not refused for what the database fails to tell of that", async () => {
  const service = openServiceRecords({ path: ":memory:", durability: "process" });
  onTestFinished(() => service.close());
  let isCut = true;
  const definitions: typeof service.definitions = {
    ...service.definitions,
    find: async (wanted) => {
      if (isCut && wanted.name === "child") throw new PawlError("JOURNAL_IO", { message: "The connection was cut." });
      return service.definitions.find(wanted);
    },
  };
  const call: Step = { kind: "call", id: "c", workflow: literal("child"), input: object({}) };
  const graphs = [uhlpGraph({ name: "parent", steps: [call] }), uhlpGraph({ name: "child", steps: [task("work")] })];
  const world = new HttpWorld(graphs, { service: { ...service, definitions } });
  const start = () =>
    world.request("/workflows/run", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ workflow: "parent" }),
    });
  const refused = await start();
  expect([refused.status, await refused.json()]).toMatchObject([503, { error: { code: "JOURNAL_IO" } }]);
  isCut = false;
  expect((await start()).status).toBe(202);
});

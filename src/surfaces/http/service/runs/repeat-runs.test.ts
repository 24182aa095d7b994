import { describe, expect, test } from "vitest";
import { dataOf } from "../../../../../test/fakes/http-answers.ts";
import { HttpWorld, type HttpWorldOptions } from "../../../../../test/fakes/http-world.ts";
import { path, task, toGraph } from "../../../../../test/faults/graphs.ts";
import { fail, succeed, untilAborted } from "../../../../../test/faults/world.ts";
import type { Json, JsonObject } from "../../../../core/json.ts";
import type { Task } from "../../../../ports/executor.ts";

const each = { list: path("input.items"), maxConcurrent: 10 };
const inner = toGraph([task("open"), task("close", { after: ["open"] })], { name: "inner" });

/** A fan-out with a follower and a join, a loop, and a call. */
const WIDE = toGraph(
  [
    task("fetch", { each, input: { op: "path", root: "item", path: [] } }),
    task("score", { after: ["fetch"], usesItem: true, input: path("steps.fetch") }),
    task("report", { after: ["score"], input: path("steps.score") }),
    {
      kind: "flow",
      id: "loop",
      flow: {
        kind: "machine",
        start: "poll",
        maxVisits: 3,
        steps: [
          task("poll", {
            transitions: [
              {
                on: "success",
                when: { op: "compare", by: "<", left: path("output.n"), right: { op: "literal", value: 3 } },
                to: "poll",
              },
              { on: "success", to: { end: "success" } },
            ],
          }),
        ],
      },
    },
    { kind: "call", id: "batch", workflow: { op: "literal", value: "inner" }, input: { op: "object", entries: {} } },
  ],
  { name: "wide" },
);

const SCORING = `
name: scoring
default_model: sonnet
steps:
  - id: scrape
    prompt: "Read {input.url}"
  - id: score
    depends_on: [scrape]
    prompt: "Rate {steps.scrape.output}"
  - id: file
    depends_on: [score]
    prompt: "File {steps.score.output}"
`;

interface Called {
  readonly path: string;
  readonly input: Json;
}

function newWorld(options: HttpWorldOptions = {}): HttpWorld {
  const plays = {
    poll: ({ path: visit }: Task) => succeed({ n: Number(visit.split("#")[1]) }),
    fetch: (done: Task) => succeed(done.input, 1_000),
    ...options.plays,
  };
  return new HttpWorld([WIDE], { agent: { provider: "simulated" }, callable: { inner }, ...options, plays });
}

async function errorOf(response: Response | Promise<Response>) {
  const answered = await response;
  const { error } = (await answered.json()) as { readonly error: JsonObject };
  return { ...error, status: answered.status };
}

async function run(world: HttpWorld, workflow: string, input: JsonObject): Promise<string> {
  const data = await dataOf(world.post("/workflows/run/sync", { workflow, input }));
  return String(data["run_id"]);
}

/** What was called for the new run, and the new run. */
async function repeat(world: HttpWorld, asked: string, body: JsonObject) {
  world.world.calls.length = 0;
  const started = await dataOf(world.post(asked, body));
  await world.world.host.settled(String(started["run_id"]));
  const shown = await dataOf(world.request(`/runs/${started["run_id"]}`));
  const calls = world.world.calls.map((call): Called => ({ path: call.path, input: call.input }));
  return { started, shown, calls, paths: calls.map((call) => call.path).sort() };
}

describe("POST /runs/{id}/rerun", () => {
  test.each([
    ["one item of a fan-out", "fetch[1]", ["fetch[1]", "report", "score[1]"]],
    ["all items of a fan-out", "score", ["report", "score[0]", "score[1]"]],
    ["a visit of a loop, by its path", "loop/poll#2", ["loop/poll#2", "loop/poll#3"]],
    ["a step inside a call, by its path", "batch/open", ["batch/close", "batch/open"]],
    ["a step inside a call, by its id", "close", ["batch/close"]],
    ["the call as a whole", "batch", ["batch/close", "batch/open"]],
  ])("runs %s again with what depends on it, and takes the rest over", async (_what, from, expected) => {
    const world = newWorld();
    const id = await run(world, "wide", { items: ["a", "b"] });
    const { shown, paths, started } = await repeat(world, `/runs/${id}/rerun`, { from_step: from });
    expect(paths).toEqual(expected);
    expect(shown).toMatchObject({ status: "completed", rerun_of: { run_id: id }, parent_run_id: id });
    const old = await dataOf(world.request(`/runs/${id}`));
    expect(old["reruns"]).toMatchObject([{ run_id: started["run_id"], kind: "rerun", status: "completed" }]);
  });

  test("begins at the first step that failed, tries all again that failed, and pays only for that", async () => {
    let isMended = false;
    const mend = (done: Task) => (isMended ? succeed(done.input, 5_000) : fail("BROKEN"));
    const world = newWorld({ plays: { score: mend } });
    const id = await run(world, "wide", { items: ["a", "b"] });
    isMended = true;
    const { started, shown, paths } = await repeat(world, `/runs/${id}/replay`, {});
    expect(started["from_path"]).toMatch(/^score\[[01]\]$/);
    expect(paths.filter((called) => /fetch|score|report/.test(called))).toEqual(["report", "score[0]", "score[1]"]);
    expect(shown).toMatchObject({ status: "completed", total_cost_usd: 0.01 });
  });

  test("of a completed run repeats all of it", async () => {
    const world = newWorld();
    const id = await run(world, "wide", { items: ["a"] });
    const before = world.world.calls.length;
    const { paths, started } = await repeat(world, `/runs/${id}/rerun`, {});
    expect(paths).toHaveLength(before);
    expect(started["from_path"]).toBe("");
  });

  test("names what is meant where a step is not there, or several are", async () => {
    const world = newWorld();
    const id = await run(world, "wide", { items: ["a"] });
    const misspelt = await errorOf(world.post(`/runs/${id}/rerun`, { from_step: "scor" }));
    expect(misspelt).toMatchObject({ status: 404, code: "STEP_NOT_FOUND", remedy: expect.stringContaining("score") });
    const several = await errorOf(world.post(`/runs/${id}/rerun`, { from_step: "poll" }));
    expect(several).toMatchObject({ status: 400, remedy: expect.stringContaining("loop/poll#2") });
    expect(await errorOf(world.post(`/runs/${id}/rerun`, { from_step: "fetch[7]" }))).toMatchObject({ status: 404 });
    const textOnly = await run(world, SCORING, { url: "x" });
    const noFile = await errorOf(world.post(`/runs/${textOnly}/rerun`, { definition: "current" }));
    expect(noFile).toMatchObject({ status: 400, code: "NOT_SUPPORTED" });
    expect(await world.world.journal.countRuns({ parentRunId: id })).toBe(0);
  });

  test("is refused while the run goes on, and possible once it is cancelled", async () => {
    let isStuck = true;
    const stuck = (_: Task, signal: AbortSignal) =>
      isStuck ? untilAborted(signal).then(() => fail("STOPPED")) : succeed("done");
    const world = newWorld({ plays: { report: stuck } });
    const started = await dataOf(world.post("/workflows/run", { workflow: "wide", input: { items: ["a"] } }));
    const id = String(started["run_id"]);
    expect(await errorOf(world.post(`/runs/${id}/rerun`, {}))).toMatchObject({ status: 409, code: "RUN_NOT_ENDED" });
    await dataOf(world.post(`/runs/${id}/cancel`, {}));
    await world.world.host.settled(id);
    isStuck = false;
    const { shown } = await repeat(world, `/runs/${id}/rerun`, { from_step: "report" });
    expect(shown["status"]).toBe("completed");
  });

  test("says that the run it repeats was deleted, and can be repeated itself", async () => {
    const world = newWorld();
    const id = await run(world, "wide", { items: ["a"] });
    const { shown } = await repeat(world, `/runs/${id}/rerun`, { from_step: "report" });
    await world.world.host.deleteRun(id);
    const after = await dataOf(world.request(`/runs/${shown["run_id"]}`));
    expect(after["rerun_of"]).toEqual({ run_id: id, from_path: "report", deleted: true });
    const again = await repeat(world, `/runs/${shown["run_id"]}/rerun`, { from_step: "report" });
    expect(again.paths).toEqual(["report"]);
  });
});

describe("POST /runs/{id}/fork", () => {
  test("changes model, turns and prompt of a step; names in the prompt mean what they mean in the definition", async () => {
    const world = newWorld();
    const id = await run(world, SCORING, { url: "https://a.example" });
    const { shown, calls } = await repeat(world, `/runs/${id}/fork`, {
      from_step: "score",
      changes: {
        prompt: "Rate strictly: {steps.scrape.output}",
        steps: { score: { model: "haiku", max_turns: 3, timeout: 60 }, file: { model: "opus" } },
      },
    });
    expect(calls.map((call) => call.path)).toEqual(["score", "file"]);
    expect(calls[0]?.input).toMatchObject({
      model: "haiku",
      max_turns: 3,
      timeout: 60,
      prompt: expect.stringContaining("Rate strictly: {"),
    });
    expect(calls[1]?.input).toMatchObject({ model: "opus" });
    expect(shown["forked_from"]).toMatchObject({ run_id: id, from_path: "score", changes: { steps: { file: {} } } });
    expect(shown["rerun_of"]).toBeNull();

    const fork = String(shown["run_id"]);
    const again = await repeat(world, `/runs/${fork}/rerun`, { from_step: "score" });
    expect(again.calls[0]?.input).toMatchObject({ model: "haiku", prompt: expect.stringContaining("strictly") });
  });

  test("a changed step runs again though it comes before the one that is forked from", async () => {
    const world = newWorld();
    const id = await run(world, SCORING, { url: "https://a.example" });
    const { paths } = await repeat(world, `/runs/${id}/fork`, {
      from_step: "file",
      changes: { steps: { scrape: { model: "opus" } } },
    });
    expect(paths).toContain("scrape");
  });

  test("changes the input and the limits of the run, and runs again what reads the input", async () => {
    const world = newWorld();
    const id = await run(world, "wide", { items: ["a", "b"], kept: 1 });
    const { shown, paths } = await repeat(world, `/runs/${id}/fork`, {
      from_step: "report",
      changes: { input: { items: ["a", "c"] }, max_cost_usd: 0.5, timeout: 100 },
    });
    expect(shown["input_data"]).toEqual({ items: ["a", "c"], kept: 1 });
    expect(paths.filter((called) => /fetch|score|report/.test(called))).toEqual(["fetch[1]", "report", "score[1]"]);
    expect((await world.world.eventsOf(String(shown["run_id"])))[0]).toMatchObject({ maxCostMicro: 500_000 });
    expect(shown["forked_from"]).toMatchObject({ changes: { input: { items: true }, timeout: 100 } });
  });

  test("changes limits beside money, and what happens where one is used up; what is not named stays", async () => {
    const world = newWorld();
    const asked = { workflow: "wide", input: { items: ["a"] }, limits: { max_tokens: 900, max_steps: 50 } };
    const { run_id: id } = await dataOf(world.post("/workflows/run/sync", asked));
    const { shown } = await repeat(world, `/runs/${String(id)}/fork`, {
      changes: { limits: { max_cost_usd: 2, max_steps: 60, max_seconds: 30, on_exceeded: "ask" } },
    });
    expect((await world.world.eventsOf(String(shown["run_id"])))[0]).toMatchObject({
      maxCostMicro: 2_000_000,
      uses: { maxTokens: 900, maxTries: 60, maxDurationMs: 30_000 },
      onExceeded: "ask",
    });
    expect(shown["forked_from"]).toMatchObject({
      changes: { max_cost_usd: 2, limits: { max_steps: 60, max_seconds: 30, on_exceeded: "ask" } },
    });
  });

  test.each([
    ["a limit that is not there", { limits: { max_token: 5 } }, "CHANGE_INVALID", '"max_tokens"'],
    ["a limit of nothing", { limits: { max_steps: 0 } }, "CHANGE_INVALID", ""],
    ["one limit under two names", { limits: { max_cost_usd: 1 }, max_cost_usd: 1 }, "CHANGE_INVALID", ""],
    ["a step that is not there", { steps: { scor: { model: "opus" } } }, "STEP_NOT_FOUND", '"score"'],
    ["a field that is not there", { steps: { score: { modell: "opus" } } }, "CHANGE_INVALID", '"model"'],
    ["a name that is not there", { inputs: {} }, "CHANGE_INVALID", '"input"'],
    ["a value that does not fit", { steps: { score: { max_turns: 0.5 } } }, "CHANGE_INVALID", ""],
    ["a prompt that does not fit", { steps: { score: { prompt: "{steps.file.output}" } } }, "CHANGE_INVALID", ""],
    ["nothing", {}, "CHANGE_INVALID", ""],
  ])("refuses %s, with the place and what was meant", async (_what, changes, code, remedy) => {
    const world = newWorld();
    const id = await run(world, SCORING, { url: "x" });
    const error = await errorOf(world.post(`/runs/${id}/fork`, { from_step: "score", changes }));
    expect(error).toMatchObject({ code, remedy: expect.stringContaining(remedy) });
    expect(error.status).toBeLessThan(500);
    expect(await world.world.journal.countRuns({ parentRunId: id })).toBe(0);
  });

  test("a model belongs to steps that ask one", async () => {
    const world = newWorld();
    const id = await run(world, "wide", { items: ["a"] });
    const error = await errorOf(world.post(`/runs/${id}/fork`, { from_step: "report", changes: { model: "opus" } }));
    expect(error).toMatchObject({
      status: 400,
      code: "CHANGE_INVALID",
      details: { path: "changes.steps.report.model" },
    });
  });
});

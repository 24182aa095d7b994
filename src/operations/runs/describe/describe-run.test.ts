import { expect, test } from "vitest";
import { agentTask, toGraph } from "../../../../test/fakes/direct-graph.ts";
import { FakeClock } from "../../../../test/fakes/fake-clock.ts";
import { MemoryBlobs } from "../../../../test/support/memory/memory-blobs.ts";
import { MemoryFileStorage } from "../../../../test/support/memory/memory-file-storage.ts";
import { MemoryJournal } from "../../../../test/support/memory/memory-journal.ts";
import type { Expr } from "../../../core/expressions/expr.ts";
import type { Flow, Step } from "../../../core/graph/graph.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { LocalHost } from "../../../hosts/local/local-host.ts";
import type { RunNotice } from "../../../hosts/run-host.ts";
import type { Outcome, Task } from "../../../ports/executor.ts";
import type { RunRecord } from "../../../ports/journal.ts";
import { listApprovals } from "../../approvals/describe-run-approvals.ts";
import type { StepDescription } from "../run-schemas.ts";
import { describeRun, summarizeRun } from "./describe-run.ts";
import { describeStepLogs } from "./describe-run-logs.ts";

const START = Date.UTC(2026, 0, 2, 3, 4, 5);

test("a finished run has the columns of the seed, its outputs and one row per instance", async () => {
  const world = new World((task) => ({ ...succeed(`about ${text(task, "prompt")}`), costMicro: 250_000 }));
  const run = await world.run(
    dag([
      { ...agentTask("scrape", { prompt: item("name") }), each: { list: input("companies"), maxConcurrent: 5 } },
      { ...agentTask("join", { prompt: literal("all") }), after: ["scrape"] },
    ]),
    { companies: [{ name: "Alder" }, { name: "Birch" }] },
  );

  const described = await describeRun(world, run);

  expect(described).toMatchObject({
    run_id: run.id,
    workflow_name: "test",
    dialect: "direct",
    status: "completed",
    input_data: { companies: [{ name: "Alder" }, { name: "Birch" }] },
    outputs: { scrape: ["about Alder", "about Birch"], join: "about all" },
    total_cost_usd: 0.75,
    error: null,
    parent_run_id: null,
    tenant_id: null,
    created_at: "2026-01-02T03:04:05.000Z",
    started_at: "2026-01-02T03:04:05.000Z",
  });
  expect(described.steps.map(({ path, step_id, parallel_index }) => [path, step_id, parallel_index])).toEqual([
    ["scrape[0]", "scrape", 0],
    ["scrape[1]", "scrape", 1],
    ["join", "join", null],
  ]);
  expect(described.steps[1]).toMatchObject({
    status: "completed",
    output_data: "about Birch",
    cost_usd: 0.25,
    attempt: 1,
  });
  expect(sumOf(described.steps)).toBe(described.total_cost_usd);
});

test("the prompt of a step that took some time is shown", async () => {
  const world = new World(async (_, clock) => {
    await clock.advance(2_000);
    return succeed("ok");
  });
  const run = await world.run(dag([agentTask("ask", { prompt: literal("Who?"), model: literal("sonnet") })]), {});

  const [step] = (await describeRun(world, run)).steps;

  expect(step).toMatchObject({ input_prompt: "Who?", duration_seconds: 2, started_at: "2026-01-02T03:04:05.000Z" });
});

test("prompts and outputs are loaded only where they are wanted", async () => {
  const world = new World(() => succeed("long"));
  const run = await world.run(dag([agentTask("ask", { prompt: literal("Who?") })]), {});

  const described = await describeRun(world, run, { withPrompts: false, withOutputs: false });

  expect(described.outputs).toBeNull();
  expect(described.steps[0]).toMatchObject({ input_prompt: null, output_data: null, status: "completed" });
});

test("a large output comes out of the blob store", async () => {
  const large = "x".repeat(100_000);
  const world = new World(() => succeed(large));
  const run = await world.run(dag([agentTask("ask")]), {});

  const [step] = (await describeRun(world, run, { mostBytes: Number.POSITIVE_INFINITY })).steps;
  expect(step?.output_data === large).toBe(true);
});

test("costs and usage add up over attempts, failed ones included", async () => {
  const usage = { input_tokens: 10, server_tool_use: { web_search_requests: 1 }, model: "sonnet" };
  const world = new World(({ attempt }) =>
    attempt === 1
      ? { ...fail("AGENT_IDLE", { retryable: true }), costMicro: 100_000, usage }
      : { ...succeed("ok"), costMicro: 200_000, usage },
  );
  const run = await world.run(dag([{ ...agentTask("ask", {}), retry: RETRY_TWICE }]), {});

  const { steps, usage: total } = await describeRun(world, run);

  expect(steps[0]).toMatchObject({ attempt: 2, cost_usd: 0.3, error: null });
  expect(steps[0]?.usage).toEqual({ input_tokens: 20, server_tool_use: { web_search_requests: 2 } });
  expect(total).toEqual(steps[0]?.usage);
});

test("a step whose price is unknown has no cost, and the run says that its total is a lower bound", async () => {
  const world = new World(() => ({ ...succeed("ok"), costMicro: null }));
  const run = await world.run(dag([agentTask("ask")]), {});

  const described = await describeRun(world, run);

  expect(described).toMatchObject({ unpriced: true, total_cost_usd: 0 });
  expect(described.steps[0]).toMatchObject({ unpriced: true, cost_usd: null });
});

test("a failed step has an error with a remedy, and what depends on it is skipped", async () => {
  const world = new World(() => fail("TIMEOUT"));
  const run = await world.run(dag([agentTask("ask"), { ...agentTask("tell", {}), after: ["ask"] }]), {});

  const { status, error, steps } = await describeRun(world, run);

  expect(status).toBe("failed");
  expect(error).toMatchObject({ code: "TIMEOUT", message: "It failed." });
  expect(steps[0]).toMatchObject({ status: "failed", output_data: null, error: { code: "TIMEOUT" } });
  expect(steps[0]?.error?.remedy).toMatch("Raise `timeout`");
  expect(steps[1]).toMatchObject({ path: "tell", status: "skipped", attempt: 0, started_at: null });
});

test("the remedies of a failed run name it and its step, and how to go on from there", async () => {
  const world = new World((task) => (task.path === "ask[1]" ? fail("AGENT_FAILED") : succeed("ok")));
  const each = { list: input("companies"), maxConcurrent: 5 };
  const run = await world.run(dag([{ ...agentTask("ask", {}), each }]), { companies: ["a", "b"] });

  const { error, steps } = await describeRun(world, run);

  const log = `See its log with \`pawl runs logs ${run.id} 'ask[1]'\`.`;
  expect(error?.remedy).toBe(`${log} Go on from there with \`pawl runs rerun ${run.id} --from 'ask[1]'\`.`);
  expect(steps[1]?.error?.remedy).toBe(log);
  expect(summarizeRun(run).error?.remedy).toBe(
    `See its log with \`pawl runs logs ${run.id}\`. Go on from there with \`pawl runs rerun ${run.id}\`.`,
  );
});

test("items whose condition is false are rows with the status skipped", async () => {
  const world = new World(() => succeed("ok"));
  const isLarge: Expr = { op: "compare", by: ">", left: item("size"), right: literal(10) };
  const run = await world.run(
    dag([{ ...agentTask("ask", {}), each: { list: input("companies"), maxConcurrent: 5 }, when: isLarge }]),
    { companies: [{ size: 50 }, { size: 5 }] },
  );

  const { steps } = await describeRun(world, run);

  expect(steps.map(({ path, status }) => [path, status])).toEqual([
    ["ask[0]", "completed"],
    ["ask[1]", "skipped"],
  ]);
});

test("a fan-out over nothing is one row with an empty list, one over no list a failed row", async () => {
  const world = new World(() => succeed("ok"));
  const fanOut = (id: string, list: string): Step => ({
    ...agentTask(id, {}),
    each: { list: input(list), maxConcurrent: 5 },
    onFailure: "skip",
  });
  const run = await world.run(dag([fanOut("none", "empty"), fanOut("wrong", "missing")]), { empty: [] });

  const { steps } = await describeRun(world, run);

  expect(steps).toMatchObject([
    { path: "none", status: "completed", output_data: [] },
    { path: "wrong", status: "failed", error: { code: "LIST_MISSING" } },
  ]);
});

test("nested flows, fallbacks and visits stand behind the step that they belong to", async () => {
  const world = new World(({ stepId }) => (stepId === "fragile" ? fail("AGENT_FAILED") : succeed(stepId)));
  const run = await world.run(
    dag([
      {
        id: "batch",
        kind: "flow",
        each: { list: input("list"), maxConcurrent: 1 },
        flow: {
          kind: "dag",
          steps: [{ ...agentTask("fragile", {}), catch: { kind: "dag", steps: [agentTask("plan b")] } }],
        },
      },
      { id: "loop", kind: "flow", flow: loopOnce() },
    ]),
    { list: [1, 2] },
  );

  const { steps } = await describeRun(world, run);

  expect(steps.map(({ path }) => path)).toEqual([
    "batch[0]",
    "batch[0]/fragile",
    "batch[0]/fragile~catch/plan%20b",
    "batch[1]",
    "batch[1]/fragile",
    "batch[1]/fragile~catch/plan%20b",
    "loop",
    "loop/poll#1",
    "loop/stop#1",
  ]);
  expect(steps[0]).toMatchObject({ status: "completed", output_data: { fragile: { "plan b": "plan b" } } });
});

test("a run that waits shows for what, while nothing of it is in memory", async () => {
  const world = new World(() => succeed("draft"));
  const run = await world.run(
    dag([
      agentTask("write"),
      {
        id: "review",
        kind: "approve",
        after: ["write"],
        message: literal("Good enough?"),
        show: { op: "path", root: "steps", name: "write", path: [] },
        allowEdit: true,
        approvalTimeoutMs: 3_600_000,
      },
      { id: "pause", kind: "wait", wait: { for: "event", name: literal("go") } },
      { ...agentTask("send", {}), after: ["review"] },
    ]),
    {},
  );

  const { status, outputs, completed_at, steps } = await describeRun(world, run);
  const approvals = await listApprovals(world, run);

  expect({ status, outputs, completed_at }).toEqual({ status: "awaiting_approval", outputs: null, completed_at: null });
  expect(steps.map((step) => step.status)).toEqual(["completed", "awaiting_approval", "waiting", "pending"]);
  expect(approvals).toEqual([
    {
      approval_id: `${run.id}:review`,
      asked: 4,
      key: null,
      run_id: run.id,
      workflow_name: "test",
      path: "review",
      step_id: "review",
      message: "Good enough?",
      shown: "draft",
      since: "2026-01-02T03:04:05.000Z",
      times_out_at: "2026-01-02T04:04:05.000Z",
      on_timeout: "abort",
      approvers: null,
      quorum: 1,
      approved_by: [],
      not_by: [],
      reminded: 0,
      escalated_to: null,
      terms: null,
      allow_edit: true,
      schema: null,
    },
  ]);
});

test("a step that will be tried again is retrying and says why", async () => {
  const world = new World(() => fail("AGENT_IDLE", { retryable: true }));
  const slowly = { ...RETRY_TWICE, initialMs: 60_000, maxMs: 60_000 };
  const run = await world.runUntil(dag([{ ...agentTask("ask", {}), retry: slowly }]), {}, "stepFailed");

  const [step] = (await describeRun(world, run)).steps;

  expect(step).toMatchObject({ status: "retrying", attempt: 1, error: { code: "AGENT_IDLE" }, completed_at: null });
});

test("logs are read by step id, by path, or all", async () => {
  const world = new World((task) => {
    task.emit({ type: "log", event: { type: "assistant", text: task.path } });
    return succeed("ok");
  });
  const run = await world.run(
    dag([{ ...agentTask("ask", {}), each: { list: input("list"), maxConcurrent: 5 } }, agentTask("other")]),
    { list: [1, 2] },
  );
  const pathsOf = async (step?: string) => {
    const paths: string[] = [];
    for await (const log of describeStepLogs(world, run, { step })) paths.push(log.path);
    return paths;
  };

  expect(await pathsOf("ask[1]")).toEqual(["ask[1]"]);
  expect((await pathsOf("ask")).sort()).toEqual(["ask[0]", "ask[1]"]);
  expect((await pathsOf()).length).toBe(3);
  await expect(pathsOf("nobody")).rejects.toMatchObject({ code: "STEP_NOT_FOUND" });
});

test("a summary needs no events", async () => {
  const world = new World(() => succeed("ok"));
  const run = await world.run(dag([agentTask("ask")]), {});

  expect(summarizeRun(run)).toMatchObject({ run_id: run.id, status: "completed", total_cost_usd: 0 });
});

test("ten thousand steps are described", async () => {
  const world = new World(() => succeed("ok"));
  const run = await world.run(dag([{ ...agentTask("ask", {}), each: { list: input("list"), maxConcurrent: 500 } }]), {
    list: new Array(10_000).fill(0),
  });

  const { steps } = await describeRun(world, run);

  expect(steps.length).toBe(10_000);
});

type Answer = (task: Task, clock: FakeClock) => Outcome | Promise<Outcome>;

/** A host on memory, with agents that answer as told. */
class World {
  readonly journal = new MemoryJournal();
  readonly blobs = new MemoryBlobs();
  readonly #clock = new FakeClock(START);
  readonly #host: LocalHost;

  constructor(answer: Answer) {
    this.#host = new LocalHost({
      journal: this.journal,
      blobs: this.blobs,
      files: new MemoryFileStorage(),
      clock: this.#clock,
      findExecutor: async () => ({ recordsInput: true, run: async (task) => answer(task, this.#clock) }),
      resolveCall: async () => Promise.reject(new Error("Nothing is called here.")),
      mask: (unmasked) => unmasked,
      env: () => undefined,
      onDefect: (error) => {
        throw error;
      },
    });
  }

  async run(flow: Flow, runInput: JsonObject): Promise<RunRecord> {
    const { id } = await this.#host.startRun({ definition: { text: "", graph: toGraph(flow) }, input: runInput });
    await this.#host.settled(id);
    return this.#recordOf(id);
  }

  async runUntil(flow: Flow, runInput: JsonObject, event: string): Promise<RunRecord> {
    const runId = "00000000-0000-7000-8000-000000000001";
    const happened = new Promise<void>((resolve) => {
      this.#host.watch(runId, (notice: RunNotice) => {
        if (notice.type === "event" && notice.event.type === event) resolve();
      });
    });
    await this.#host.startRun({ runId, definition: { text: "", graph: toGraph(flow) }, input: runInput });
    await happened;
    return this.#recordOf(runId);
  }

  async #recordOf(id: string): Promise<RunRecord> {
    const record = await this.journal.findRun(id);
    if (record === undefined || record === "ambiguous") throw new Error("The run is gone.");
    return record;
  }
}

const RETRY_TWICE = { maxAttempts: 2, backoff: "fixed", initialMs: 0, maxMs: 0, jitter: 0 } as const;

function dag(steps: readonly Step[]): Flow {
  return { kind: "dag", steps };
}

function loopOnce(): Flow {
  const steps: Step[] = [
    { ...agentTask("poll", {}), transitions: [{ on: "any", to: "stop" }] },
    { ...agentTask("stop", {}), transitions: [{ on: "any", to: { end: "success" } }] },
  ];
  return { kind: "machine", start: "poll", steps };
}

function literal(value: Json): Expr {
  return { op: "literal", value };
}

function input(name: string): Expr {
  return { op: "path", root: "input", path: [name] };
}

function item(name: string): Expr {
  return { op: "path", root: "item", path: [name] };
}

function succeed(output: Json): Outcome {
  return { status: "succeeded", output, costMicro: 0 };
}

function fail(code: string, { retryable = false } = {}): Outcome {
  return { status: "failed", code, message: "It failed.", retryable, effect: "none", costMicro: 0 };
}

function text({ input: bound }: Task, name: string): string {
  const value = (bound as JsonObject)[name];
  return typeof value === "string" ? value : "";
}

function sumOf(steps: readonly StepDescription[]): number {
  return steps.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0);
}

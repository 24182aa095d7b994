import { expect, test } from "vitest";
import { agentsGraphs } from "../../../../test/fakes/agents-graphs.ts";
import { agentTask, toGraph } from "../../../../test/fakes/direct-graph.ts";
import { quiet } from "../../../../test/fakes/fake-clock.ts";
import { input, literal, respond, task, to, uhlpGraph } from "../../../../test/fakes/uhlp-graph.ts";
import { ask, fail, type Play, succeed, World } from "../../../../test/faults/world.ts";
import type { Flow, Graph, Step } from "../../../core/graph/graph.ts";
import { liftControls } from "../../../core/graph/lift-controls.ts";
import type { Json, JsonObject } from "../../../core/json.ts";
import { loadDefinition } from "../../../dialects/load-definition.ts";
import { LOG_BEGIN } from "../../../ports/journal.ts";
import { RunSpans } from "../../../telemetry/spans/run-spans.ts";
import type { Span } from "../../../telemetry/spans/to-otlp.ts";
import { readWorkflowAnswer } from "../../agents/read-agents-answer.ts";
import type { Stores } from "../../application/ports.ts";
import { describeForFeed } from "../../events/describe-for-feed.ts";
import { findRerunStep } from "../../repeat/find-rerun-step.ts";
import { FollowedRun } from "../follow/followed-run.ts";
import { listSteps } from "../steps/list-steps.ts";
import { showStep } from "../steps/show-step.ts";
import { traceRun } from "../trace-run.ts";
import { describeRun } from "./describe-run.ts";
import { readRunHistory } from "./describe-run-reading.ts";

/** What each reader of a run says of the same run, held against `test/fixtures/readers`. */

interface Played {
  readonly graph: Graph | Promise<Graph>;
  readonly input?: JsonObject;
  readonly plays?: { readonly [stepId: string]: Play };
  readonly callable?: { readonly [name: string]: Graph };
  /** What happens once the run rests. */
  readonly afterwards?: (world: World, run: string) => Promise<unknown>;
}

const RUN = "00000000-0000-7000-8000-000000000001";
const TWICE = { maxAttempts: 2, backoff: "fixed", initialMs: 1_000, maxMs: 1_000, jitter: 0 } as const;
const OVER_LIST = { each: { list: input("list"), maxConcurrent: 2 } } as const;

const never: Play = (_, signal) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
const slow =
  (world: () => World, ms: number, output: Json = "ok"): Play =>
  async () => {
    await new Promise<void>((resolve) => world().clock.wakeAt(world().clock.now() + ms, resolve));
    return succeed(output, 10);
  };
let current: World | undefined;
const here = () => current as World;
const failing: Play = (given) =>
  given.path.endsWith("[1]") ? fail("AGENT_FAILED", { costMicro: 3 }) : succeed("ok", 7);

const dag = (...steps: Step[]): Graph => toGraph({ kind: "dag", steps });
const flow = (id: string, inner: Flow, more: object = {}): Step => ({ id, kind: "flow", flow: inner, ...more });
const call = (id: string, workflow: string): Step =>
  ({ id, kind: "call", workflow: literal(workflow), input: literal({ name: "Alder" }) }) as Step;

async function sandcastle(text: string): Promise<Graph> {
  const { graph, problems } = await loadDefinition({ text });
  if (graph === undefined) throw new Error(problems.map(({ message }) => message).join("\n"));
  return liftControls(graph);
}

const GATE = sandcastle(`
name: gate
steps:
  - {id: ask, type: approval, approval_config: {message: "Go on?"}}
  - {id: after, depends_on: [ask], prompt: "Go"}
`);

const runs: { readonly [name: string]: Played } = {
  "sandcastle-sequence": {
    graph: sandcastle(`
name: research
steps:
  - {id: plan, prompt: "Plan {input.topic}", retry: {max_attempts: 2, backoff: fixed}}
  - {id: write, depends_on: [plan], prompt: "Write"}
  - {id: check, depends_on: [write], prompt: "Check"}
`),
    input: { topic: "Alder" },
    plays: {
      plan: ({ attempt }) =>
        attempt === 1 ? fail("AGENT_IDLE", { retryable: true, effect: "none" }) : succeed("plan", 5),
      write: slow(here, 2_000),
      check: () => fail("AGENT_FAILED", { costMicro: 2 }),
    },
  },
  "sandcastle-fan-out": {
    graph: sandcastle(`
name: leads
steps:
  - {id: enrich, prompt: "Look at {input.name}", parallel_over: "input.leads", max_concurrent: 2, retry: {max_attempts: 1, on_failure: skip}}
  - {id: none, prompt: "Look at {input.name}", parallel_over: "input.empty"}
  - {id: sum, depends_on: [enrich], prompt: "Sum up"}
`),
    input: { leads: [{ name: "a" }, { name: "b" }, { name: "c" }], empty: [] },
    plays: { enrich: failing },
  },
  "sandcastle-fan-out-running": {
    graph: sandcastle(`
name: leads
steps:
  - {id: enrich, prompt: "Look at {input.name}", parallel_over: "input.leads", max_concurrent: 2}
  - {id: sum, depends_on: [enrich], prompt: "Sum up"}
`),
    input: { leads: [{ name: "a" }, { name: "b" }, { name: "c" }, { name: "d" }] },
    plays: { enrich: (given, signal) => (given.path === "enrich[0]" ? succeed("ok", 1) : never(given, signal)) },
  },
  "direct-cancelled": {
    graph: dag({ ...agentTask("each"), ...OVER_LIST }, { ...agentTask("after"), after: ["each"] }),
    input: { list: [1, 2, 3] },
    plays: { each: never },
    afterwards: (world, run) => world.host.request(run, { type: "cancel", by: "me" }),
  },
  "sandcastle-approval": {
    graph: GATE,
  },
  "sandcastle-approval-rejected": {
    graph: GATE,
    afterwards: (world, run) =>
      world.host.request(run, { type: "answer", path: "ask", answer: { answer: "reject", by: "me" } }),
  },
  "direct-call": {
    graph: dag(call("sub", "inner"), { ...agentTask("after"), after: ["sub"] }),
    callable: { inner: toGraph([agentTask("first"), { ...agentTask("second"), after: ["first"] }]) },
    plays: { second: () => fail("AGENT_FAILED") },
  },
  "direct-caught": {
    graph: dag(
      flow(
        "risky",
        { kind: "dag", steps: [agentTask("try")] },
        { retry: TWICE, catch: { kind: "dag", steps: [agentTask("mend")] } },
      ),
      { ...agentTask("question"), after: ["risky"] },
    ),
    plays: {
      try: () => fail("AGENT_FAILED", { costMicro: 4 }),
      question: ({ attempt }) => (attempt === 1 ? ask("deploy", { costMicro: 6 }) : succeed("ok")),
    },
    afterwards: (world, run) =>
      world.host.request(run, { type: "answer", path: "question", answer: { answer: "approve", by: "me" } }),
  },
  "direct-missing-list": {
    graph: dag({ ...agentTask("each"), ...OVER_LIST }, { ...agentTask("after"), after: ["each"] }),
  },
  "uhlp-loop": {
    graph: uhlpGraph({
      steps: [
        task("poll", [
          to("poll", {
            when: {
              op: "compare",
              by: "<",
              left: { op: "path", root: "steps", name: "poll", path: [] },
              right: literal(3),
            },
          }),
          to("done"),
        ]),
        task("done", [to("never", { on: "failure" })]),
        task("never"),
      ],
    }),
    plays: { poll: (given) => succeed(Number(/#(\d+)/.exec(given.path)?.[1]), 1), done: () => fail("HTTP_FAILED") },
  },
  "uhlp-fan-out": {
    graph: uhlpGraph({
      steps: [
        { ...task("work", [to("work", { on: "failure", when: literal(true) })]), ...OVER_LIST } as Step,
        task("end"),
      ],
    }),
    input: { list: [1, 2, 3, 4, 5] },
    plays: {
      work: (given) => (given.path.startsWith("work#3") ? succeed("ok") : failing(given, new AbortController().signal)),
    },
  },
  "uhlp-fan-out-running": {
    graph: uhlpGraph({
      steps: [
        { ...task("work", [to("answer")]), each: { list: input("list"), maxConcurrent: 2 } } as Step,
        respond(literal("done")),
      ],
    }),
    input: { list: [1, 2, 3, 4, 5] },
    plays: { work: never },
  },
  "uhlp-answered": {
    graph: uhlpGraph({
      steps: [
        flow("a", { kind: "machine", start: "x", steps: [task("x")] }, { transitions: [{ on: "failure", to: "b" }] }),
        flow("b", { kind: "machine", start: "x", steps: [task("x")] }, { transitions: [{ on: "failure", to: "c" }] }),
        task("c"),
      ],
    }),
    plays: { x: () => fail("HTTP_FAILED"), c: () => fail("HTTP_FAILED") },
  },
  agents: {
    graph: agentsGraphs({ workflows: { flow: ["one", "two", "three"] } }).then(([graph]) => graph as Graph),
    input: { message: "Hello" },
    plays: { one: () => succeed({ text: "Hi", tool_uses: [] }, 9), two: () => fail("AGENT_NO_TEXT") },
  },
};

test.each(Object.entries(runs))("%s", async (name, played) => {
  const graph = await played.graph;
  const world = new World({ plays: played.plays ?? {}, callable: played.callable ?? {}, recordsInput: true });
  current = world;
  await world.start(graph, played.input ?? {}, { runId: RUN });
  await settle(world);
  if (played.afterwards !== undefined) await played.afterwards(world, RUN);
  await settle(world);
  const said = await readAll(world);
  await expect(said).toMatchFileSnapshot(`../../../../test/fixtures/readers/${name}.txt`);
});

async function settle(world: World): Promise<void> {
  await quiet();
  for (let n = 0; n < 5; n += 1) await world.clock.advance(1_000);
}

async function readAll(world: World): Promise<string> {
  const app = { records: async () => world } as unknown as Stores;
  const record = await world.recordOf(RUN);
  const run = await describeRun(world, record);
  const reading = await readRunHistory(world, record);
  const list = await listSteps(app, RUN, { limit: 1_000 });
  const opened = await Promise.all(
    list.items
      .filter(({ items }) => items !== null)
      .map(({ path }) => listSteps(app, RUN, { limit: 1_000, under: path })),
  );
  const all = [...list.items, ...opened.flatMap(({ items }) => items)];
  const details = await Promise.all(all.map(({ path }) => showStep(app, RUN, { path, isWhole: false })));
  const followed = new FollowedRun(record, world.journal);
  do await followed.readOn();
  while (!followed.isLast);
  const { events } = await world.journal.readLog({ after: LOG_BEGIN, limit: 1_000 });
  const observed = { runId: RUN, workflow: "w", startedAt: 0, costMicro: 0, uncertainMicro: 0, trace: TRACE };
  const spans: Span[] = [];
  new RunSpans((span) => spans.push(span)).committed(
    observed,
    events.map(({ seq, event }) => ({ seq, event, executor: "agent" })),
  );
  return [
    ["run", [{ ...run, steps: undefined }]],
    ["show", run.steps],
    ["rerun", [{ from: findRerunStep(reading, undefined) }]],
    ["steps", all],
    [
      "detail",
      details.map(({ path, input, input_prompt, output_data, attempts }) => ({
        path,
        input,
        input_prompt,
        output_data,
        attempts,
      })),
    ],
    ["stream", followed.changes.filter(({ event }) => event === "step").map(({ data }) => data)],
    ["feed", events.flatMap((event) => describeForFeed(event) ?? [])],
    ["spans", spans.map(({ name, startedAt, endedAt, error }) => ({ name, startedAt, endedAt, error }))],
    ["trace", await traceRun(reading)],
    ...(record.dialect === "agents" ? [["answer", [await readWorkflowAnswer(world, record, "Hello")]] as const] : []),
  ]
    .map(
      ([title, lines]) =>
        `${title}\n${(lines as readonly object[]).map((line) => `  ${JSON.stringify(line, inOrder)}\n`).join("")}`,
    )
    .join("\n");
}

const TRACE = {
  traceId: "t",
  parentSpanId: undefined,
  spanId: "s",
  attemptSpanId: (path: string, attempt: number) => `${path} ${attempt}`,
};

/** Names in the order of the alphabet: theirs in an answer means nothing. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

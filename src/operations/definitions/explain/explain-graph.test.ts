import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { agentTask, toGraph } from "../../../../test/fakes/direct-graph.ts";
import type { Flow, Graph, Step } from "../../../core/graph/graph.ts";
import { loadDefinition } from "../../../dialects/load-definition.ts";
import { explainGraph } from "./explain-graph.ts";
import { toMermaid } from "./explain-graph-mermaid.ts";

test("the lead enrichment: enrich and score follow scrape item by item, as long as the input has no such names", async () => {
  const graph = await loadExample("lead-enrichment.yaml");

  const explained = explainGraph(graph);

  expect(explained.flow.steps).toMatchObject([
    { id: "scrape", fan_out: { over: "input.companies", max_concurrent: 500 }, on_failure: "skip" },
    { id: "enrich", after: ["scrape"], follows: "scrape", on_failure: "abort" },
    { id: "score", after: ["scrape", "enrich"], follows: "scrape" },
  ]);
  expect(explained.flow.steps[0]?.retry).toMatchObject({ max_attempts: 3, backoff: "exponential" });
  expect(explained.assumed_item_fields).toEqual(["name", "website"]);
});

test("with an input that has the names nothing follows a fan-out", async () => {
  const graph = await loadExample("lead-enrichment.yaml");

  const { flow, assumed_item_fields } = explainGraph(graph, ["companies", "name", "website"]);

  expect(flow.steps.map(({ follows }) => follows)).toEqual([undefined, undefined, undefined]);
  expect(assumed_item_fields).toEqual([]);
});

test("a step that two fan-outs could feed is named as ambiguous", () => {
  const each = { list: { op: "path", root: "input", path: ["list"] }, maxConcurrent: 5 } as const;
  const graph = toGraph([
    { ...agentTask("a"), each },
    { ...agentTask("b"), each },
    { ...agentTask("c"), after: ["a", "b"], itemFields: ["name"] },
  ]);

  expect(explainGraph(graph).flow.ambiguous).toEqual({ step: "c", field: "name" });
});

test("conditions are shown as they were written, not as they were lifted", () => {
  const graph = toGraph([
    agentTask("ask"),
    {
      ...agentTask("tell"),
      after: ["ask"],
      when: {
        op: "compare",
        by: ">",
        left: { op: "path", root: "steps", name: "ask", path: ["score"] },
        right: { op: "literal", value: 50 },
      },
    },
  ]);

  expect(explainGraph(graph).flow.steps[1]?.when).toBe("steps.ask.output.score > 50");
});

test("approvals, waits, calls, catch and finally are described with their limits", () => {
  const graph = toGraph([
    {
      id: "review",
      kind: "approve",
      message: { op: "literal", value: "Good?" },
      approvalTimeoutMs: 60_000,
      onApprovalTimeout: "skip",
    },
    { id: "nap", kind: "wait", wait: { for: "duration", durationMs: { op: "literal", value: 90_000 } } },
    { id: "sub", kind: "call", workflow: { op: "literal", value: "other" }, input: { op: "object", entries: {} } },
    {
      ...agentTask("fragile"),
      catch: { kind: "dag", steps: [agentTask("plan-b")] },
      finally: { kind: "dag", steps: [agentTask("tidy")] },
    },
  ]);

  expect(explainGraph(graph).flow.steps).toMatchObject([
    { approval: { message: "Good?", allow_edit: false, timeout_seconds: 60, on_timeout: "skip" } },
    { waits: "for 90 s" },
    { calls: '"other"' },
    { on_failure: "catch", catch: { steps: [{ id: "plan-b" }] }, finally: { steps: [{ id: "tidy" }] } },
  ]);
});

test("a machine has a start and transitions", () => {
  const poll: Step = {
    ...agentTask("poll"),
    transitions: [
      { on: "success", to: "poll" },
      { on: "failure", to: { end: "failure" } },
    ],
  };
  const flow: Flow = { kind: "machine", start: "poll", steps: [poll] };

  const explained = explainGraph({ ...toGraph([]), flow });

  expect(explained.flow.start).toBe("poll");
  expect(explained.flow.steps[0]?.transitions).toEqual([
    { on: "success", to: "poll" },
    { on: "failure", to: "end (failure)", ends: "failure" },
  ]);
  expect(toMermaid(explained)).toContain('n1 -- "success" --> n1');
});

test("the flowchart has a node per step and says which edges go item by item", async () => {
  const chart = toMermaid(explainGraph(await loadExample("lead-enrichment.yaml")));

  expect(chart).toBe(
    [
      "flowchart TD",
      '  n1["scrape #40;for each of input.companies#41;"]',
      '  n2["enrich #40;per item of scrape#41;"]',
      '  n3["score #40;per item of scrape#41;"]',
      '  n1 -- "per item" --> n2',
      '  n1 -- "per item" --> n3',
      '  n2 -- "per item" --> n3',
      "",
    ].join("\n"),
  );
});

test("a hostile id stays a label", () => {
  const hostile = 'x"]; click n1 "javascript:alert(1)"\n<script>%%{init}\u001b[2J';

  const chart = toMermaid(explainGraph(toGraph([agentTask(hostile), { ...agentTask("end"), after: [hostile] }])));

  const [head, first, ...rest] = chart.split("\n");
  expect(head).toBe("flowchart TD");
  expect(first).toMatch(/^ {2}n1\["[\p{L}\p{N} .,:_#;-]*"\]$/u);
  expect(rest).toEqual(['  n2["end"]', "  n1 --> n2", ""]);
});

async function loadExample(name: string): Promise<Graph> {
  const text = await readFile(new URL(`../../../../examples/${name}`, import.meta.url), "utf8");
  const { graph } = await loadDefinition({ text });
  if (graph === undefined) throw new Error(`${name} does not compile.`);
  return graph;
}

test("what starts a workflow, how its runs wait, and whom a question is for, are told in the words of the file", async () => {
  const text = `workflowId: all
startAt: ask
triggers:
  - { type: http, name: web, config: { pathPattern: "/orders/{id}", method: PUT } }
  - { type: cron, config: { schedule: "0 9 * * 1", timezone: Europe/Berlin } }
  - { type: trigger, config: { event: paid } }
  - { type: queue, config: { queueName: orders } }
debounce: { key: trigger.payload.customer, wait: 10s, scope: crm }
rate: { limit: 10, per: 1m, whenFull: skip, key: "trigger.payload.a + '/' + trigger.payload.b" }
steps:
  ask:
    { type: control, subtype: approval, message: "'Ship?'", approvers: [alice, ops], quorum: 2, timeout: 1d,
      reminder: { after: 1h, times: 3, every: 30m }, escalation: { after: 4h, to: [boss], replaces: true }, end: true }
`;
  const { graph, problems } = await loadDefinition({ text });
  expect(problems).toEqual([]);
  if (graph === undefined) return expect.unreachable();
  const { starts_by, runs, flow } = explainGraph(graph);
  expect(starts_by).toEqual(["web: PUT /orders/{id}", "cron 0 9 * * 1 (Europe/Berlin)", "event paid", "queue orders"]);
  expect(runs).toEqual([
    "begins 10 s after the last start for each trigger.payload.customer in crm",
    "at most 10 begin in 60 s for each trigger.payload.a + '/' + trigger.payload.b, others are refused",
  ]);
  expect(flow.steps[0]?.approval?.people).toEqual([
    "for alice, ops",
    "2 must approve",
    "reminds after 3600 s, 3 times, every 1800 s",
    "after 14400 s only for boss",
  ]);
  const sandcastle =
    'name: s\nconcurrency: { key: "{input.c}", limit: 2, when_full: cancel_older }\nsteps: [{ id: a, prompt: p }]\n';
  const other = await loadDefinition({ text: sandcastle });
  if (other.graph === undefined) return expect.unreachable();
  expect(explainGraph(other.graph)).toMatchObject({
    runs: ["at most 2 at once for each input.c, older ones are cancelled"],
  });
  expect(explainGraph(other.graph).starts_by).toBeUndefined();
});

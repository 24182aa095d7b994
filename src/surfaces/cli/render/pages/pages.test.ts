import { expect, test } from "vitest";
import type { Json } from "../../../../core/json.ts";
import { loadDefinition } from "../../../../dialects/load-definition.ts";
import type { OpenApproval } from "../../../../operations/approvals/describe-run-approvals.ts";
import { explainGraph } from "../../../../operations/definitions/explain/explain-graph.ts";
import type { GraphExplanation } from "../../../../operations/definitions/explain/graph-schemas.ts";
import { inFileWords } from "../../../../operations/definitions/explain/in-file-words.ts";
import { type Operation, type Table, verbsOf } from "../../../../operations/operation.ts";
import type { RunDescription, StepDescription } from "../../../../operations/runs/run-schemas.ts";
import { listRuns } from "../../../../operations/runs/runs.ts";
import { createPaint, type PageOptions } from "../text/paint.ts";
import { renderError } from "./render-error.ts";
import { renderEvent } from "./render-events.ts";
import { renderGraph } from "./render-graph.ts";
import { renderList } from "./render-list.ts";
import { renderRun } from "./render-run.ts";
import { renderApprovals } from "./views.ts";

const paint = createPaint(false);
const now = Date.parse("2026-01-02T12:00:00.000Z");

const step: StepDescription = {
  path: "scrape[3]",
  step_id: "scrape",
  parallel_index: 3,
  status: "completed",
  attempt: 2,
  input_prompt: "Scrape\n  this.\u001b[2J",
  output_data: "ok",
  cost_usd: 0.25,
  cost_usd_at_most: 0.25,
  usage: {},
  duration_seconds: 12.5,
  error: null,
  started_at: "2026-01-02T11:00:00.000Z",
  completed_at: "2026-01-02T11:00:12.500Z",
};

const run: RunDescription = {
  run_id: "019b7f00-0000-7000-8000-000000000001",
  workflow_name: "lead-\u001b[31menrichment",
  dialect: "sandcastle",
  status: "failed",
  input_data: {},
  outputs: {},
  total_cost_usd: 0.25,
  cost_usd_at_most: 0.25,
  usage: { input_tokens: 1200, output_tokens: 80 },
  error: { code: "TIMEOUT", message: "Too slow.", remedy: "Raise `timeout`." },
  parent_run_id: null,
  rerun_of: null,
  forked_from: null,
  reruns: [],
  tenant_id: null,
  created_at: "2026-01-02T11:00:00.000Z",
  started_at: "2026-01-02T11:00:00.000Z",
  completed_at: "2026-01-02T11:00:13.000Z",
  steps: [
    step,
    {
      ...step,
      path: "tell",
      status: "failed",
      attempt: 1,
      cost_usd: null,
      cost_usd_at_most: null,
      error: { code: "TIMEOUT", message: "Too\nslow.", remedy: "" },
    },
  ],
};

test("the table of runs has a line per run", () => {
  const [head, line] = renderRuns([run], { paint, now }).split("\n");

  expect(head).toMatch(/^ {3}RUN +WORKFLOW +STATUS +CREATED +TIME +COST$/);
  expect(line).toMatch(
    /^✗ {2}019b7f00-0000-7000-8000-000000000001 {2}lead-enrichment {2}failed .* 13\.0 s {2}\$0\.25$/,
  );
  expect(renderRuns([], { paint, now })).toBe("No runs.");
});

test("in a narrow terminal a run has a short id, so that its workflow can be seen", () => {
  const [, line] = renderRuns([run], { paint, now, width: 40 }).split("\n");
  expect(line).toMatch(/^✗ {2}019b7f00-0000-7000 {2}lead-enrichment/);
  expect(line?.length).toBeLessThanOrEqual(40);
});

test("the page of a run shows its facts, then what went wrong, then its steps", () => {
  const page = renderRun({ ...run, steps: run.steps.map((step) => ({ ...step, input_prompt: null })) }, { paint, now });

  expect(page).toContain("workflow  lead-enrichment (sandcastle)");
  expect(page).toContain("tokens    1200 in, 80 out");
  expect(page).toMatch(/✓ {2}scrape\[3\] {2}completed {2}12\.5 s {4}2 {2}\$0\.25/);
  expect(page).toMatch(/✗ {2}tell .* \$\? {2}TIMEOUT Too slow\./);
  expect(page).toContain(
    [
      "tokens    1200 in, 80 out",
      "",
      "error TIMEOUT Too slow.",
      "  remedy: Raise `timeout`.",
      "",
      "failed    tell: TIMEOUT Too slow.",
      "",
      "   STEP",
    ].join("\n"),
  );
  expect(page).not.toContain("Scrape");
});

test("the page of a run names ten of the steps that failed or are held, and counts the others", () => {
  const error = { code: "POISON", message: "It kills.", remedy: "" };
  const steps = Array.from({ length: 13 }, (_, item) => ({
    ...step,
    path: `scrape[${item}]`,
    status: item === 1 ? ("completed" as const) : ("held" as const),
    error: item === 1 ? null : error,
  }));

  const [, failures] = renderRun({ ...run, error: null, steps }, { paint, now }).split("\n\n");

  expect(failures?.split("\n")).toHaveLength(11);
  expect(failures?.split("\n").slice(0, 2)).toEqual([
    "held      scrape[0]: POISON It kills.",
    "held      scrape[2]: POISON It kills.",
  ]);
  expect(failures).toMatch(/\nheld {6}scrape\[10\]: POISON It kills\.\nand 2 more$/);
});

test("prompts are shown on demand, with their lines", () => {
  expect(renderRun(run, { paint, now })).toContain("scrape[3]\n  Scrape\n    this.\n");
});

test("an approval comes with the commands that answer it, quoted for the shell", () => {
  const approval: OpenApproval = {
    approval_id: "019b:ask[2]",
    run_id: "019b",
    workflow_name: "review",
    path: "ask[2]",
    asked: 7,
    key: null,
    step_id: "ask",
    message: "Good?",
    shown: { text: "draft" },
    since: "2026-01-02T11:00:00.000Z",
    times_out_at: "2026-01-02T13:00:00.000Z",
    on_timeout: "skip",
    approvers: ["alice", "finance"],
    quorum: 2,
    approved_by: ["alice"],
    not_by: [],
    reminded: 0,
    escalated_to: null,
    terms: "for alice, finance; 1 of 2 have approved, alice",
    allow_edit: true,
    schema: null,
  };

  const text = renderApprovals({ items: [approval] }, { paint, now });

  expect(text).toContain("? ask[2] of review: Good?");
  expect(text).toContain("\n  for alice, finance; 1 of 2 have approved, alice\n");
  expect(text).toContain("(then skip)");
  expect(text).toContain('{"text":"draft"}');
  expect(text).toContain("pawl approve '019b:ask[2]'   or   pawl reject '019b:ask[2]'");
});

test("events are one line each, with what matters of them", () => {
  const at = now;
  const lines = [
    renderEvent({ seq: 1, event: { type: "runStarted", at, runId: "r", workflow: "w", inputNames: [] } }, paint),
    renderEvent(
      {
        seq: 12,
        event: {
          type: "stepFailed",
          at,
          path: "a[1]",
          attempt: 2,
          code: "TIMEOUT",
          message: "Too\nslow.",
          retryable: true,
          effect: "unknown",
          costMicro: 250_000,
        },
      },
      paint,
    ),
  ];

  expect(lines).toEqual([
    "    1  2026-01-02T12:00:00.000Z  runStarted  w",
    "   12  2026-01-02T12:00:00.000Z  stepFailed  a[1] try 2  TIMEOUT Too slow. $0.25",
  ]);
});

test("an error is its code, its message and what to do", () => {
  expect(renderError({ code: "FILE_NOT_FOUND", message: "No\u001b[2J file.", remedy: "Check it." }, paint)).toBe(
    "error FILE_NOT_FOUND No file.\n  remedy: Check it.",
  );
});

test("a graph is told step by step", () => {
  const graph: GraphExplanation = {
    name: "leads",
    dialect: "sandcastle",
    input: { declared: ["companies"], required: ["companies"], defaults: {} },
    assumed_item_fields: ["website"],
    flow: {
      kind: "dag",
      steps: [
        {
          id: "scrape",
          kind: "task",
          executor: "agent",
          after: [],
          on_failure: "skip",
          fan_out: { over: "input.companies", max_concurrent: 500 },
        },
        { id: "score", kind: "task", executor: "agent", after: ["scrape"], on_failure: "abort", follows: "scrape" },
      ],
    },
  };

  expect(renderGraph(graph, paint)).toBe(
    [
      "leads (sandcastle)",
      "input: companies (required)",
      "assuming an input without these names: website",
      "",
      "scrape agent",
      "  once per item of input.companies, at most 500 at a time",
      "  on failure: skip",
      "score agent",
      "  after scrape",
      "  item by item after scrape",
    ].join("\n"),
  );
});

/** The table of `pawl runs ls`. */
function renderRuns(runs: readonly RunDescription[], options: PageOptions): string {
  const [verb] = verbsOf(listRuns as Operation);
  return renderList(verb?.table as Table, JSON.parse(JSON.stringify(runs)) as Json[], options);
}

test("a graph is shown in the words of its file, without the steps that were made for these", async () => {
  const text = `
workflowId: w
startAt: sort
steps:
  sort:
    type: control
    subtype: split
    list: trigger.payload.orders
    itemVar: order
    routes: { large: { condition: order.total >= 1000, body: review } }
    transitions: { onSuccess: poll }
  review: { type: http, url: "https://example.com/x", compensate: { type: http, url: "https://example.com/y" } }
  poll:
    type: control
    subtype: while
    condition: step.output.status != 200
    body: { type: http, if: length(trigger.payload.orders) > 1, url: "https://example.com/z", outputMapping: { status: step.output.status } }
    transitions: { onSuccess: paid }
  paid: { type: control, subtype: wait, event: paid, match: { id: trigger.payload.id }, end: true }
`;
  const { graph, problems } = await loadDefinition({ text });
  expect(problems).toEqual([]);
  const shown = graph && renderGraph(inFileWords(explainGraph(graph)), paint);
  expect(shown).toMatchInlineSnapshot(`
    "w (uhlp)
    final failures become dead letters

    starts at sort
    sort split of trigger.payload.orders
      -> poll on success
      does:
        review http
    poll while step.output.status != 200, at most 100 rounds
      -> paid on success
      does:
        body http
          only when length(trigger.payload.orders) > 1
    paid wait
      waits for the event "paid" with id = trigger.payload.id
      -> end (success) on success
    undo-review-1 takes back review
      does:
        starts at compensate
        compensate http"
  `);
});

import type {
  FlowExplanation,
  GraphExplanation,
  StepExplanation,
} from "../../../../operations/definitions/explain/graph-schemas.ts";
import { transitionInWords } from "../../../../operations/definitions/explain/in-file-words.ts";
import { formatUsd, showLimits } from "../text/formats.ts";
import type { Paint } from "../text/paint.ts";
import { sanitize } from "../text/sanitize.ts";

/** The text of `pawl graph`: every step with what it waits for, and what runs inside it below it. */
export function renderGraph(graph: GraphExplanation, paint: Paint): string {
  const lines = [`${paint("bold", sanitize(graph.name))} ${paint("dim", `(${graph.dialect})`)}`];
  if (graph.description !== undefined) lines.push(sanitize(graph.description));
  lines.push(...factsOf(graph).map((fact) => paint("dim", sanitize(fact))));
  return [...lines, "", ...flowLines(graph.flow, paint, "")].join("\n");
}

function factsOf(graph: GraphExplanation): string[] {
  const { input, assumed_item_fields: assumed } = graph;
  const declared = input.declared.map((name) => (input.required.includes(name) ? `${name} (required)` : name));
  return [
    ...(declared.length === 0 ? [] : [`input: ${declared.join(", ")}`]),
    ...(assumed.length === 0 ? [] : [`assuming an input without these names: ${assumed.join(", ")}`]),
    ...(graph.max_cost_usd === undefined ? [] : [`budget: ${formatUsd(graph.max_cost_usd)}`]),
    ...(graph.limits === undefined ? [] : [`limits: ${showLimits(graph.limits)}`]),
    ...(graph.timeout_seconds === undefined ? [] : [`time-out: ${graph.timeout_seconds} s`]),
    ...factsOfStart(graph),
    ...(graph.storage_path === undefined ? [] : [`outputs are stored at: ${graph.storage_path}`]),
    ...(graph.dead_letter === true ? ["final failures become dead letters"] : []),
  ];
}

/** What starts the workflow, and how its runs wait. */
export function factsOfStart({
  schedule,
  starts_by = [],
  runs = [],
}: Pick<GraphExplanation, "schedule" | "starts_by" | "runs">): readonly string[] {
  return [
    ...(schedule === undefined ? [] : [`schedule: ${schedule} (UTC)`]),
    ...starts_by.map((start) => `starts by: ${start}`),
    ...runs.map((rule) => `runs: ${rule}`),
  ];
}

function flowLines(flow: FlowExplanation, paint: Paint, indent: string): string[] {
  const start = flow.start === undefined ? [] : [`${indent}starts at ${sanitize(flow.start)}`];
  const ambiguous =
    flow.ambiguous === undefined
      ? []
      : [
          paint(
            "yellow",
            `${indent}two fan-outs could give "${sanitize(flow.ambiguous.field)}" to ${sanitize(flow.ambiguous.step)}`,
          ),
        ];
  return [...start, ...ambiguous, ...flow.steps.flatMap((step) => stepLines(step, paint, indent))];
}

function stepLines(step: StepExplanation, paint: Paint, indent: string): string[] {
  const kind = step.says ?? step.executor ?? step.kind;
  const lines = [`${indent}${paint("bold", sanitize(step.id))} ${paint("dim", sanitize(kind))}`];
  for (const fact of stepFacts(step)) lines.push(`${indent}  ${sanitize(fact)}`);
  for (const [title, flow] of [
    [step.says === undefined ? "inside" : "does", step.flow],
    ["on failure", step.catch],
    ["finally", step.finally],
  ] as const) {
    if (flow !== undefined) lines.push(`${indent}  ${title}:`, ...flowLines(flow, paint, `${indent}    `));
  }
  return lines;
}

function stepFacts(step: StepExplanation): string[] {
  const { after, fan_out, follows, when, retry, timeout_seconds, on_failure, calls, waits, approval } = step;
  return [
    ...(after.length === 0 ? [] : [`after ${after.join(", ")}`]),
    ...(fan_out === undefined ? [] : [`once per item of ${fan_out.over}, at most ${fan_out.max_concurrent} at a time`]),
    ...(follows === undefined ? [] : [`item by item after ${follows}`]),
    ...(when === undefined ? [] : [`only when ${when}`]),
    ...(calls === undefined ? [] : [`calls ${calls}`]),
    ...(waits === undefined ? [] : [`waits ${waits}`]),
    ...(approval === undefined ? [] : [approvalFact(approval)]),
    ...(retry === undefined ? [] : [`up to ${retry.max_attempts} tries, ${retry.backoff} back-off`]),
    ...(timeout_seconds === undefined ? [] : [`time-out ${timeout_seconds} s`]),
    ...(on_failure === "skip" || on_failure === "continue" ? [`on failure: ${on_failure}`] : []),
    ...(step.at_most_once === true ? ["at most once"] : []),
    ...(step.max_cost_usd === undefined ? [] : [`costs at most ${formatUsd(step.max_cost_usd)}`]),
    ...(step.transitions ?? []).map(transitionInWords),
  ];
}

function approvalFact({
  message,
  timeout_seconds,
  on_timeout = "abort",
  allow_edit,
  people = [],
}: NonNullable<StepExplanation["approval"]>): string {
  const limit = timeout_seconds === undefined ? "" : `, ${on_timeout} after ${timeout_seconds} s`;
  return [`asks a person: ${message}${allow_edit ? " (may edit)" : ""}${limit}`, ...people].join("; ");
}

import { writeExact } from "../../../../core/exact-json.ts";
import type { OpenApproval } from "../../../../operations/approvals/describe-run-approvals.ts";
import { placeOf } from "../../../../operations/approvals/place-of.ts";
import type { DeadLetter, DeadLetterList } from "../../../../operations/dead-letters/list-dead-letters.ts";
import type { View } from "../../../../operations/operation.ts";
import type { RunComparison, StepComparison } from "../../../../operations/runs/compare-runs.ts";
import type { Violation } from "../../../../operations/runs/violations.ts";
import { shellWord } from "../../../../operations/shell-word.ts";
import { formatTime, formatUsd } from "../text/formats.ts";
import type { PageOptions, Paint } from "../text/paint.ts";
import { sanitize } from "../text/sanitize.ts";
import { truncate } from "../text/text-width.ts";
import { renderRun } from "./render-run.ts";
import { renderAgent, renderCosts, renderWebhook, renderWorkflows } from "./tables.ts";

type Render = (output: never, options: PageOptions) => string;

/** Pictures that columns cannot describe. */
export const VIEWS: Readonly<Record<View, Render>> = {
  agent: renderAgent,
  approvals: renderApprovals,
  comparison: renderComparison,
  costs: renderCosts,
  "dead-letters": renderDeadLetters,
  run: renderRun,
  violations: renderViolations,
  workflows: renderWorkflows,
  webhook: renderWebhook,
};

/** The page of `pawl runs diff`: what is equal is not shown. */
function renderComparison(comparison: RunComparison, { paint }: PageOptions): string {
  const { run_id, status, total_cost_usd: cost, duration_seconds: seconds, definition, input, outputs } = comparison;
  const facts = [
    ["runs", `${run_id.a} → ${run_id.b}`],
    ["status", `${status.a} → ${status.b}`],
    ["cost", `${formatUsd(cost.a)} → ${formatUsd(cost.b)}`],
    ["seconds", `${seconds.a ?? "-"} → ${seconds.b ?? "-"}`],
  ] as const;
  const parts = [facts.map(([name, value]) => `${paint("dim", name.padEnd(10))}${value}`).join("\n")];
  for (const [name, change] of [
    ["definition", definition] as const,
    ["input", input] as const,
    ["outputs", outputs] as const,
  ]) {
    if (change.changed)
      parts.push(renderDiff(`The ${name} differ${name === "outputs" ? "" : "s"}.`, change.diff, paint));
  }
  const changed = comparison.steps.filter(isChanged);
  for (const step of changed) parts.push(renderDiff(describeStep(step), step.output_diff, paint));
  if (changed.length === 0) parts.push("No step differs.");
  if (comparison.steps_left_out > 0) parts.push(`${comparison.steps_left_out} more steps were not compared.`);
  return parts.join("\n\n");
}

function isChanged({ only_in, status, output_changed, prompt_changed }: StepComparison): boolean {
  return only_in !== null || status.a !== status.b || output_changed || prompt_changed;
}

function describeStep({ path, only_in, status, prompt_changed, cost_usd_delta: delta }: StepComparison): string {
  if (only_in !== null) return `${sanitize(path)}: only in ${only_in}, ${status[only_in] ?? ""}`;
  const said = status.a === status.b ? (status.a ?? "") : `${status.a} → ${status.b}`;
  const more = [
    ...(prompt_changed ? ["another prompt"] : []),
    ...(delta === null || delta === 0 ? [] : [`${delta > 0 ? "+" : "-"}${formatUsd(Math.abs(delta))}`]),
  ];
  return [`${sanitize(path)}: ${said}`, ...more].join(", ");
}

function renderDiff(title: string, diff: string | null, paint: Paint): string {
  if (diff === null) return paint("bold", title);
  const lines = diff
    .trimEnd()
    .split("\n")
    .map((line) => `  ${sanitize(line)}`);
  return [paint("bold", title), ...lines].join("\n");
}

const SHOWN_COLUMNS = 2_000;

/** What a person is asked, and the commands that answer. */
export function renderApprovals(
  { items: approvals }: { readonly items: readonly OpenApproval[] },
  options: PageOptions,
): string {
  if (approvals.length === 0) return "Nothing waits for a person.";
  return approvals.map((approval) => renderApproval(approval, options)).join("\n\n");
}

function renderApproval(approval: OpenApproval, { paint, now }: PageOptions): string {
  const { run_id, workflow_name, path, message, shown, since, times_out_at, on_timeout, allow_edit, schema } = approval;
  const limit =
    times_out_at === null ? "" : `, until ${formatTime(Date.parse(times_out_at), now)} (then ${on_timeout ?? "abort"})`;
  const lines = [
    `${paint("magenta", "?")} ${paint("bold", sanitize(path))} of ${sanitize(workflow_name)}: ${sanitize(message)}`,
    `  since ${formatTime(Date.parse(since), now)}${limit}`,
  ];
  if (approval.terms !== null) lines.push(`  ${sanitize(approval.terms)}`);
  if (shown !== null) lines.push(`  ${truncate(sanitize(writeExact(shown)), SHOWN_COLUMNS)}`);
  if (schema !== null) lines.push(paint("dim", `  Data fit ${truncate(sanitize(writeExact(schema)), SHOWN_COLUMNS)}`));
  const address = shellWord(`${run_id}:${placeOf(approval)}`);
  lines.push(paint("dim", `  pawl approve ${address}   or   pawl reject ${address}`));
  if (allow_edit) lines.push(paint("dim", "  The data may be edited on approval."));
  return lines.join("\n");
}

/** What failed for good, and where to look. */
function renderDeadLetters({ items: letters }: DeadLetterList, options: PageOptions): string {
  if (letters.length === 0) return "The dead-letter list is empty.";
  return letters.map((letter) => renderDeadLetter(letter, options)).join("\n\n");
}

function renderDeadLetter(letter: DeadLetter, { paint, now }: PageOptions): string {
  const { dead_letter_id: id, run_id, workflow_name, path, code, message, failed_at, status, note } = letter;
  const closed = status === "open" ? "" : `, ${status}${note === null ? "" : `: ${sanitize(note)}`}`;
  return [
    `${paint("red", "✗")} ${paint("bold", sanitize(path))} of ${sanitize(workflow_name)}: ${sanitize(message)}`,
    `  ${sanitize(code)}, ${formatTime(Date.parse(failed_at), now)}${closed}`,
    paint("dim", `  pawl runs show ${run_id}`),
    ...(status === "open" ? [paint("dim", `  pawl dead-letter retry '${sanitize(id)}'`)] : []),
  ].join("\n");
}

/** What policies had to say, and where to look. */
function renderViolations(
  { items: violations }: { readonly items: readonly Violation[] },
  { paint, now }: PageOptions,
): string {
  if (violations.length === 0) return "No policy has had anything to say.";
  return violations
    .map(({ run_id, workflow_name, path, policy, action, why, at }) =>
      [
        `${paint(action === "block" ? "red" : "yellow", action)} ${paint("bold", sanitize(path))} of ${sanitize(workflow_name)}: ${sanitize(policy)}, since ${sanitize(why)}`,
        paint("dim", `  ${formatTime(Date.parse(at), now)}, pawl runs show ${run_id}`),
      ].join("\n"),
    )
    .join("\n\n");
}

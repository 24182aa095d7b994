import type { RunComparison, StepComparison } from "../../../../operations/runs/compare-runs.ts";
import { formatUsd } from "../text/formats.ts";
import type { PageOptions, Paint } from "../text/paint.ts";
import { sanitize } from "../text/sanitize.ts";

/** The page of `pawl runs diff`: what is equal is not shown. */
export function renderComparison(comparison: RunComparison, { paint }: PageOptions): string {
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

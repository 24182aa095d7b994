import type { RunDescription, StepDescription } from "../../../../operations/runs/run-schemas.ts";
import { formatDuration, formatTime, formatUsd } from "../text/formats.ts";
import type { PageOptions, Paint } from "../text/paint.ts";
import { sanitize, showPath } from "../text/sanitize.ts";
import { showWait } from "../text/show-wait.ts";
import { statusSign, statusStyle } from "../text/status-sign.ts";
import { renderTable } from "../text/table.ts";
import type { Segment } from "../text/text-width.ts";
import { renderError } from "./render-error.ts";

/** The page of `pawl runs show`: first what went wrong, then everything, with the prompts and artifacts that were asked for. */
export function renderRun(run: RunDescription, options: PageOptions): string {
  const { paint } = options;
  const parts = [renderHead(run, options)];
  if (run.error !== null) parts.push(renderError(run.error, paint));
  const failures = renderFailures(run.steps, paint);
  if (failures.length > 0) parts.push(failures.join("\n"));
  parts.push(renderSteps(run.steps, options));
  const missing = [run, ...run.steps].flatMap((of) => renderMissing(of, paint));
  if (missing.length > 0) parts.push(missing.join("\n"));
  const violations = run.steps.flatMap((step) => renderViolations(step, paint));
  if (violations.length > 0) parts.push(violations.join("\n"));
  // One line for each, to be given to `pawl storage get`.
  if (run.artifacts !== undefined && run.artifacts.length > 0)
    parts.push(run.artifacts.map(({ path, bytes }) => `artifact  ${showPath(path)} (${bytes} bytes)`).join("\n"));
  parts.push(...run.steps.flatMap((step) => renderPrompt(step, paint)));
  return parts.join("\n\n");
}

function renderHead(run: RunDescription, { paint, now }: PageOptions): string {
  const usd = formatUsd(run.total_cost_usd, { unpriced: run.unpriced === true, atMost: run.cost_usd_at_most });
  const facts: [string, string][] = [
    ["run", run.run_id],
    ["workflow", `${sanitize(run.workflow_name)} (${run.dialect})`],
    ["status", paint(statusStyle(run.status), run.status.replaceAll("_", " "))],
    ...(run.not_driven === true ? [["driven by", paint("yellow", undriven(run.run_id))] as [string, string]] : []),
    ["created", formatTime(Date.parse(run.created_at), now)],
    ["time", timeOf(run, now)],
    ["cost", usd],
  ];
  for (const [name, origin] of [["rerun of", run.rerun_of] as const, ["fork of", run.forked_from] as const]) {
    if (origin === null) continue;
    const from = origin.from_path === "" ? "all of it" : `from ${sanitize(origin.from_path)}`;
    facts.push([name, `${origin.run_id}, ${from}${origin.deleted === true ? " (deleted)" : ""}`]);
  }
  for (const { run_id, kind, status } of run.reruns) facts.push([kind, `${run_id} (${status.replaceAll("_", " ")})`]);
  const tokens = ["input_tokens", "output_tokens"].map((name) => run.usage[name]);
  if (tokens.every((count) => typeof count === "number")) facts.push(["tokens", `${tokens[0]} in, ${tokens[1]} out`]);
  for (const { of, limit, used, is } of run.limits ?? []) {
    const share = `${Number(used.toFixed(4))} of ${limit} ${of.replace("cost_usd", "USD")}`;
    facts.push(["limit", is === "ok" ? share : paint("yellow", `${share}, ${is.replace("_", " ")}`)]);
  }
  if (run.budget_wait !== undefined) facts.push(["waits", paint("yellow", sanitize(run.budget_wait.says.slice(6)))]);
  if (run.place_wait !== undefined) {
    const { says, holders } = run.place_wait;
    facts.push([
      "waits",
      paint("yellow", [says.slice(6), ...(holders ? [`after ${holders.join(", ")}`] : [])].join(", ")),
    ]);
  }
  for (const wait of run.capacity_waits ?? []) {
    const { in_flight: inFlight, waiting_in_all: waitingInAll, closed_until: until } = wait;
    const closedUntil = until === null ? undefined : Date.parse(until);
    const shown = { ...wait, inFlight, waitingInAll, closedUntil };
    facts.push(["waits", paint("yellow", showWait(shown, now))]);
  }
  if (run.invocation !== undefined) facts.push(["restate", paint("yellow", showInvocation(run.invocation))]);
  return facts.map(([name, value]) => `${paint("dim", name.padEnd(10))}${value}`).join("\n");
}

function showInvocation({ status, retries, failure }: NonNullable<RunDescription["invocation"]>): string {
  const why = failure === null ? "" : `: ${sanitize(failure)}`;
  if (status === "backing-off") return `has tried ${retries} times${why}`;
  const stopped = status === "killed" ? "it was killed there" : `has paused it${why}`;
  return `${stopped}. To go on: pawl restate resume`;
}

function undriven(runId: string): string {
  return `no process. To go on: pawl runs resume ${runId}`;
}

const FAILURES_SHOWN = 10;

/** One line for each step that failed or is held. Beyond some of them the table has the others. */
function renderFailures(steps: readonly StepDescription[], paint: Paint): string[] {
  const failed = steps.filter(({ status }) => status === "failed" || status === "held");
  const lines = failed.slice(0, FAILURES_SHOWN).map(({ path, status, error }) => {
    const why = error === null ? "" : `: ${sanitize(`${error.code} ${error.message}`)}`;
    return `${paint(statusStyle(status), status.padEnd(10))}${showPath(path)}${why}`;
  });
  return failed.length <= FAILURES_SHOWN ? lines : [...lines, `and ${failed.length - FAILURES_SHOWN} more`];
}

function renderSteps(steps: readonly StepDescription[], { paint, width, now }: PageOptions): string {
  const columns = [
    { title: "" },
    { title: "STEP" },
    { title: "STATUS" },
    { title: "TIME", align: "right" } as const,
    { title: "TRY", align: "right" } as const,
    { title: "COST", align: "right" } as const,
    { title: "" },
  ];
  return renderTable(
    columns,
    steps.map((step) => stepRow(step, now)),
    { paint, width },
  );
}

function stepRow(step: StepDescription, now: number): Segment[] {
  const { path, status, duration_seconds, started_at, attempt, cost_usd, cost_usd_at_most: atMost, error } = step;
  const isOpen = started_at !== null && duration_seconds === null;
  const ms = isOpen ? now - Date.parse(started_at) : (duration_seconds ?? 0) * 1000;
  return [
    statusSign(status),
    { text: showPath(path) },
    { text: status.replaceAll("_", " "), style: statusStyle(status) },
    { text: started_at === null ? "" : formatDuration(ms) },
    { text: attempt > 1 ? String(attempt) : "" },
    { text: cost_usd === 0 && atMost === 0 ? "" : formatUsd(cost_usd ?? 0, { unpriced: cost_usd === null, atMost }) },
    { text: error === null ? "" : sanitize(`${error.code} ${error.message}`), style: "red" },
  ];
}

function renderMissing(of: Pick<RunDescription, "missing"> | StepDescription, paint: Paint): string[] {
  const { missing = [] } = of;
  if (missing.length === 0) return [];
  const where = "path" in of ? showPath(of.path) : "conditions";
  return [`missing   ${where}: ${paint("yellow", sanitize(missing.join(", ")))} led nowhere`];
}

/** One line for each. */
function renderViolations({ path, violations = [] }: StepDescription, paint: Paint): string[] {
  return violations.map(({ policy, action, why }) => {
    const what = paint("yellow", sanitize(`${policy} (${action})`));
    return `policy    ${showPath(path)}: ${what}, since ${sanitize(why)}`;
  });
}

/** Prompts keep their lines; what is in a line is made harmless. */
function renderPrompt({ path, input_prompt }: StepDescription, paint: Paint): string[] {
  if (input_prompt === null) return [];
  const lines = input_prompt.split(/\r?\n/).map((line) => `  ${/^ */.exec(line)?.[0] ?? ""}${sanitize(line)}`);
  return [[paint("bold", showPath(path)), ...lines].join("\n")];
}

function timeOf(
  { started_at, completed_at }: Pick<RunDescription, "started_at" | "completed_at">,
  now: number,
): string {
  if (started_at === null) return "";
  return formatDuration((completed_at === null ? now : Date.parse(completed_at)) - Date.parse(started_at));
}

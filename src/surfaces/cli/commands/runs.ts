import { PawlError } from "../../../core/errors/pawl-error.ts";
import { writeExact } from "../../../core/exact-json.ts";
import type { CliVerb } from "../../../operations/operation.ts";
import { getRun, readRunEvents } from "../../../operations/runs/runs.ts";
import { resumeRun, resumeRuns } from "../../../operations/runs/steer-runs.ts";
import type { RunCaller } from "../caller.ts";
import { type CommonOptions, formatOf, paintFor } from "../cli-context.ts";
import { followAnswer } from "../follow/follow-verb.ts";
import { runExitCode } from "../follow/run-exit-code.ts";
import { INTERRUPTED, showRunToRest } from "../follow/show-run-to-rest.ts";
import { showOutput } from "../perform-verb.ts";
import { print, printEnvelope, tell } from "../print.ts";
import { io } from "../process-io.ts";
import { shortId } from "../render/text/formats.ts";
import { sanitize } from "../render/text/sanitize.ts";
import { withStopSignals } from "../stop-signals.ts";
import type { Voice } from "../voice.ts";

const EVENTS_PAGE = 1_000;

/** `pawl runs events`: the journal as it is. Without `--json` a line each. */
export async function showEvents(caller: RunCaller, id: string, options: CommonOptions): Promise<number> {
  const format = formatOf(options);
  const { renderEvent } = await import("../render/pages/render-events.ts");
  const paint = paintFor(io().stdout);
  const all: unknown[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { items, next_cursor: next } = await caller.call(readRunEvents, { id, limit: EVENTS_PAGE, cursor });
    for (const row of items) {
      if (format === "lines") print(writeExact(row));
      else if (format === "json") all.push(row);
      else print(renderEvent(row, paint));
    }
    cursor = next;
  }
  if (format === "json") printEnvelope({ items: all, next_cursor: null });
  return 0;
}

/** `pawl runs watch`: shows a run that another process drives until it ends. Watching makes nothing go on. */
export async function watchRun(caller: RunCaller, id: string, options: CommonOptions, voice: Voice): Promise<number> {
  const format = formatOf(options);
  const { run_id: runId, completed_at: ended } = await caller.readHead(id);
  if (ended === null && (await isDriven(caller, runId))) return showRunToRest(caller, { runId, format }, { voice });
  const run = await caller.call(getRun, { id: runId, prompts: format !== "text" });
  if (format === "text") await showOutput({ verb: "runs show", view: "run" }, run);
  else printEnvelope(run);
  return runExitCode(run);
}

/** Tells where nobody does. */
export async function isDriven(caller: RunCaller, runId: string): Promise<boolean> {
  const isDriven = await caller.isDriven();
  if (!isDriven) tell(`No process drives the run. Resume it: pawl runs resume ${shortId(runId)}`);
  return isDriven;
}

export interface ResumeOptions extends CommonOptions {
  readonly all?: true;
}

const RESUME: CliVerb<{ readonly changes: readonly string[] }> = {
  verb: "runs resume",
  follows: "always",
  show: ({ changes }) => ({ told: changes }),
};

/** `pawl runs resume`: goes on with a run, or with all that can go on, and waits for the end. */
export async function resume(
  caller: RunCaller,
  id: string | undefined,
  options: ResumeOptions,
  voice: Voice,
): Promise<number> {
  if (options.all === true) return resumeAll(caller, options);
  if (id === undefined) throw new PawlError("USAGE", { message: "Name a run, or say `--all`." });
  return followAnswer(caller, { verb: RESUME, answered: await caller.call(resumeRun, { id }) }, { options, voice });
}

async function resumeAll(caller: RunCaller, options: ResumeOptions): Promise<number> {
  const { items } = await caller.call(resumeRuns, {});
  for (const { changes } of items) for (const change of changes) tell(sanitize(change));
  return withStopSignals(async (signals) => {
    const listen = () => undefined;
    await Promise.all(items.map(({ run_id: runId }) => caller.follow({ runId, listen }, signals.stop)));
    const runs = await Promise.all(
      items.map(({ run_id: id }) => caller.call(getRun, { id, outputs: false, prompts: false })),
    );
    await caller.leave(signals);
    const isText = formatOf(options) === "text";
    if (!isText) printEnvelope({ items: runs, next_cursor: null });
    else if (runs.length === 0) tell("No run can be resumed. List the runs: pawl runs ls");
    else for (const run of runs) print(`${run.run_id}  ${run.status}  ${sanitize(run.workflow_name)}`);
    return signals.stop.aborted ? INTERRUPTED : Math.max(0, ...runs.map(runExitCode));
  });
}

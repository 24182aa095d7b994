import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { Json } from "../../../core/json.ts";
import type { AppHost, OpenApplication } from "../../../operations/application/application.ts";
import { type Answer, answerApproval, findApproval } from "../../../operations/approvals/answer-approval.ts";
import { readTextFile } from "../../../operations/definitions/read-text-file.ts";
import { compareWithSource } from "../../../operations/repeat/compare-with-source.ts";
import { readPinnedGraph } from "../../../operations/repeat/read-pinned-graph.ts";
import { parseJson } from "../../../operations/requests/parse-json.ts";
import { cancelUnfinished, findUnfinished } from "../../../operations/runs/cancel-unfinished.ts";
import { describeRun } from "../../../operations/runs/describe-run.ts";
import { findRun } from "../../../operations/runs/find-run.ts";
import { followRun } from "../../../operations/runs/follow-run.ts";
import { listResumable } from "../../../operations/runs/list-resumable.ts";
import type { RunDescription } from "../../../operations/runs/run-schemas.ts";
import type { RunRecord } from "../../../ports/journal.ts";
import { type CommandParts, type CommonOptions, formatOf } from "../cli-context.ts";
import { type DriveEnd, driveRun } from "../drive-run.ts";
import { print, printEnvelope, tell } from "../print.ts";
import { runExitCode } from "../run-exit-code.ts";
import { listenForStop } from "../stop-signals.ts";

export interface ResumeOptions extends CommonOptions {
  readonly all?: true;
}

/** `pawl runs resume`: goes on with a run, or with all that can go on, and waits for the end. */
export async function resume(
  { app, voice }: CommandParts,
  id: string | undefined,
  options: ResumeOptions,
): Promise<number> {
  if (options.all === true) return resumeAll(app, options);
  if (id === undefined) throw new PawlError("USAGE", { message: "Name a run, or say `--all`." });
  const record = await findRun(app, id);
  if (record.completedAt !== undefined) {
    throw new PawlError("RUN_FINISHED", { message: `The run ${record.id} has ended: ${record.status}.` });
  }
  for (const change of await compareWithSource(app, record)) tell(change);
  const { exitCode } = await drive({ app, voice }, { record, options, begin: (host) => host.resumeRun(record.id) });
  return exitCode;
}

async function resumeAll(app: OpenApplication, options: ResumeOptions): Promise<number> {
  const records = await listResumable(app);
  const signals = listenForStop();
  try {
    for (const record of records) for (const change of await compareWithSource(app, record)) tell(change);
    const runs = await Promise.all(records.map((record) => followQuietly(app, record, signals.stop)));
    await app.leave(signals.stop, signals.force);
    const isText = formatOf(options) === "text";
    if (!isText) printEnvelope({ items: runs, next_cursor: null });
    else if (runs.length === 0) tell("No run can go on. What there is: pawl runs ls");
    else for (const run of runs) print(`${run.run_id}  ${run.status}  ${run.workflow_name}`);
    if (signals.stop.aborted) return 130;
    return Math.max(0, ...runs.map(runExitCode));
  } finally {
    signals.close();
  }
}

async function followQuietly(app: OpenApplication, record: RunRecord, stop: AbortSignal): Promise<RunDescription> {
  const runId = record.id;
  const begin = (host: AppHost) => host.resumeRun(runId);
  await followRun(app, { runId, begin, listen: () => undefined }, stop);
  return describeRun(await app.records(), await findRun(app, runId), { withPrompts: false, withOutputs: false });
}

export interface CancelOptions extends CommonOptions {
  readonly reason?: string;
}

/** `pawl runs cancel`: starts nothing but `finally` steps any more, and waits until what flies has landed. */
export async function cancel({ app, voice }: CommandParts, id: string, options: CancelOptions): Promise<number> {
  const record = await findRun(app, id);
  if (record.completedAt !== undefined) {
    throw new PawlError("RUN_FINISHED", { message: `The run ${record.id} has ended: ${record.status}.` });
  }
  let answered: object = {};
  const begin = async () => {
    const cancelled = await cancelUnfinished(app, record.id, { by: "cli", reason: options.reason });
    answered = { run_id: cancelled.id, status: cancelled.status };
    return cancelled;
  };
  const { status, exitCode } = await drive({ app, voice }, { record, options, begin, answer: () => answered });
  // A cancelled run is what was asked for.
  return status === "cancelled" ? 0 : exitCode;
}

export interface AnswerOptions extends CommonOptions {
  readonly edit?: string;
  readonly comment?: string;
}

/** `pawl approve`, `pawl reject`, `pawl skip`: answers, and where nobody else drives the run, goes on with it. */
export async function answer(
  { app, voice }: CommandParts,
  { address, verdict }: { readonly address: string; readonly verdict: "approve" | "reject" | "skip" },
  options: AnswerOptions,
): Promise<number> {
  const approval = await findApproval(app, address);
  const { record } = approval;
  const given: Answer = {
    answer: verdict,
    by: "cli",
    comment: options.comment,
    ...(options.edit === undefined ? {} : { edited: await readEdit(options.edit) }),
  };
  const answered = { run_id: record.id, path: approval.path, answer: verdict };
  const host = await app.host();
  if (host.role === "guest") {
    await answerApproval(app, approval, given);
    return reportAnswer(answered, options, host.ownerPid);
  }
  const begin = async () => {
    await answerApproval(app, approval, given);
    return host.resumeRun(record.id);
  };
  const { exitCode } = await drive({ app, voice }, { record, options, begin, answer: () => answered });
  return exitCode;
}

export interface SignalOptions extends CommonOptions {
  readonly payload?: string;
}

/** `pawl runs signal`: the event that a run waits for has happened. Goes on with the run where nobody else drives it. */
export async function signal(
  { app, voice }: CommandParts,
  { id, name }: { readonly id: string; readonly name: string },
  options: SignalOptions,
): Promise<number> {
  const payload = options.payload === undefined ? null : await readPayload(options.payload);
  const host = await app.host();
  const record = await findUnfinished(app, id);
  await host.sendSignal(record.id, name, payload);
  const answered = { run_id: record.id, name };
  if (host.role === "guest") return reportAnswer(answered, options, host.ownerPid);
  const begin = () => host.resumeRun(record.id);
  const { exitCode } = await drive({ app, voice }, { record, options, begin, answer: () => answered });
  return exitCode;
}

interface KnownRun {
  readonly record: RunRecord;
  readonly options: CommonOptions;
  begin(host: AppHost): Promise<RunRecord>;
  answer?(): object;
}

async function drive({ app, voice }: CommandParts, { record, options, ...asked }: KnownRun): Promise<DriveEnd> {
  const graph = await readPinnedGraph(app, record.graph);
  return driveRun(app, { runId: record.id, graph, format: formatOf(options), ...asked }, voice);
}

function reportAnswer(answered: object, options: CommonOptions, ownerPid: number): number {
  if (formatOf(options) === "text") tell(`Recorded. The run goes on in process ${ownerPid}.`);
  else printEnvelope(answered);
  return 0;
}

export async function readPayload(written: string): Promise<Json> {
  const text = written.startsWith("@") ? await readTextFile(written.slice(1)) : written;
  return parseJson(text, "The payload");
}

export async function readEdit(written: string): Promise<Json> {
  const text = written.startsWith("@") ? await readTextFile(written.slice(1)) : written;
  try {
    return JSON.parse(text) as Json;
  } catch (cause) {
    throw new PawlError("APPROVAL_EDIT_REFUSED", { message: "The edited data is not valid JSON.", cause });
  }
}

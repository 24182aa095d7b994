import { dataOf, type PawlClient } from "../../../client/pawl-client.ts";
import { PawlError } from "../../../core/errors/pawl-error.ts";
import type { EventRow } from "../../../ports/journal.ts";
import type { CommonOptions } from "../cli-context.ts";
import { formatOf } from "../cli-context.ts";
import type { AnswerOptions, CancelOptions, ResumeOptions, SignalOptions } from "../commands/runs-drive.ts";
import { readEdit, readPayload } from "../commands/runs-drive.ts";
import { type ShowOptions, showJournal, showRunDescription } from "../commands/runs-read.ts";
import { type ForkOptions, type RerunOptions, readChanges } from "../commands/runs-repeat.ts";
import { type LogsOptions, printLog } from "../commands/runs-watch.ts";
import { print, printEnvelope, tell } from "../print.ts";
import { sanitize } from "../render/sanitize.ts";
import { runExitCode } from "../run-exit-code.ts";
import { shortId } from "../short-id.ts";
import { listenForStop } from "../stop-signals.ts";
import { followRemote } from "./follow-remote.ts";
import { readPages } from "./read-pages.ts";
import { RemoteHistory } from "./remote-history.ts";
import { given, type RemoteParts } from "./remote-parts.ts";

const INTERRUPTED = 130;
const byId = (id: string) => ({ params: { path: { id } } });

export async function showRun({ client }: RemoteParts, id: string, options: ShowOptions): Promise<number> {
  const prompts = options.prompts === true || formatOf(options) !== "text";
  const run = await dataOf(client.api.GET("/runs/{id}", { params: { path: { id }, query: { prompts } } }));
  const artifacts = await dataOf(client.api.GET("/runs/{id}/artifacts", byId(run.run_id)));
  return showRunDescription(run, artifacts.items, options);
}

/** What agents said, one JSON object a line, and as it comes where it is followed. */
export async function showLogs(
  { client }: RemoteParts,
  { id, step }: { readonly id: string; readonly step: string | undefined },
  { follow }: LogsOptions,
): Promise<number> {
  const wanted = follow === true ? undefined : step;
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = given({ step: wanted, cursor });
    const page = await dataOf(client.api.GET("/runs/{id}/logs", { params: { path: { id }, query } }));
    for (const { path, attempt, events } of page.items)
      for (const event of events) printLog({ path, attempt }, event, step);
    cursor = page.next_cursor;
  }
  if (follow !== true) return 0;
  const signals = listenForStop();
  try {
    for await (const event of client.followRun(id, { progress: true, signal: signals.stop })) {
      if (event.event === "progress") printLog(event.data, event.data.event, step);
    }
    return 0;
  } catch (error) {
    if (signals.stop.aborted) return INTERRUPTED;
    throw error;
  } finally {
    signals.close();
  }
}

export async function watchRun(parts: RemoteParts, id: string, options: CommonOptions): Promise<number> {
  const run = await dataOf(parts.client.api.GET("/runs/{id}", byId(id)));
  if (run.completed_at === null) return followRemote(parts, run.run_id, options);
  await showRun(parts, run.run_id, options);
  return runExitCode(run);
}

export async function resumeRun(parts: RemoteParts, id: string | undefined, options: ResumeOptions): Promise<number> {
  if (options.all === true) return resumeAll(parts, options);
  if (id === undefined) throw new PawlError("USAGE", { message: "Name a run, or say `--all`." });
  const { run_id: runId, changes } = await dataOf(parts.client.api.POST("/runs/{id}/resume", byId(id)));
  for (const change of changes) tell(change);
  return followRemote(parts, runId, options);
}

/** A server goes on with its runs by itself: what is left are those that a person has laid down. */
async function resumeAll({ client }: RemoteParts, options: ResumeOptions): Promise<number> {
  const status = UNFINISHED.join(",");
  const { items } = await readPages(Number.POSITIVE_INFINITY, (page) =>
    dataOf(client.api.GET("/runs", { params: { query: { ...page, status } } })),
  );
  const signals = listenForStop();
  try {
    const runs = await Promise.all(items.map(({ run_id: runId }) => resumeToRest(client, runId, signals.stop)));
    if (formatOf(options) !== "text") printEnvelope({ items: runs, next_cursor: null });
    else if (runs.length === 0) tell("No run can go on. What there is: pawl runs ls");
    else for (const run of runs) print(`${run.run_id}  ${run.status}  ${run.workflow_name}`);
    return signals.stop.aborted ? INTERRUPTED : Math.max(0, ...runs.map(runExitCode));
  } finally {
    signals.close();
  }
}

const UNFINISHED = ["queued", "running", "waiting"] as const;

async function resumeToRest(client: PawlClient, runId: string, stop: AbortSignal) {
  const { changes } = await dataOf(client.api.POST("/runs/{id}/resume", byId(runId)));
  for (const change of changes) tell(change);
  const history = await RemoteHistory.open(client, runId);
  try {
    for await (const told of client.followRun(runId, { events: true, signal: stop })) {
      if (told.event === "event") await history.apply(told);
      if (told.event === "status" && history.isAtRest) break;
    }
  } catch (error) {
    if (!stop.aborted) throw error;
  }
  const params = { path: { id: runId }, query: { outputs: false, prompts: false } };
  return dataOf(client.api.GET("/runs/{id}", { params }));
}

/** The journal as it is; without `--json` a line each. */
export async function showEvents({ client }: RemoteParts, id: string, options: CommonOptions): Promise<number> {
  return showJournal(readEvents(client, id), options);
}

async function* readEvents(client: PawlClient, id: string): AsyncGenerator<EventRow> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const params = { path: { id }, query: { limit: EVENTS_PAGE, ...given({ cursor }) } };
    const page = await dataOf(client.api.GET("/runs/{id}/events", { params }));
    // A server of this version writes events as this program reads them.
    yield* page.items as unknown as readonly EventRow[];
    cursor = page.next_cursor;
  }
}

const EVENTS_PAGE = 1_000;

/** The server ends it: whoever wants to see that watches it. */
export async function cancelRun({ client }: RemoteParts, id: string, options: CancelOptions): Promise<number> {
  const body = given({ reason: options.reason });
  const cancelled = await dataOf(client.api.POST("/runs/{id}/cancel", { ...byId(id), body }));
  if (formatOf(options) !== "text") printEnvelope(cancelled);
  else
    tell(`The run ${cancelled.run_id} is being cancelled. See its end: pawl runs watch ${shortId(cancelled.run_id)}`);
  return 0;
}

export async function signalRun(
  { client }: RemoteParts,
  { id, name }: { readonly id: string; readonly name: string },
  options: SignalOptions,
): Promise<number> {
  const payload = options.payload === undefined ? null : await readPayload(options.payload);
  const told = await dataOf(client.api.POST("/runs/{id}/signals", { ...byId(id), body: { name, payload } }));
  if (formatOf(options) !== "text") printEnvelope(told);
  else tell(`Recorded. The run goes on at ${client.url}: pawl runs watch ${shortId(told.run_id)}`);
  return 0;
}

export async function rerun(parts: RemoteParts, id: string, options: RerunOptions): Promise<number> {
  const body = toRepetition(options);
  return follow(parts, id, await dataOf(parts.client.api.POST("/runs/{id}/rerun", { ...byId(id), body })), options);
}

export async function fork(parts: RemoteParts, id: string, options: ForkOptions): Promise<number> {
  // What is wrong with a change is said by the server, which checks them all.
  const body = { ...toRepetition(options), changes: (await readChanges(options)) as Record<string, never> };
  return follow(parts, id, await dataOf(parts.client.api.POST("/runs/{id}/fork", { ...byId(id), body })), options);
}

function toRepetition({ from, current }: RerunOptions) {
  return given({ from_step: from, definition: current === true ? ("current" as const) : undefined });
}

interface Repeated {
  readonly run_id: string;
  readonly from_path: string;
  readonly changes: readonly string[];
}

function follow(parts: RemoteParts, id: string, started: Repeated, options: CommonOptions): Promise<number> {
  for (const change of started.changes) tell(change);
  const from = started.from_path === "" ? "all of" : `from ${sanitize(started.from_path)} of`;
  tell(`The run ${shortId(started.run_id)} does ${from} ${sanitize(id)} again.`);
  return followRemote(parts, started.run_id, options);
}

export async function answer(
  { client }: RemoteParts,
  { address, verdict }: { readonly address: string; readonly verdict: "approve" | "reject" | "skip" },
  options: AnswerOptions,
): Promise<number> {
  const { edit, comment } = options;
  const body = given({ comment, edited_data: edit === undefined ? undefined : await readEdit(edit) });
  const route = `/approvals/{id}/${verdict}` as const;
  const answered = await dataOf(client.api.POST(route, { ...byId(address), body }));
  if (formatOf(options) !== "text") printEnvelope(answered);
  else tell(`Recorded. The run goes on at ${client.url}: pawl runs watch ${shortId(address.split(":")[0] ?? address)}`);
  return 0;
}

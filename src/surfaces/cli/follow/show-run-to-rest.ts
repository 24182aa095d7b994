import type { Graph } from "../../../core/graph/graph.ts";
import type { OpenApproval } from "../../../operations/approvals/describe-run-approvals.ts";
import { placeOf } from "../../../operations/approvals/place-of.ts";
import type { RunHead } from "../../../operations/runs/run-schemas.ts";
import { shellWord } from "../../../operations/shell-word.ts";
import type { RunCaller } from "../caller.ts";
import { type Format, isInteractive } from "../cli-context.ts";
import { printEnvelope, tell } from "../print.ts";
import type { LiveNotice } from "../render/live/live-run.ts";
import { shortId } from "../render/text/formats.ts";
import { sanitize } from "../render/text/sanitize.ts";
import { listenForStop, type StopSignals } from "../stop-signals.ts";
import type { Voice } from "../voice.ts";
import { runExitCode } from "./run-exit-code.ts";
import { openRunPrinter, type RunPrinter } from "./run-printer.ts";

export interface ShownRun {
  readonly runId: string;
  readonly format: Format;
  /** What starts it once somebody listens. Absent: it has been started. */
  readonly start?: { readonly graph: Graph; begin(): Promise<unknown> };
  /** See `FollowedRun`. */
  readonly resumes?: boolean;
  /** For programs: what the operation has answered, where the verb only asks for something. Absent: the run at its rest. */
  readonly answered?: unknown;
}

/** Exit code of a command that Ctrl-C has ended. */
export const INTERRUPTED = 130;

/**
 * Shows a run until it ends, or until only a person or an event from outside makes it go on; a person at the terminal is
 * asked. Ctrl-C lays the run down where this process drives it. Returns the exit code.
 */
export async function showRunToRest(
  caller: RunCaller,
  run: ShownRun,
  { voice, wants }: { readonly voice: Voice; readonly wants?: RunHead["status"] },
): Promise<number> {
  const signals = listenForStop();
  const printer = await openRunPrinter(run.format, voice);
  const isText = run.format === "text";
  try {
    if (!(await followToRest(caller, run, { printer, signals }))) {
      printer.clear();
      const became = await caller.park(run.runId, signals);
      if (became === "parked" && !isText) printEnvelope(await caller.readRun(run.runId));
      return INTERRUPTED;
    }
    // For people the steps have been shown already: loading the outputs of all would only cost.
    const end = isText ? await caller.readHead(run.runId) : await caller.readRun(run.runId);
    if (isText || run.answered === undefined) printer.end(end);
    else printEnvelope(run.answered);
    if (isText) await tellWhatRemains(caller, end);
    await caller.leave(signals);
    return end.status === wants ? 0 : runExitCode(end);
  } catch (error) {
    printer.clear();
    await caller.abandon();
    throw error;
  } finally {
    signals.close();
  }
}

interface Parts {
  readonly printer: RunPrinter;
  readonly signals: StopSignals;
}

/** False: Ctrl-C came first. */
async function followToRest(caller: RunCaller, run: ShownRun, { printer, signals }: Parts): Promise<boolean> {
  const { runId, format, resumes } = run;
  let { start } = run;
  const graph = start?.graph ?? (await caller.readGraph(runId));
  for (;;) {
    const notices = withGraphs(
      (hash) => caller.readGraph(runId, hash),
      (notice) => printer.notice(notice),
    );
    const begin = async () => {
      await start?.begin();
      printer.begin(graph, runId);
    };
    const listen = (notice: LiveNotice) => notices.notice(notice);
    if ((await caller.follow({ runId, begin, resumes, listen }, signals.stop)) === "stopped") return false;
    await notices.idle();
    if (format !== "text" || !isInteractive()) return true;
    if ((await caller.readHead(runId)).status !== "awaiting_approval") return true;
    const { askApprovals } = await import("./ask-approvals.ts");
    printer.clear();
    const answered = await askApprovals(caller, runId, signals.stop);
    if (answered !== "answered") return answered === "later";
    start = undefined;
  }
}

const MAX_SHOWN = 5;

/** What a person has to know after a command has shown a run: open questions, and what is still to be delivered. */
async function tellWhatRemains(caller: RunCaller, run: RunHead): Promise<void> {
  const { run_id: runId, status } = run;
  if (status === "awaiting_approval") {
    const { listApprovals } = await import("../../../operations/approvals/approvals.ts");
    tellApprovals(runId, (await caller.call(listApprovals, { run: runId })).items);
  }
  // The error of a run that is held says what to type.
  if (status === "waiting" && run.error === null) tellEvents(runId, run.awaited_events ?? []);
  if (run.completed_at !== null) tellWebhooks(await caller.countUndelivered(runId));
}

function tellApprovals(runId: string, approvals: readonly OpenApproval[]): void {
  for (const approval of approvals.slice(0, MAX_SHOWN)) {
    const address = `${shortId(runId)}:${placeOf(approval)}`;
    tell(`The run waits for an answer: ${sanitize(approval.message)}`);
    tell(`  pawl approve ${address}`);
    tell(`  pawl reject ${address}`);
  }
  if (approvals.length > MAX_SHOWN) tell(`  ... and ${approvals.length - MAX_SHOWN} more: pawl approvals ls`);
}

function tellEvents(runId: string, events: readonly string[]): void {
  if (events.length === 0) tell("The run waits for an event.");
  for (const event of events.slice(0, MAX_SHOWN)) {
    tell(`The run waits for the event ${sanitize(event)}`);
    tell(`  pawl runs signal ${shortId(runId)} ${shellWord(sanitize(event))}`);
  }
  if (events.length > MAX_SHOWN) tell(`  ... and ${events.length - MAX_SHOWN} more events.`);
}

function tellWebhooks(count: number): void {
  if (count === 1) tell("1 webhook is stored and will be delivered by `pawl serve`.");
  if (count > 1) tell(`${count} webhooks are stored and will be delivered by \`pawl serve\`.`);
}

interface PassedOn {
  notice(notice: LiveNotice): void;
  /** Resolves when everything has been passed on. */
  idle(): Promise<void>;
}

/** Passes notices on, in order, and gives the first call of each other workflow the graph that it names. */
function withGraphs(read: (hash: string) => Promise<Graph>, listen: (notice: LiveNotice) => void): PassedOn {
  const known = new Set<string>();
  let passing = Promise.resolve();
  const complete = async (notice: LiveNotice): Promise<LiveNotice> => {
    if (notice.type !== "event" || notice.event.type !== "callResolved" || known.has(notice.event.graph)) return notice;
    known.add(notice.event.graph);
    // Without it the view shows less; whoever drives the run says what is wrong.
    const graph = await read(notice.event.graph).catch(() => undefined);
    return graph === undefined ? notice : { ...notice, graph };
  };
  return {
    notice: (notice) => {
      passing = passing.then(async () => listen(await complete(notice)));
    },
    idle: () => passing,
  };
}
